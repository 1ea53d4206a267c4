# `hob plan` 的输出。
error-no-offer = 没有第 { $number } 项；方案共排列 { $count } 项
hint-no-offer = 编号见表格第一列

column-instance = 实例
column-region = 地域
column-gpu = GPU
column-layout = 布局
column-memory = 显存
column-speed = 速率
column-time = 时长
column-billing = 计费
column-cost-month = { $currency }/月
column-cost-job = { $currency }/任务
column-unit-cost = 每{ $unit }
column-stage = 阶段
column-price-hour = 每小时
column-price-month = 每月
column-from = 最便宜起点
column-mode = 计费

plan-head = { $name }（{ $kind }，{ $stage }）
plan-understood-model = 模型 { $name }：{ $parameters } 个参数。
plan-assumed-head = 文件未写明，按默认：
plan-assumed = { $field } = { $value }（{ $why }）
plan-offers = { $considered } 项报价中有 { $feasible } 项可行。* 表示没有其他方案在费用和时间上都更优。
plan-more-offers = 另有 { $count } 项 { $currency } 报价；`--json` 列出全部
plan-other-currency = { $currency } 报价单独排列：未给出汇率（`where.exchange`）。
plan-winner = 首选：{ $machines } 台 { $instance }（{ $cloud }），{ $layout }
plan-memory-head = 占用最多的 GPU 显存
plan-memory-total = 合计
plan-memory-usable = 可用 { $usable }
plan-latency = p95 延迟：TTFT { $ttft }，TPOT { $tpot }，整个请求 { $e2e }
plan-latency-request = 请求的 p95 延迟：{ $e2e }
plan-capacity = 在 { $capacity } 以内可达成目标。
plan-job = 时长：{ $duration }
plan-step = 每步：{ $step }
plan-mfu = MFU：{ $mfu }
plan-throughput = 吞吐：{ $rate }
plan-goal = 目标 { $goal }：把握 { $probability }
plan-bills-head-month = 每月费用（负载不需要时停机）
plan-bills-head-job = 整个任务的费用
plan-band = 首项的 80 % 区间：{ $low } .. { $high }。价格日期 { $date }，来源 { $source }
plan-delay = 等待另使团队损失 { $cost }。
plan-exchange = 按文件中的汇率换算：1 { $from } = { $rate } { $to }。
plan-variants-head = 开发与生产
plan-variant-none = 无可行方案
plan-unpriced = 可行但没有公开价格（{ $count } 项）：
plan-unpriced-more = 另有 { $count } 项
plan-rejected = 不可行：{ $count } 种实例
plan-rejected-memory = { $count } 种显存不足；最接近：{ $instance }，{ $why }
plan-rejected-slow = { $count } 种太慢；最接近：{ $instance }，{ $why }
plan-rejected-many = { $count } 种需要的数量过多；最接近：{ $instance }，{ $why }
plan-rejected-budget = { $count } 种超出预算；最接近：{ $instance }，{ $why }
plan-rejected-unsupported = { $count } 种无法运行；例如 { $instance }：{ $why }
plan-warnings-head = 注意
plan-nothing-fits = 允许范围内没有可行方案。
plan-changes-head = 最接近可行的改动（逐项单独尝试）
plan-change-works = 可行：{ $machines } 台 { $instance }，{ $cost }
plan-change-works-unpriced = 可行：{ $machines } 台 { $instance }，价格未知
plan-change-lacks = 仍不够：需要 { $needed }，可用 { $usable }
plan-change-fails = 仍不够
plan-path-head = 后续步骤
plan-gate = 通过条件：{ $gate }
plan-next = 下一步：hob plan { $file } --explain 1
plan-explain-head = { $cloud } { $instance }（{ $gpu }），{ $layout }
plan-explain-memory = 占用最多的 GPU 显存：{ $total }，可用 { $usable }
plan-explain-time = 时间
plan-explain-price = { $mode }：{ $price }（{ $date }，{ $source }）
plan-explain-cost = { $machines } 台：每小时 { $hour }，不停机每月 { $month }；本任务 { $cost }（{ $low } .. { $high }）

stage-dev = 开发
stage-production = 生产

charge-on-demand = 按量计费
charge-monthly = 包月
charge-spot = 竞价
charge-reserved = 预留 { $months } 个月
charge-owned = 自有

memory-weights = 权重
memory-gradients = 梯度
memory-optimizer-state = 优化器状态
memory-adapters = 适配器
memory-activations = 激活
memory-attention-scores = 注意力分数
memory-logits = logits
memory-gathered-shards = 聚合分片
memory-kv-cache = KV 缓存
memory-cuda-context = CUDA 上下文
memory-workspaces = 工作区
memory-communication = 通信缓冲
memory-allocator-slack = 分配器余量
memory-companions = 配套模型

unit-million-output-tokens = 百万输出 token
unit-million-tokens = 百万 token
unit-thousand-requests = 千次请求
unit-thousand-images = 千张图
unit-thousand-sequences = 千条文本
unit-audio-hour = 小时音频
unit-video-clip = 段视频
unit-video-hour = 小时视频
unit-thousand-frames = 千帧
unit-epoch = 轮

goal-latency = { $name } { $percentile } 不超过 { $limit }
goal-deadline = 在 { $limit } 内完成

reject-memory = 占用最多的 GPU 需要 { $needed }，可用 { $usable }
reject-slow = 用 { $machines } 台仍达不到目标
reject-slow-by = 用 { $machines } 台可达 { $reached }，把握仅 { $probability }
reject-too-many = 需要 { $machines } 台共 { $gpus } 块 GPU，超过允许数量
reject-budget = 费用 { $cost }，超出同期预算 { $budget }
reject-unsupported = { $why }

price-how-tencent-inquiry = 请用云厂商的询价接口（InquiryPriceRunInstances）
price-how-import-price-list = 请导入该云的价格表
price-how-state-own-cost = 请在任务文件中写明机器成本

quality-fp8 = 质量：fp8 权重与激活；公开评测损失较小，请用自己的数据验证。
quality-int8 = 质量：int8 权重与激活会损失部分精度，请用自己的数据验证。
quality-int4 = 质量：4 位权重会损失部分精度，小模型更明显，请用自己的数据验证。
quality-fp4 = 质量：4 位浮点会损失部分精度，请用自己的数据验证。
quality-kv-fp8 = 质量：fp8 KV 缓存在长上下文上略有损失，请用自己的数据验证。

note-waits-for-network = 每步有 { $share } 的时间 GPU 在等网络：换更快的互联比加 GPU 更有效。

bill-spot-service = 可能随时被回收；没有备用方案时不宜面向真实用户
bill-spot-job = 可能随时被回收：请保存检查点

warning-dear-restriction = 你允许的 GPU 或实例需 { $ours }；{ $instance }（{ $gpu }）达到同样目标只需 { $theirs }。
warning-memory-unused = 每块 GPU 的 { $usable } 显存只用了 { $share }：更小的卡或切分的 GPU 就够。
warning-memory-tight = 显存紧张：有 { $risk } 的概率溢出，请先试跑再下单。
warning-cheap-but-slow = { $instance } 账单可省 { $saved }，但多花 { $longer }，团队为此多付 { $delay }。
warning-stop-machines = 费用只计 { $share } 的机时：空闲时段须停掉多余机器，否则每月为 { $month }。
warning-no-price = 可行的方案都没有已知价格。
warning-wide = 时间只能估计到 { $factor } 倍以内：请先实测再下单。

change-precision = 用 { $value } 权重
change-context = 最长上下文改为 { $value }
change-method = 只训练适配器（{ $value }），不训练全部权重
change-optimizer = 用 8 位优化器（{ $value }）
change-sequence = 序列长度改为 { $value }
change-slo = 延迟目标放宽一倍
change-deadline = 期限改为 { $value }
change-budget = 不设预算
change-limit = 不限 GPU 与机器数量
change-multi-node = 允许一个副本或任务跨多台机器
change-gpus = 允许任意 GPU 与实例
change-clouds = 允许任意云、地域与计费方式

path-start-engine = 启动一个副本
path-memory-gate = 能启动，且每块 GPU 显存不超过 { $bytes }
path-starts-gate = 能启动
path-load-test = 按峰值份额对一个副本压测
path-load-test-gate = p95 不超过：TTFT { $ttft }，TPOT { $tpot }，整个请求 { $e2e }
path-short-training = 用自己的脚本训练 { $model } { $steps } 步
path-step-time = 对比每步时长
path-step-time-gate = 预热后在 { $low } 与 { $high } 之间
path-restart = 中断一次，从检查点继续
path-restart-spot = 中断一次，从检查点继续；竞价实例迟早会被回收
path-restart-gate = 损失曲线接着之前
path-cost = 查看账单
path-cost-day-gate = 每天不超过 { $cost }
path-cost-gate = 不超过 { $cost }
path-ramp = 先放 10 %，再 50 %，最后全部流量
path-ramp-gate = 每一步在忙时保持目标半小时
path-request-gate = 请求 p95 不超过 { $e2e }
memory-scene = 场景与帧缓冲
goal-keeps-up = 跟得上到达的视频
plan-stream = 每小时可处理 { $hours } 小时视频；一小时到达的视频需 { $time }
note-stage-unknown = 没有资料说明该机器的 { $stage } 能承受多少；它也可能成为瓶颈。
note-samples = 按每像素 { $samples } 个采样估计。
measure-transcode = 在一台这样的机器上测 30 秒，把速率写入文件（[transcode]）
measure-render = 在一台这样的机器上渲染一帧，把用时写入文件（[render] measured）
path-measure-gate = 代入后重新规划，结论不变
