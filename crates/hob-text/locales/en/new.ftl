# What `hob new` asks.
new-ask-kind = What is it?
new-ask-model = Which model?
new-ask-task = What does the model do?
new-ask-stage = A try-out, or for real users?
new-ask-rate = How much arrives in the busy hour?
new-ask-night-rate = And in the quiet hours? (empty: the same)
new-ask-night-hours = From which hour to which is it quiet?
new-ask-prompt = How long is a prompt or text, on average?
new-ask-output = How long is an answer, on average?
new-ask-first-token = How soon must the first token come, 95 times in 100?
new-ask-e2e = How soon must a request be complete, 95 times in 100? (empty: no matter)
new-ask-method = How is it trained?
new-ask-samples = How many samples has the training set?
new-ask-epochs = How many passes over it?
new-ask-sequence = How long is a sequence?
new-ask-resolution = How large is a picture?
new-ask-clip = How long is a recording?
new-ask-amount = How much is there to work through?
new-ask-deadline = Within what time must it be done? (empty: no matter)
new-ask-minimise = Among what meets the goals, what should be small?
new-ask-video-total = How much video is there?
new-ask-video-resolution = How large is the incoming video?
new-ask-codec = How is the incoming video coded?
new-ask-fps = How many frames per second has it?
new-ask-rendition-codec = How is it to be coded?
new-ask-rendition-resolution = In which size?
new-ask-renderer = Which renderer?
new-ask-frames = How many frames?
new-ask-frame-resolution = How large is a frame?
new-ask-scene-memory = How much GPU memory does the scene need? (empty: not known)
new-ask-measured-frame = How long took a frame that you timed? (empty: none timed)
new-ask-measured-gpu = On which GPU?
new-ask-budget = What may it cost? (CNY 20000/month, CNY 50000; empty: no limit)
new-ask-clouds = Which clouds? (names with commas; empty: all)
new-keys-choose = arrows move, letters filter, enter takes
new-keys-model = a name, a hub id, a folder or file, or a count such as 7B; tab takes a suggestion
new-left-out = left out

# What the words mean that it offers.
new-word-train = teach a model: from scratch, all weights, or adapters
new-word-serve = answer requests while users wait
new-word-batch = work through an amount, nobody waits for a single one
new-word-transcode = video from one coding into others
new-word-render = frames of a scene
new-word-dev = the cheapest that works
new-word-production = headroom, and a second replica
new-word-pretrain = from scratch, all weights
new-word-full = all weights of a given model
new-word-lora = small adapters beside frozen weights
new-word-qlora = adapters beside frozen 4-bit weights: least memory
new-word-cost = money
new-word-time = the time until it is done, or latency
new-word-balance = both alike

# What it says.
new-written = wrote { $file }; next: hob plan { $file }
new-next = next: save this as hob.toml, then hob plan hob.toml
new-error-exists = `{ $file }` is there already
new-hint-force = `--force` writes over it, `--out FILE` writes another
new-error-unsaid = without a terminal, `--{ $flag }` must be given
new-hint-flags = hob new --kind serve --model Qwen/Qwen2.5-7B --rate "2 req/s"
new-error-set = `{ $got }` is not KEY=VALUE
new-hint-set = such as --set traffic.prompt="800 tokens"; the keys are those of the workload file
new-error-answers = nothing was written: { $count } answers do not fit
new-error-stopped = stopped; nothing was written
new-error-terminal = the terminal cannot be asked: { $why }
new-error-unwritable = `{ $file }` cannot be written: { $why }
new-hint-unwritable = choose another place with `--out FILE`, or `--out -` for standard output

# Comments in the file that it writes.
new-comment-head = Written by `hob new`; change it freely. Plan it: hob plan { $file }
new-comment-assumed = What is left out is assumed, and the plan lists each assumption.
new-comment-schema = For completion in an editor: hob schema > hob.schema.json, and as the first line here "#:schema hob.schema.json".
new-comment-stage = dev: the cheapest that works. production: headroom and a second replica.
new-comment-model = A name, a hub id, a folder or file, or a parameter count such as "7B".
new-comment-budget = For a period ("CNY 20000/month") or in all ("CNY 50000").
new-comment-traffic = The size of one request; for a service also how many arrive in the busy hour.
new-comment-traffic-window = A part of the day with a rate of its own.
new-comment-data = The training set and the size of one sample.
new-comment-train = pretrain, full, lora or qlora; for so many epochs, tokens or steps.
new-comment-batch = How much is worked through.
new-comment-video = The incoming video: total for a batch, or arrives = "40 hours/hour" for a stream.
new-comment-rendition = What is made of it; one table for each.
new-comment-render = measured, a frame that you timed and its GPU, narrows the estimate.
new-comment-objective = What is wanted; minimise is cost, time, balance, or {"{"} cost = 0.7 {"}"}.
