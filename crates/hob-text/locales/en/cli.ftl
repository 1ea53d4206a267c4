# What the command line says of its own accord.
word-error = error
no-data = no data
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

error-plain = { $why }
error-workload = { $path } has { $count } problem(s); nothing was planned
hint-workload-file = give a workload file, such as examples/essay-grader.toml
error-no-model = this kind of work needs a model
