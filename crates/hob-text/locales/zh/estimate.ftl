# 为什么无法估算。
estimate-unknown-hardware = 目录中没有 { $gpu } 的{ $what }
estimate-unsupported-format = { $gpu } 不支持 { $format } 计算
estimate-unsupported-kv = { $gpu } 无法读取 { $format } 的 KV 缓存
estimate-unsupported-training = 没有框架用 { $format } 训练
estimate-bad-layout = { $why }
estimate-missing-coefficient = 各表中都没有 `{ $name }` 的值
estimate-not-a-language-model = { $model } 不是语言模型，不能逐 token 提供服务
estimate-unmeasured-engine = 没有人测过该引擎给 { $model } 带来的额外开销
estimate-no-item-size = { $model } 的输入没有大小：请给出分辨率或序列长度
estimate-no-operator = { $model } 没有任何已知算子，无法估算一次前向计算
estimate-not-tokens = { $model } 不是逐 token 作答：请对整个请求设定时限
estimate-unknown-word = 未知的 { $what } `{ $name }`；已知：{ $known }
estimate-misspelt-word = 未知的 { $what } `{ $name }`；已知：{ $known }；是否想写 `{ $near }`？
estimate-out-of-range = { $field } = { $value } 不在 { $low } 到 { $high } 之间
estimate-no-engine = { $gpu } 没有用于{ $what }的引擎
estimate-no-rate = 没有公开的{ $what }速率；请用 `{ $measurement }` 实测
estimate-no-rate-by-hand = 没有公开的{ $what }速率；请在其窗口中计时渲染一帧

estimate-fact-memory-bandwidth = 显存带宽
estimate-fact-half-rate = 16 位算力
estimate-fact-single-rate = fp32 算力
estimate-fact-vcpus = vCPU 数量
estimate-fact-encode-engines = 视频编码引擎数量
estimate-fact-decode-engines = 视频解码引擎数量

estimate-task-encode-video = 视频编码
estimate-task-decode-video = 视频解码
estimate-task-encode = { $codec } 编码
estimate-task-encode-on-card = { $gpu } 以 { $preset } 预设编码 { $codec } 的
estimate-task-encode-on-core = 单个 CPU 核编码 { $codec } 的
estimate-task-decode-on-core = 单个 CPU 核解码 { $codec } 的
estimate-task-render = { $gpu } 上 { $renderer } 渲染一帧的
estimate-task-render-against = { $gpu } 上 { $renderer } 相对 { $measured } 的渲染

estimate-layout-no-rank = 布局至少需要一个张量并行分片和一个流水线阶段
estimate-layout-no-item = 每个副本的批次至少要有一项，并至少占用一块 GPU
estimate-layout-layers-in-turn = 该引擎把整层依次放到各块 GPU 上，不支持张量并行
estimate-layout-zero-size = { $name } 为 0；至少应为 1
estimate-layout-tensor-over-machine = { $ranks } 路张量并行超出单机的 { $gpus } 块 GPU
estimate-layout-sequence-over-machine = { $ranks } 路序列并行超出单机的 { $gpus } 块 GPU
estimate-layout-ranks-over-gpus = { $tensor } x { $pipeline } 路并行超出 { $gpus } 块 GPU
estimate-layout-ranks-against-gpus = 数据 { $data } x 张量 { $tensor } x 流水线 { $pipeline } x 上下文 { $context } 共 { $ranks } 路，而 GPU 有 { $gpus } 张
estimate-layout-stages-over-layers = { $stages } 个流水线阶段多于 { $layers } 层
estimate-layout-interleave-alone = 交错度 { $interleave } 需要有流水线阶段
estimate-layout-heads-by-tensor = { $heads } 个注意力头不能被 { $ranks } 路张量并行整除
estimate-layout-heads-by-sequence = { $heads } 个注意力头不能被 { $ranks } 路序列并行整除
estimate-layout-kv-heads-by-tensor = { $heads } 个键值头与 { $ranks } 路张量并行不能互相整除
estimate-layout-no-heads = { $model } 没有可供张量并行或上下文并行切分的注意力头
estimate-layout-no-experts = { $model } 没有可分布到 { $ranks } 路上的专家
estimate-layout-experts-by-ranks = { $experts } 个专家不能被 { $ranks } 路专家并行整除
estimate-layout-expert-ranks-by-group = { $expert } 路专家并行不能整除 { $ranks } 路数据并行
estimate-layout-empty-sample = { $model } 的一个样本在该大小下为空
estimate-layout-not-split = { $model } 不能用序列并行切分；请在每块 GPU 上各运行一个副本
estimate-layout-tensorrt-elsewhere = TensorRT 不能在 { $gpu } 上运行
