# 命令行自身的语句。
word-error = 错误
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

inspect-head = { $name }：{ $family }，{ $layers } 层
inspect-certainty-exact = 所有算子均已识别，数目精确。
inspect-certainty-inferred = 部分内容由张量形状或相近架构推断，估计区间会变宽。
inspect-certainty-rough = 几乎只知道参数量，估计区间很宽。
inspect-total = 合计
inspect-active = 每个 token 激活
inspect-flops-token = 前向：空上下文下每个 token { $flops }。
inspect-flops-sample = 前向：每个样本（{ $size }）{ $flops }。
inspect-kv = KV 缓存：16 位下每增加一个 token 占 { $bytes }。
inspect-state = 固定状态：16 位下每条序列 { $bytes }。
inspect-unknown-count = 未识别：{ $count }
inspect-unknown-more =   另有 { $count } 项；`--json` 列出全部

error-plain = { $why }
error-kind = 暂不能规划 `{ $kind }` 类任务
error-workload = { $path } 有 { $count } 处问题，未作规划
error-no-offer = 没有第 { $number } 项；方案共排列 { $count } 项
hint-plain = { $action }
hint-kind = `hob plan` 可规划大模型服务与训练任务
hint-workload-file = 请给出任务文件，例如 examples/essay-grader.toml

column-instance = 实例
column-region = 地域
column-machines = 台数
column-layout = 布局
column-memory = 显存占比
column-speed = 速率或时长
column-billing = 计费
column-cost = 费用

plan-understood-model = 模型 { $name }：{ $parameters } 个参数。
plan-assumed = 默认 { $field } = { $value }：{ $why }
plan-more-offers = 另有 { $count } 项 { $currency } 报价；`--json` 列出全部
plan-winner = 首选：{ $instance }。占用最多的 GPU 显存：
plan-memory-total =   合计 { $total }，可用 { $usable }
plan-latency = p95 延迟：TTFT { $ttft }，TPOT { $tpot }，整个请求 { $e2e }
plan-job = 时长：{ $duration }；每步 { $step }；MFU { $mfu }
plan-goal = 目标：{ $goal }：达成概率 { $probability }
plan-bill-month =   { $mode }：每月 { $cost }（{ $price }，报价日期 { $date }）
plan-bill-job =   { $mode }：整个任务 { $cost }（{ $price }，报价日期 { $date }）
plan-break-even = ；使用率高于 { $share } 时比按量计费便宜
plan-unpriced = 可行但没有公开价格（{ $count } 项）：
plan-rejected = 不可行：{ $count } 种实例
plan-rejected-more =   另有 { $count } 种；`--json` 列出全部
plan-nothing-fits = 允许范围内没有可行方案，原因见上。
plan-next = 下一步：hob plan { $file } --explain 1

goal-latency = { $name } { $percentile } 不超过 { $limit }
goal-deadline = 在 { $limit } 内完成

reject-memory = 占用最多的 GPU 需要 { $needed }，可用 { $usable }
reject-slow = 用 { $machines } 台仍达不到目标
reject-too-many = 需要 { $gpus } 块 GPU，超过允许数量
reject-budget = 费用 { $cost }，超出预算
reject-unsupported = { $why }

price-how-tencent-inquiry = 请用云厂商的询价接口（InquiryPriceRunInstances）
price-how-import-price-list = 请导入该云的价格表
price-how-state-own-cost = 请在任务文件中写明机器成本

quality-fp8 = 质量：fp8 权重与激活；公开评测损失较小，请用自己的数据验证。
quality-int8 = 质量：int8 权重与激活会损失部分精度，请用自己的数据验证。
quality-int4 = 质量：4 位权重会损失部分精度，小模型更明显，请用自己的数据验证。
quality-fp4 = 质量：4 位浮点会损失部分精度，请用自己的数据验证。
