# What the command line says of its own accord.
word-error = error
word-hint = hint

error-unreadable = cannot read { $path }: { $why }
error-malformed = { $path } is not a valid { $format } file: { $why }
error-bad-field = { $path }: `{ $key }` { $why }
error-too-large = { $path }: { $what } is { $claimed }, more than the limit of { $limit }
error-model-not-found = no model file or preset is called `{ $name }`
hint-check-path = check the path and that the file may be read
hint-malformed = the file may be cut off or of another kind; fetch it again
hint-bad-field = correct the key, or give the parameter count alone, such as `7B`
hint-did-you-mean = did you mean { $names }?
hint-model-forms = give a folder, a config.json, a .safetensors, .gguf or .onnx file, a hub id, or a count such as `7B`

column-part = part
column-parameters = parameters
column-dtype = type
column-weights = weights

inspect-head = { $name }: { $family }, { $layers } layers
inspect-certainty-exact = Every operator is understood; the counts are exact.
inspect-certainty-inferred = Parts were inferred from shapes or from a related family; estimates widen.
inspect-certainty-rough = Little more than the parameter count is known; estimates are wide.
inspect-total = total
inspect-active = active for one token
inspect-flops-token = Forward: { $flops } for one token with an empty context.
inspect-flops-sample = Forward: { $flops } for one sample of { $size }.
inspect-kv = KV cache: { $bytes } for one more token at 16 bits.
inspect-state = Constant state: { $bytes } for one sequence at 16 bits.
inspect-unknown-count = Not understood: { $count }
inspect-unknown-more =   and { $count } more; `--json` lists all

error-plain = { $why }
error-kind = work of the kind `{ $kind }` cannot be planned yet
error-workload = { $path } has { $count } problem(s); nothing was planned
error-no-offer = there is no offer { $number }; the plan ranks { $count }
hint-plain = { $action }
hint-kind = `hob plan` plans LLM services and training jobs
hint-workload-file = give a workload file, such as examples/essay-grader.toml

column-instance = instance
column-region = region
column-machines = machines
column-layout = layout
column-memory = memory %
column-speed = rate or time
column-billing = billing
column-cost = cost

plan-understood-model = Model { $name }: { $parameters } parameters.
plan-assumed = Assumed { $field } = { $value }: { $why }
plan-more-offers = and { $count } more offers in { $currency }; `--json` lists all
plan-winner = First choice: { $instance }. Memory of the fullest GPU:
plan-memory-total =   total { $total } of { $usable }
plan-latency = p95 latency: TTFT { $ttft }, TPOT { $tpot }, request { $e2e }
plan-job = Time: { $duration }; one step { $step }; MFU { $mfu }
plan-goal = Goal: { $goal }: met with { $probability } probability
plan-bill-month =   { $mode }: { $cost } for a month ({ $price }, price of { $date })
plan-bill-job =   { $mode }: { $cost } for the job ({ $price }, price of { $date })
plan-break-even = ; cheaper than pay-as-you-go above { $share } use
plan-unpriced = Feasible, but nobody states a price ({ $count } offers):
plan-rejected = Rejected: { $count } instance types
plan-rejected-more =   and { $count } more; `--json` lists all
plan-nothing-fits = Nothing that is allowed can do this work; the reasons are above.
plan-next = Next: hob plan { $file } --explain 1

goal-latency = { $name } { $percentile } at most { $limit }
goal-deadline = done within { $limit }

reject-memory = needs { $needed } on the fullest GPU, which has { $usable }
reject-slow = too slow for a goal, even with { $machines } machine(s)
reject-too-many = would need { $gpus } GPUs, more than allowed
reject-budget = costs { $cost }, more than the budget
reject-unsupported = { $why }

price-how-tencent-inquiry = ask the cloud's price inquiry (InquiryPriceRunInstances)
price-how-import-price-list = lay a price list of that cloud over the catalog
price-how-state-own-cost = state the machine's cost in the workload file

quality-fp8 = Quality: fp8 weights and activations; published evaluations find small losses. Check on your own data.
quality-int8 = Quality: int8 weights and activations lose some accuracy on outliers. Check on your own data.
quality-int4 = Quality: 4-bit weights lose some accuracy, more on small models. Check on your own data.
quality-fp4 = Quality: 4-bit floats lose some accuracy. Check on your own data.
