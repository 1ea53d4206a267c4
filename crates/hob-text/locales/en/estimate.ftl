# Why no estimate can be given.
estimate-unknown-hardware = the catalog does not know the { $what } of { $gpu }
estimate-unsupported-format = { $gpu } has no { $format } arithmetic
estimate-unsupported-kv = { $gpu } cannot read an { $format } KV cache
estimate-unsupported-training = no framework trains in { $format }
estimate-bad-layout = { $why }
estimate-missing-coefficient = no table has a value for `{ $name }`
estimate-not-a-language-model = { $model } cannot be served token by token: it is not a language model
estimate-unmeasured-engine = nobody has measured what this engine adds to { $model }
estimate-no-item-size = the items of { $model } have no size: state a resolution or a sequence length
estimate-no-operator = no operator of { $model } is known, so that one pass cannot be estimated
estimate-not-tokens = { $model } does not answer token by token: set its limits on the whole request
estimate-unknown-word = { $what } `{ $name }` is not known; known: { $known }
estimate-misspelt-word = { $what } `{ $name }` is not known; known: { $known }; did you mean `{ $near }`?
estimate-out-of-range = { $field } = { $value } is not from { $low } to { $high }
estimate-no-engine = { $gpu } has no engine for { $what }
estimate-no-rate = no public rate is known for { $what }; measure it with `{ $measurement }`
estimate-no-rate-by-hand = no public rate is known for { $what }; time one frame in its window

estimate-fact-memory-bandwidth = memory bandwidth
estimate-fact-half-rate = 16-bit rate
estimate-fact-single-rate = fp32 rate
estimate-fact-vcpus = number of vCPUs
estimate-fact-encode-engines = video encode engines
estimate-fact-decode-engines = video decode engines

estimate-task-encode-video = encoding video
estimate-task-decode-video = decoding video
estimate-task-encode = encoding { $codec }
estimate-task-encode-on-card = encoding { $codec } on { $gpu } with preset { $preset }
estimate-task-encode-on-core = encoding { $codec } on a CPU core
estimate-task-decode-on-core = decoding { $codec } on a CPU core
estimate-task-render = a frame of { $renderer } on { $gpu }
estimate-task-render-against = rendering with { $renderer } on { $gpu } against { $measured }

estimate-layout-no-rank = a layout needs at least one tensor rank and one pipeline stage
estimate-layout-no-item = a replica needs at least one item in a batch and one GPU
estimate-layout-layers-in-turn = this engine lays whole layers on each GPU, and cannot split a layer over tensor ranks
estimate-layout-zero-size = { $name } is 0; at least 1 was expected
estimate-layout-tensor-over-machine = { $ranks } tensor ranks do not fit the machine's { $gpus } GPUs
estimate-layout-sequence-over-machine = { $ranks } sequence-parallel GPUs do not fit the machine's { $gpus }
estimate-layout-ranks-over-gpus = { $tensor } x { $pipeline } ranks do not fit { $gpus } GPUs
estimate-layout-ranks-against-gpus = data { $data } x tensor { $tensor } x pipeline { $pipeline } x context { $context } is { $ranks } ranks on { $gpus } GPUs
estimate-layout-stages-over-layers = { $stages } pipeline stages are more than { $layers } layers
estimate-layout-interleave-alone = interleave { $interleave } needs pipeline stages
estimate-layout-heads-by-tensor = { $heads } attention heads are not divisible by { $ranks } tensor ranks
estimate-layout-heads-by-sequence = { $heads } attention heads are not divisible by { $ranks } sequence-parallel GPUs
estimate-layout-kv-heads-by-tensor = { $heads } key-value heads and { $ranks } tensor ranks do not divide each other
estimate-layout-no-heads = { $model } has no attention heads for tensor or context parallelism to split
estimate-layout-no-experts = { $model } has no experts to spread over { $ranks } ranks
estimate-layout-experts-by-ranks = { $experts } experts are not divisible by { $ranks } expert-parallel ranks
estimate-layout-expert-ranks-by-group = { $expert } expert-parallel ranks do not divide { $ranks } data-parallel ranks
estimate-layout-empty-sample = one sample of { $model } is empty at this size
estimate-layout-not-split = { $model } cannot be split by sequence parallelism; run one replica on each GPU
estimate-layout-tensorrt-elsewhere = TensorRT does not run on { $gpu }
