# What `hob plan` says.
error-no-offer = there is no offer { $number }; the plan ranks { $count }
hint-no-offer = the number stands in the first column of the table

column-instance = instance
column-region = region
column-gpu = GPUs
column-layout = layout
column-memory = mem
column-speed = rate
column-time = time
column-billing = billing
column-cost-month = { $currency }/month
column-cost-job = { $currency }/job
column-unit-cost = per { $unit }
column-stage = stage
column-price-hour = per hour
column-price-month = per month
column-from = cheapest from
column-mode = billing

plan-head = { $name } ({ $kind }, { $stage })
plan-understood-model = Model { $name }: { $parameters } parameters.
plan-assumed-head = Assumed, since the file does not say:
plan-assumed = { $field } = { $value } ({ $why })
plan-offers = { $feasible } of { $considered } offers can do it. * marks those that none beats in both cost and time.
plan-more-offers = and { $count } more offers in { $currency }; `--json` lists all
plan-other-currency = Offers in { $currency } rank separately: no exchange rate is given (`where.exchange`).
plan-winner = First choice: { $machines } x { $instance } ({ $cloud }), { $layout }
plan-memory-head = Memory of the fullest GPU
plan-memory-total = total
plan-memory-usable = of { $usable }
plan-latency = p95 latency: TTFT { $ttft }, TPOT { $tpot }, request { $e2e }
plan-latency-request = p95 latency of a request: { $e2e }
plan-capacity = It keeps the goals up to { $capacity }.
plan-job = Time: { $duration }
plan-step = One step: { $step }
plan-mfu = MFU: { $mfu }
plan-throughput = Throughput: { $rate }
plan-goal = Goal { $goal }: { $probability } sure
plan-bills-head-month = Cost of a month, machines stopped when the load does not need them
plan-bills-head-job = Cost of the job
plan-band = 80 % band of the first: { $low } .. { $high }. Price of { $date }, { $source }
plan-delay = Waiting costs the team { $cost } more.
plan-exchange = Converted at { $rate } { $to } for one { $from }, the rate of your file.
plan-variants-head = Dev and production
plan-variant-none = nothing feasible
plan-unpriced = Feasible, but nobody states a price ({ $count } offers):
plan-unpriced-more = and { $count } more
plan-rejected = Rejected: { $count } instance types
plan-rejected-memory = { $count } lack memory; nearest: { $instance }, { $why }
plan-rejected-slow = { $count } are too slow; nearest: { $instance }, { $why }
plan-rejected-many = { $count } would need too many; nearest: { $instance }, { $why }
plan-rejected-budget = { $count } are over the budget; nearest: { $instance }, { $why }
plan-rejected-unsupported = { $count } cannot run it; for example { $instance }: { $why }
plan-warnings-head = Watch out
plan-nothing-fits = Nothing that is allowed can do this work.
plan-changes-head = Nearest changes, each tried alone
plan-change-works = works: { $machines } x { $instance }, { $cost }
plan-change-works-unpriced = works: { $machines } x { $instance }, price unknown
plan-change-lacks = not enough: still needs { $needed } of { $usable }
plan-change-fails = not enough
plan-path-head = The path from here
plan-gate = gate: { $gate }
plan-next = Next: hob plan { $file } --explain 1
plan-explain-head = { $cloud } { $instance } ({ $gpu }), { $layout }
plan-explain-memory = Memory of the fullest GPU, { $total } of { $usable }
plan-explain-time = Time
plan-explain-price = { $mode }: { $price } ({ $date }, { $source })
plan-explain-cost = { $machines } machines: { $hour } an hour, { $month } a month without a stop; this work { $cost } ({ $low } .. { $high })

stage-dev = dev
stage-production = production

charge-on-demand = on-demand
charge-monthly = monthly
charge-spot = spot
charge-reserved = reserved { $months } months
charge-owned = owned

memory-weights = weights
memory-gradients = gradients
memory-optimizer-state = optimizer state
memory-adapters = adapters
memory-activations = activations
memory-attention-scores = attention scores
memory-logits = logits
memory-gathered-shards = gathered shards
memory-kv-cache = KV cache
memory-cuda-context = CUDA context
memory-workspaces = workspaces
memory-communication = communication
memory-allocator-slack = allocator slack
memory-companions = companions

unit-million-output-tokens = million output tokens
unit-million-tokens = million tokens
unit-thousand-requests = thousand requests
unit-thousand-images = thousand images
unit-thousand-sequences = thousand sequences
unit-audio-hour = hour of audio
unit-video-clip = clip
unit-video-hour = hour of video
unit-thousand-frames = thousand frames
unit-epoch = epoch

goal-latency = { $name } { $percentile } at most { $limit }
goal-deadline = done within { $limit }

reject-memory = needs { $needed } on the fullest GPU, which has { $usable }
reject-slow = misses a goal even with { $machines } machine(s)
reject-slow-by = reaches { $reached } with { $machines } machine(s), { $probability } sure
reject-too-many = would need { $gpus } GPUs in { $machines } machine(s), more than allowed
reject-budget = costs { $cost }, more than the budget of { $budget } for that time
reject-unsupported = { $why }

price-how-tencent-inquiry = ask the cloud's price inquiry (InquiryPriceRunInstances)
price-how-import-price-list = lay a price list of that cloud over the catalog
price-how-state-own-cost = state the machine's cost in the workload file

quality-fp8 = Quality: fp8 weights and activations; published evaluations find small losses. Check on your own data.
quality-int8 = Quality: int8 weights and activations lose some accuracy on outliers. Check on your own data.
quality-int4 = Quality: 4-bit weights lose some accuracy, more on small models. Check on your own data.
quality-fp4 = Quality: 4-bit floats lose some accuracy. Check on your own data.
quality-kv-fp8 = Quality: an fp8 KV cache loses a little accuracy on long contexts. Check on your own data.

note-waits-for-network = The GPUs wait for the network { $share } of each step: faster links would do more than more GPUs.

bill-spot-service = can be taken away at short notice; not for real users without a fallback
bill-spot-job = can be taken away at short notice: save checkpoints

warning-dear-restriction = The GPUs or instances that you allow cost { $ours }; { $instance } ({ $gpu }) meets the same goals for { $theirs }.
warning-memory-unused = Only { $share } of the { $usable } on each GPU is used: a smaller card or a fraction would hold this work.
warning-memory-tight = Memory is tight: it runs out with { $risk } probability. Try it before you commit.
warning-cheap-but-slow = { $instance } would save { $saved } on the bill, but take { $longer } longer, which costs the team { $delay }.
warning-stop-machines = The cost counts { $share } of the machine hours: stop the machines that the quiet hours do not need, or the month costs { $month }.
warning-no-price = No offer that can do it has a known price.
warning-wide = The time is known to a factor of { $factor } only: measure before you commit.

change-precision = { $value } weights
change-context = a longest context of { $value }
change-method = train adapters ({ $value }) and not all weights
change-optimizer = an 8-bit optimizer ({ $value })
change-sequence = sequences of { $value }
change-slo = latency goals twice as long
change-deadline = a deadline of { $value }
change-budget = no budget
change-limit = no limit on GPUs and machines
change-multi-node = several machines for one replica or job
change-gpus = any GPU and instance type
change-clouds = any cloud, region and billing mode

path-start-engine = Start one replica
path-memory-gate = it starts, and uses at most { $bytes } on each GPU
path-starts-gate = it starts
path-load-test = Load-test one replica at its share of the peak
path-load-test-gate = p95 at most: TTFT { $ttft }, TPOT { $tpot }, request { $e2e }
path-short-training = Train { $model } for { $steps } steps with your own script
path-step-time = Compare the step time
path-step-time-gate = between { $low } and { $high } after warm-up
path-restart = Stop it once and go on from a checkpoint
path-restart-spot = Stop it once and go on from a checkpoint; a spot machine will be taken away one day
path-restart-gate = the loss goes on where it was
path-cost = Read the bill
path-cost-day-gate = at most { $cost } a day
path-cost-gate = at most { $cost }
path-ramp = Give it 10 %, then 50 %, then all of the traffic
path-ramp-gate = each step keeps the goals for half an hour in the busy time
path-request-gate = p95 of a request at most { $e2e }
memory-scene = scene and frame buffers
goal-keeps-up = keeps up with what arrives
plan-stream = Makes { $hours } hours of video in an hour; what arrives in an hour takes { $time }
note-stage-unknown = Nobody knows what the machine's { $stage } can carry; it may bound as well.
note-samples = { $samples } samples a pixel are assumed.
measure-transcode = Measure for 30 seconds on one such machine, and write the rate into the file ([transcode])
measure-render = Render one frame on one such machine, and write its time into the file ([render] measured)
path-measure-gate = the plan, made again with it, still stands
