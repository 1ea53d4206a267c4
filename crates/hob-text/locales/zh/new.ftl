# `hob new` 的提问。
new-ask-kind = 是哪种任务？
new-ask-model = 用哪个模型？
new-ask-task = 模型做什么？
new-ask-stage = 试用还是面向真实用户？
new-ask-rate = 最忙的一小时里请求有多少？
new-ask-night-rate = 空闲时段有多少？（留空：一样多）
new-ask-night-hours = 空闲时段从几点到几点？
new-ask-prompt = 一个提示或一段文本平均有多长？
new-ask-output = 一个回答平均有多长？
new-ask-first-token = 100 次中有 95 次，首个 token 要在多久内到达？
new-ask-e2e = 100 次中有 95 次，整个请求要在多久内完成？（留空：不限）
new-ask-method = 怎样训练？
new-ask-samples = 训练集有多少样本？
new-ask-epochs = 训练几轮？
new-ask-sequence = 一个序列有多长？
new-ask-resolution = 图片有多大？
new-ask-clip = 一段录音有多长？
new-ask-amount = 要处理多少？
new-ask-deadline = 要在多长时间内完成？（留空：不限）
new-ask-minimise = 在满足目标的方案中，什么要小？
new-ask-video-total = 一共有多少视频？
new-ask-video-resolution = 输入视频的尺寸？
new-ask-codec = 输入视频是什么编码？
new-ask-fps = 输入视频每秒多少帧？
new-ask-rendition-codec = 要编成什么编码？
new-ask-rendition-resolution = 输出多大尺寸？
new-ask-renderer = 用哪个渲染器？
new-ask-frames = 有多少帧？
new-ask-frame-resolution = 一帧的尺寸？
new-ask-scene-memory = 场景需要多少显存？（留空：不清楚）
new-ask-measured-frame = 您测过的一帧用了多久？（留空：没有测过）
new-ask-measured-gpu = 在哪种 GPU 上测的？
new-ask-budget = 可以花多少钱？（CNY 20000/month、CNY 50000；留空：不限）
new-ask-clouds = 用哪些云？（用逗号分隔；留空：全部）
new-keys-choose = 方向键移动，输入字母筛选，回车确定
new-keys-model = 名字、hub 上的名字、文件夹或文件，或 7B 这样的参数量；按 Tab 采用建议
new-left-out = 不写

# 可选的词是什么意思。
new-word-train = 训练模型：从零开始、全部权重或适配器
new-word-serve = 在线回答请求，用户在等待
new-word-batch = 离线处理一批，没有人等单个结果
new-word-transcode = 把视频转成其他编码
new-word-render = 渲染场景的帧
new-word-dev = 能用且最便宜
new-word-production = 留有余量，并有第二个副本
new-word-pretrain = 从零开始训练全部权重
new-word-full = 微调已有模型的全部权重
new-word-lora = 冻结权重，训练小适配器
new-word-qlora = 4 位冻结权重加适配器，显存最省
new-word-cost = 费用
new-word-time = 完成时间或延迟
new-word-balance = 两者并重

# 结果和错误。
new-written = 已写入 { $file }；下一步：hob plan { $file }
new-next = 下一步：存为 hob.toml，然后 hob plan hob.toml
new-error-exists = `{ $file }` 已经存在
new-hint-force = 用 `--force` 覆盖，或用 `--out FILE` 写到别处
new-error-unsaid = 没有终端时必须给出 `--{ $flag }`
new-hint-flags = hob new --kind serve --model Qwen/Qwen2.5-7B --rate "2 req/s"
new-error-set = `{ $got }` 不是 KEY=VALUE 的形式
new-hint-set = 例如 --set traffic.prompt="800 tokens"；字段就是任务文件的字段
new-error-answers = 没有写入：有 { $count } 个回答不合适
new-error-stopped = 已停止，没有写入任何文件
new-error-terminal = 无法在终端上提问：{ $why }
new-error-unwritable = 无法写入 `{ $file }`：{ $why }
new-hint-unwritable = 用 `--out FILE` 换个位置，或用 `--out -` 写到标准输出

# 它写出的文件中的注释。
new-comment-head = 由 `hob new` 生成，可以随意修改。规划：hob plan { $file }
new-comment-assumed = 没有写的字段会取默认值，规划结果会逐一列出。
new-comment-schema = 要在编辑器中补全：hob schema > hob.schema.json，并把 "#:schema hob.schema.json" 写成本文件的第一行。
new-comment-stage = dev：能用且最便宜。production：留有余量并有第二个副本。
new-comment-model = 名字、hub 上的名字、文件夹或文件，或 "7B" 这样的参数量。
new-comment-budget = 一段时间的金额（"CNY 20000/month"）或总金额（"CNY 50000"）。
new-comment-traffic = 一个请求的大小；在线服务还要写最忙时的请求速率。
new-comment-traffic-window = 一天中速率不同的时段。
new-comment-data = 训练集和一个样本的大小。
new-comment-train = pretrain、full、lora 或 qlora；时长写 epochs、tokens 或 steps。
new-comment-batch = 要处理多少。
new-comment-video = 输入视频：一批写 total，持续到达写 arrives = "40 hours/hour"。
new-comment-rendition = 要输出什么；每种一个表。
new-comment-render = 写上 measured（您测过的一帧的时间和 GPU），可以缩小估计范围。
new-comment-objective = 目标；minimise 可为 cost、time、balance 或 {"{"} cost = 0.7 {"}"}。
