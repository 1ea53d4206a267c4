# What is wrong with a workload file: what happened.
workload-too-large = the file has { $bytes } bytes, and a workload file has at most { $max }
workload-not-utf8 = the file is not UTF-8 text: byte { $byte } belongs to no character
workload-empty = the file describes no work
workload-syntax = this is not TOML: { $why }
workload-unknown-key = no key is called `{ $key }` here
workload-other-kind = `{ $field }` is for { $kinds }, and this file is of the kind { $kind }
workload-misplaced = `{ $key }` does not belong here
workload-wrong-form = `{ $field }` has the wrong form
workload-bad-quantity = `{ $got }` does not fit `{ $field }`
workload-unknown-word = `{ $got }` is not known as `{ $field }`
workload-out-of-range = `{ $field }` cannot be { $got }
workload-missing = `{ $field }` is missing
workload-no-traffic = a service without traffic cannot be planned
workload-no-amount = there is a deadline or a stream, but not how much work there is
workload-exclusive = `{ $field }` and `{ $other }` exclude each other
workload-contradiction = `{ $field }` contradicts `{ $other }`
workload-windows-overlap = two windows claim the hour from { $hour }
workload-windows-gap = the hour from { $hour } has no rate
workload-not-used = `{ $field }` has no meaning for the task { $task }
workload-too-many = `{ $field }` has { $count } entries, and { $max } are allowed
workload-twice = `{ $got }` is the name of two machines
workload-past-model = { $got } are more than the { $limit } tokens that { $model } takes
workload-budget-apart = no offer is left that the budget in { $budget } can be compared with: the others are priced in { $currencies }
workload-control-character = `{ $field }` contains a control character
workload-more-problems = ... and { $count } more

# What was expected.
workload-word-expected = expected
workload-expected-table = a table with the keys { $keys }
workload-expected-text = a text in quotes, such as "essay-grader"
workload-expected-whole = a whole number from 1 to { $max }
workload-expected-number = a number above zero, such as 3 or 0.5
workload-expected-flag = true or false, without quotes
workload-expected-word = one of: { $words }
workload-expected-list = a list, such as ["a", "b"]
workload-expected-tables = a list of tables
workload-expected-exchange = a rate by pair of currencies, such as USD_CNY = 7.1
workload-expected-rate = a rate with its unit, such as "{ $example }"
workload-expected-time = a span of time with its unit, such as "{ $example }"
workload-expected-size = a size with its unit, such as "{ $example }"
workload-expected-transfer = a transfer rate with its unit, such as "{ $example }"
workload-expected-share = a share in percent, such as "{ $example }"
workload-expected-share-at-most = a share of at most 100%
workload-expected-tokens = a count of tokens, such as "{ $example }"
workload-expected-money = an amount with its currency first, such as "{ $example }"
workload-expected-money-per = an amount for a period, such as "{ $example }"
workload-expected-budget = an amount for a period or in all, such as "{ $example }" or "CNY 50000"
workload-expected-count = a count, such as "{ $example }"
workload-expected-fps = frames per second, such as "{ $example }"
workload-expected-hours-per-hour = video that arrives in a span of time, such as "{ $example }"
workload-expected-resolution = width x height, such as "{ $example }"
workload-expected-hours = from hour to hour, such as "{ $example }"
workload-expected-model = a model, such as model = "Qwen/Qwen2.5-7B" or model = "7B"
workload-expected-traffic = a rate, such as rate = "12 req/s", or clients, such as concurrency = 50, below [traffic]
workload-expected-window = both keys, such as hours = "22-08" and rate = "1 req/s"
workload-expected-train-amount = samples = "50000 images" below [data], or tokens or steps below [train]
workload-expected-weight = a weight from 0 to 1, such as minimise.cost = 0.7
workload-expected-video-size = width and height of a video, each at most { $most } pixels
workload-expected-cloud = a cloud: { $names }
workload-expected-region = a region's code or name, such as "ap-guangzhou"
workload-expected-gpu = a GPU of the catalog, such as "A10"
workload-expected-instance = an instance type of the catalog, such as "GN7.2XLARGE32" or "GN7.*"
workload-expected-measured-renderer = nobody publishes how fast { $renderer } is, so measured = { "{" } frame = "42 s", gpu = "T4" { "}" } is needed
workload-expected-measured-codec = nobody publishes how fast { $codec } is decoded, so measured_decode and measured_gpu are needed
workload-expected-machine = a GPU, such as gpu = "A10"
workload-expected-video = a table [video] with codec, resolution, fps, and arrives or total
workload-expected-video-amount = total = "1200 hours" or arrives = "40 hours/hour" below [video]
workload-expected-rendition = at least one [[rendition]] with codec and resolution
workload-expected-render = a table [render] with renderer, frames and resolution
workload-expected-measured-frame = time and GPU, such as frame = "42 s" and gpu = "T4"
workload-expected-measured-gpu = the GPU on which you measured, such as measured_gpu = "T4"
workload-expected-recommender = the rows of each embedding table, such as tables = ["20M users", "4M products"]

# What to do, and why.
workload-hint-did-you-mean = did you mean `{ $suggestion }`?
workload-hint-known-keys = known here: { $keys }
workload-hint-move-to-top = `{ $key }` belongs at the top of the file, before the first [table]
workload-hint-move-to-table = `{ $key }` belongs below [{ $table }]
workload-hint-kind-takes = { $kind } takes `{ $instead }`
workload-hint-write = write { $text }
workload-hint-used-by = it is for: { $tasks }
workload-hint-catalog = `hob catalog list` has the GPUs, `hob catalog list instances` the instance types
workload-hint-own-machines = `own` stands for your own machines, and none is there: write [[where.machines]] with gpu = "A10"
workload-hint-qlora = weights of 4 bits below adapters are method = "qlora"; precision is that of the arithmetic
workload-hint-shorten = make it shorter, or take a model with a longer context; a length that RoPE scaling opens up counts when the model's config.json states it (rope_scaling)
workload-hint-save-utf8 = save the file as UTF-8
workload-hint-new = `hob new` writes a workload file
workload-why-no-number = it does not begin with a number
workload-why-negative = it is negative
workload-why-not-positive = it must be above zero
workload-why-no-unit = the unit is missing
workload-why-too-large = it is too large
workload-why-unit = `{ $unit }` is not a unit of it
workload-why-no-per = the span of time is missing, such as `/s` or `/hour`
workload-why-no-currency = the currency comes first, as its three capital letters: CNY, USD
workload-why-period = the period is one of /hour, /day, /month, /year, where there is one
workload-why-resolution = each side has 16 to 65536 pixels; also read: 720p, 1080p, 4k
workload-why-hours = hours of the 24-hour clock, the first not equal to the last
workload-why-both-lists = the same GPU is allowed and barred
workload-why-replicas = { $replicas } replicas need at least as many GPUs, and { $gpus } are allowed
workload-why-rank = a rank belongs to lora and qlora
workload-why-context = prompt and output together are longer: { $prompt } and { $output }
workload-why-endless = the work has no end, so a sum in all bounds nothing
workload-why-first-after-whole = the first token cannot be allowed to come after the whole answer
workload-why-percentiles = the bound for more requests is the tighter one, so the other says nothing; are they swapped?
workload-why-exchange = the two rates are not the inverse of each other
workload-why-lifetime = a lifetime goes with a purchase price
workload-why-recommender = sizes of a recommender go with the task recommend
workload-why-bottom = the last layer is multiplied with the embeddings, so it has their width, { $width }
workload-why-too-small = it is too small
workload-hint-half-width = TOML takes half-width characters: write { $text }

# Why a field that was left out was taken to be what it is.
assumed-name-from-file = the file's name
assumed-stage = a file that does not say so is a try-out
assumed-two-replicas = one machine may fail while users wait
assumed-multi-node = nothing forbids it
assumed-method = all weights, unless a method says otherwise
assumed-lora-by-rank = a rank means adapters
assumed-rank = usual rank of adapters
assumed-optimizer = what such models are usually trained with
assumed-epochs = usual for this method and task
assumed-sequence = usual length for fine-tuning text models
assumed-recommender = as the DLRM of MLPerf Training
assumed-resolution = the size that such models are made for
assumed-clip = the window of Whisper
assumed-frames = five seconds of video at 16 frames a second
assumed-prompt = a short chat request
assumed-output = a short chat answer
assumed-prefix-hit = no prompt shares its beginning with another
assumed-steps = what the model's card or usual schedulers run
assumed-guidance = what the model's card runs
assumed-rate-of-windows = the busiest window
assumed-ttft = a chat service (MLPerf Inference, server scenario)
assumed-tpot = a chat service (MLPerf Inference, server scenario)
assumed-minimise = the cheapest among what meets the goals
assumed-confidence-dev = a try-out may miss its goal
assumed-confidence-production = real users: a goal that is probably missed is not met
assumed-one = one, unless a number says otherwise
assumed-lifetime = usual write-off of a server
assumed-codec = the most common codec
assumed-full-hd = the most common size
assumed-fps = the most common frame rate
assumed-as-input = as the incoming video
assumed-preset = the default of NVENC
assumed-renderer = the most common free GPU renderer
