# `hob evaluate`。
evaluate-summary = 共 { $asked } 行，给出预测 { $answered } 行
evaluate-column-target = 指标
evaluate-column-group = 分组
evaluate-column-rows = 行数
evaluate-column-answered = 已预测
evaluate-column-median = 中位误差 %
evaluate-column-p90 = 90 分位误差 %
evaluate-column-bias = 偏差 %
evaluate-column-inside = 80 % 区间命中 %
evaluate-all = 全部
evaluate-verdicts = 显存是否够用，共 { $rows } 次判断：显存不足的运行预判出 { $caught }，误报 { $false }，接近上限时判断正确 { $near }。
evaluate-beyond-physics = 下列测量值优于物理极限，只列出、不计分：{ $rows }
evaluate-unanswered = 未给出预测：
evaluate-error-filter = `{ $filter }` 不是“列名=通配符”的写法，例如 `quality=A` 或 `scenario=aggregated*`
evaluate-error-table = { $path }：{ $why }
evaluate-error-kind = 没有一列说明测量了什么；需要 `peak_gib`、`tokens_per_s_per_gpu`、`tpot_ms_p50`、`weights_gib` 之一
evaluate-error-column = 表头缺少 `{ $column }` 列
evaluate-error-line = 第 { $line } 行：{ $why }
evaluate-error-long = 行数超过任何测量表
evaluate-error-where = { $path } 没有 `{ $column }` 列
evaluate-hint-table = 请提供带表头的实测数据 CSV 文件；各列的含义见文档“准确度”一页

unanswered-missing = `{ $column }` 列给出的信息不足
unanswered-unknown-gpu = 目录中没有显卡 `{ $name }`
unanswered-unknown-model = 不认识模型 `{ $name }`，各列也没有给出它的尺寸
unanswered-outside = 规划无法表达{ $what }
unanswered-layout = { $layout } 的乘积不等于 { $gpus } 张 GPU
unanswered-batch = 全局批大小 { $global } 小于 { $ranks } 路数据并行 × 微批 { $micro }
unanswered-refused = { $why }

unsayable-offloaded-activations = 放在主机内存中的激活值
unsayable-offloaded-parameters = 放在主机内存中的参数
unsayable-four-models = PPO 四个模型的摆放方式
unsayable-frozen-int8 = 冻结的 8 位权重
unsayable-step-inside-backward = 在反向传播过程中更新参数的优化器
unsayable-layers-one-after-another = 各层依次分布在多张卡上的做法
unsayable-unstated-layout = 模型以未说明的方式分布在 { $gpus } 张 GPU 上
unsayable-unstated-load = 没有批大小、精度和长度的语言模型测试
unsayable-precision = 精度 `{ $name }`
unsayable-engine = 引擎 `{ $name }`
unsayable-scenario = 场景 `{ $name }`
unsayable-option = 选项 `{ $name }`

evaluate-held-out = 拟合 { $parts } 次，每次都不使用待预测的行
calibrate-fitting = 正在用 { $rows } 行数据拟合
calibrate-table = { $name }：{ $rows } 行，权重 { $weight }
calibrate-summary = 可预测 { $answered } 行，其中 { $learnt } 行参与拟合（其余优于物理极限或被点名存疑）；{ $refused } 行无法交给估算器（原因见 `hob evaluate`）。
calibrate-column-coefficient = 系数
calibrate-column-scope = 适用范围
calibrate-column-prior = 拟合前
calibrate-column-value = 拟合后
calibrate-column-rows = 测量值数
calibrate-distrusted = 与其余数据相差太远、几乎不影响拟合的行（预测 / 实测）：{ $rows }
calibrate-written = 已写入 { $path }。
calibrate-not-written = 未写入任何文件；用 `--out 文件` 保存系数。
