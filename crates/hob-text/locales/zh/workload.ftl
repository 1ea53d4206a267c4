# 任务文件的问题：发生了什么。
workload-too-large = 文件有 { $bytes } 字节，任务文件最多 { $max } 字节
workload-not-utf8 = 文件不是 UTF-8 文本：第 { $byte } 个字节不属于任何字符
workload-empty = 文件没有描述任何任务
workload-syntax = 这不是有效的 TOML：{ $why }
workload-unknown-key = 这里没有名为 `{ $key }` 的字段
workload-other-kind = `{ $field }` 用于 { $kinds }，而本文件的类型是 { $kind }
workload-misplaced = `{ $key }` 不应写在这里
workload-wrong-form = `{ $field }` 的写法不对
workload-bad-quantity = `{ $got }` 不能作为 `{ $field }` 的值
workload-unknown-word = `{ $field }` 没有 `{ $got }` 这个取值
workload-out-of-range = `{ $field }` 不能是 { $got }
workload-missing = 缺少 `{ $field }`
workload-no-traffic = 没有流量的在线服务无法规划
workload-no-amount = 有期限或视频流，但没有写明工作量
workload-exclusive = `{ $field }` 与 `{ $other }` 不能同时写
workload-contradiction = `{ $field }` 与 `{ $other }` 矛盾
workload-windows-overlap = 有两个时段都包含 { $hour } 开始的一小时
workload-windows-gap = { $hour } 开始的一小时没有请求速率
workload-not-used = `{ $field }` 对任务 { $task } 没有意义
workload-too-many = `{ $field }` 有 { $count } 项，最多允许 { $max } 项
workload-twice = 有两台机器都叫 `{ $got }`
workload-past-model = { $got } 超过 { $model } 可接受的 { $limit } 个 token
workload-budget-apart = 没有可与 { $budget } 预算比较的报价：其余报价的币种为 { $currencies }
workload-control-character = `{ $field }` 含有控制字符
workload-more-problems = ……另有 { $count } 个问题

# 应当怎样写。
workload-word-expected = 应为
workload-expected-table = 一个表，可用的字段：{ $keys }
workload-expected-text = 引号中的文字，例如 "essay-grader"
workload-expected-whole = 1 到 { $max } 的整数
workload-expected-number = 大于零的数，例如 3 或 0.5
workload-expected-flag = true 或 false，不加引号
workload-expected-word = 以下之一：{ $words }
workload-expected-list = 列表，例如 ["a", "b"]
workload-expected-tables = 由表组成的列表
workload-expected-exchange = 货币对的汇率，例如 USD_CNY = 7.1
workload-expected-rate = 带单位的速率，例如 "{ $example }"
workload-expected-time = 带单位的时长，例如 "{ $example }"
workload-expected-size = 带单位的大小，例如 "{ $example }"
workload-expected-transfer = 带单位的传输速率，例如 "{ $example }"
workload-expected-share = 百分比，例如 "{ $example }"
workload-expected-share-at-most = 不超过 100% 的比例
workload-expected-tokens = token 数，例如 "{ $example }"
workload-expected-money = 货币在前的金额，例如 "{ $example }"
workload-expected-money-per = 一段时间的金额，例如 "{ $example }"
workload-expected-budget = 一段时间的金额或总金额，例如 "{ $example }" 或 "CNY 50000"
workload-expected-count = 数量，例如 "{ $example }"
workload-expected-fps = 每秒帧数，例如 "{ $example }"
workload-expected-hours-per-hour = 单位时间内到达的视频时长，例如 "{ $example }"
workload-expected-resolution = 宽 x 高，例如 "{ $example }"
workload-expected-hours = 从几点到几点，例如 "{ $example }"
workload-expected-model = 模型，例如 model = "Qwen/Qwen2.5-7B" 或 model = "7B"
workload-expected-traffic = 在 [traffic] 下写速率，例如 rate = "12 req/s"，或并发数，例如 concurrency = 50
workload-expected-window = 两个字段都要写，例如 hours = "22-08" 和 rate = "1 req/s"
workload-expected-train-amount = 在 [data] 下写 samples = "50000 images"，或在 [train] 下写 tokens 或 steps
workload-expected-weight = 从 0 到 1 的权重，例如 minimise.cost = 0.7
workload-expected-video-size = 视频的宽与高，每边至多 { $most } 像素
workload-expected-cloud = 云厂商，可选：{ $names }
workload-expected-region = 地域的代码或名称，例如 "ap-guangzhou"
workload-expected-gpu = 目录中的 GPU，例如 "A10"
workload-expected-instance = 目录中的实例规格，例如 "GN7.2XLARGE32" 或 "GN7.*"
workload-expected-measured-renderer = { $renderer } 的速度没有公开数据，需要写 measured = { "{" } frame = "42 s", gpu = "T4" { "}" }
workload-expected-measured-codec = { $codec } 的解码速度没有公开数据，需要写 measured_decode 和 measured_gpu
workload-expected-machine = GPU 型号，例如 gpu = "A10"
workload-expected-video = 表 [video]，包含 codec、resolution、fps，以及 arrives 或 total
workload-expected-video-amount = 在 [video] 下写 total = "1200 hours" 或 arrives = "40 hours/hour"
workload-expected-rendition = 至少一个 [[rendition]]，包含 codec 和 resolution
workload-expected-render = 表 [render]，包含 renderer、frames 和 resolution
workload-expected-measured-frame = 时间和 GPU，例如 frame = "42 s" 和 gpu = "T4"
workload-expected-measured-gpu = 测量所用的 GPU，例如 measured_gpu = "T4"
workload-expected-recommender = 每个嵌入表的行数，例如 tables = ["20M users", "4M products"]

# 该怎么做，以及原因。
workload-hint-did-you-mean = 是不是想写 `{ $suggestion }`？
workload-hint-known-keys = 这里可用的字段：{ $keys }
workload-hint-move-to-top = `{ $key }` 应写在文件开头，第一个 [表] 之前
workload-hint-move-to-table = `{ $key }` 应写在 [{ $table }] 下
workload-hint-kind-takes = { $kind } 用的是 `{ $instead }`
workload-hint-write = 请写成 { $text }
workload-hint-used-by = 它用于：{ $tasks }
workload-hint-catalog = `hob catalog list` 列出 GPU，`hob catalog list instances` 列出实例规格
workload-hint-own-machines = `own` 指自有机器，而文件里一台也没有：请写 [[where.machines]]，例如 gpu = "A10"
workload-hint-qlora = 适配器之下的 4 位权重写作 method = "qlora"；precision 指计算所用的格式
workload-hint-shorten = 请缩短，或选用上下文更长的模型；若模型的 config.json 写明 RoPE 缩放（rope_scaling），则按缩放后的长度计
workload-hint-save-utf8 = 请将文件保存为 UTF-8
workload-hint-new = 用 `hob new` 可以生成任务文件
workload-why-no-number = 开头不是数字
workload-why-negative = 它是负数
workload-why-not-positive = 它必须大于零
workload-why-no-unit = 缺少单位
workload-why-too-large = 数值太大
workload-why-unit = `{ $unit }` 不是可用的单位
workload-why-no-per = 缺少时间单位，例如 `/s` 或 `/hour`
workload-why-no-currency = 货币写在前面，用三个大写字母：CNY、USD
workload-why-period = 如果有时间单位，应为 /hour、/day、/month、/year 之一
workload-why-resolution = 每边为 16 到 65536 像素；也可以写：720p、1080p、4k
workload-why-hours = 24 小时制的整点，起止不能相同
workload-why-both-lists = 同一种 GPU 既被允许又被禁止
workload-why-replicas = { $replicas } 个副本至少需要同样多的 GPU，而只允许 { $gpus } 个
workload-why-rank = 秩只用于 lora 和 qlora
workload-why-context = 提示和输出加起来更长：{ $prompt } 和 { $output }
workload-why-endless = 这项工作没有终点，总额无法约束任何开销
workload-why-first-after-whole = 首个 token 的时限不能比整个回答的时限还长
workload-why-percentiles = 覆盖更多请求的时限反而更紧，另一个就没有意义；是不是写反了？
workload-why-exchange = 两个汇率互相不是倒数
workload-why-lifetime = 使用年限要和购买价格一起写
workload-why-recommender = 推荐模型的尺寸只用于任务 recommend
workload-why-bottom = 最后一层要与嵌入相乘，宽度必须相同，即 { $width }
workload-why-too-small = 数值太小
workload-hint-half-width = TOML 只接受半角符号：请写成 { $text }

# 未填写的字段为什么取这个值。
assumed-name-from-file = 取自文件名
assumed-stage = 没有写明时按试用处理
assumed-two-replicas = 用户在等待时，一台机器可能故障
assumed-multi-node = 没有禁止
assumed-method = 没有写明方法时训练全部权重
assumed-lora-by-rank = 写了秩就表示用适配器
assumed-rank = 适配器常用的秩
assumed-optimizer = 这类模型通常使用的优化器
assumed-epochs = 这种方法和任务的常用值
assumed-sequence = 文本模型微调的常用长度
assumed-recommender = 与 MLPerf Training 的 DLRM 相同
assumed-resolution = 这类模型设计时的尺寸
assumed-clip = Whisper 的窗口长度
assumed-frames = 每秒 16 帧的五秒视频
assumed-prompt = 简短的对话请求
assumed-output = 简短的对话回答
assumed-prefix-hit = 没有提示共享同样的开头
assumed-steps = 模型卡片或常用调度器的步数
assumed-guidance = 模型卡片的用法
assumed-rate-of-windows = 最繁忙的时段
assumed-ttft = 对话服务（MLPerf Inference 的 server 场景）
assumed-tpot = 对话服务（MLPerf Inference 的 server 场景）
assumed-minimise = 在满足目标的方案中取最便宜的
assumed-confidence-dev = 试用可以达不到目标
assumed-confidence-production = 有真实用户：很可能达不到的目标不算达到
assumed-one = 没有写明数量时为一
assumed-lifetime = 服务器常用的折旧年限
assumed-codec = 最常见的编码
assumed-full-hd = 最常见的尺寸
assumed-fps = 最常见的帧率
assumed-as-input = 与输入视频相同
assumed-preset = NVENC 的默认值
assumed-renderer = 最常见的免费 GPU 渲染器
