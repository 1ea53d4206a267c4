# 命令行自身的语句。
word-error = 错误
no-data = 无数据
word-hint = 提示

error-unreadable = 无法读取 { $path }：{ $why }
error-malformed = { $path } 不是有效的 { $format } 文件：{ $why }
error-bad-field = { $path }：`{ $key }` { $why }
error-too-large = { $path }：{ $what } 为 { $claimed }，超过上限 { $limit }
error-model-not-found = 没有名为 `{ $name }` 的模型文件或预设
hint-check-path = 请检查路径以及文件的读取权限
hint-malformed = 文件可能不完整或不是该类型，请重新获取
hint-bad-field = 请改正该键，或只给出参数量，例如 `7B`
hint-did-you-mean = 您是否想写 { $names }？
hint-model-forms = 请给出文件夹、config.json、.safetensors、.gguf 或 .onnx 文件、hub 名称，或参数量，例如 `7B`

column-part = 部分
column-parameters = 参数量
column-dtype = 类型
column-weights = 权重

error-plain = { $why }
error-workload = { $path } 有 { $count } 处问题，未作规划
hint-workload-file = 请给出任务文件，例如 examples/essay-grader.toml
error-no-model = 这类任务需要一个模型
