# `hob probe`，以及实测对方案的影响。
probe-progress = 同时 { $count } 个请求，约 { $seconds } 秒……
probe-level-failed = 同时 { $count } 个请求时无一得到回答，该负载从略
probe-column-run = 实测
probe-column-target = 指标
probe-column-measured = 实测值
probe-column-before = 此前预测
probe-column-off-before = 偏差
probe-column-after = 此后预测
probe-column-off-after = 偏差
probe-column-band = 此后 80 % 区间
probe-summary = 已向 { $file } 追加 { $added } 行；其中各卡的预测现依据 { $rows } 行实测。
probe-next = 下一步：hob plan hob.toml --measured { $file }
probe-error-pair = `{ $text }` 不是“列=值”的形式
probe-error-column = 实测台账没有 `{ $column }` 这一列
probe-error-nothing = 没有一列说明测的是什么
probe-hint-nothing = 请给出实测列，例如 tpot_ms_p50、ttft_ms_p50、step_time_s、tokens_per_s_per_gpu、peak_gib 或 latency_ms_p50
probe-error-ledger = { $path } 记的是另一类实测：没有 `{ $column }` 这一列
probe-hint-ledger = 每类实测各用一个文件，例如 --ledger { $file }
probe-error-write = 无法写入 { $path }：{ $why }
probe-error-setting = 无法为这种配置作出预测：{ $why }
probe-hint-setting = `hob catalog list` 列出各卡的名称；其他列用 --set 列=值 给出
probe-error-https = { $url } 需要 TLS，实测不支持
probe-hint-https = 请在引擎所在机器上用明文地址测，例如 http://localhost:8000
probe-error-engine = 端点没有说明是哪种引擎
probe-hint-engine = 请指明，例如 --engine "vllm 0.11" 或 --engine sglang
probe-error-unreachable = { $url } 没有回应：{ $why }
probe-hint-unreachable = 请确认引擎已启动并监听该地址
probe-error-refused = { $url } 拒绝了请求，状态码 { $status }：{ $why }
probe-error-empty = { $url } 的回答里一个词元也没有
probe-hint-refused = 请检查 --served-model、OPENAI_API_KEY 和引擎日志
probe-error-command = 无法运行 `{ $command }`：{ $why }
probe-hint-command = 在 `--` 之后照终端里的写法给出命令
probe-error-readings = `{ $command }` 只输出了 { $count } 个步时或速度，不足以判断
probe-hint-readings = 请让它每步都输出，例如 `step_time: 0.84`，或用 `hob probe point` 直接填入

plan-understood-measured = 你对 { $card } 的实测：{ $count } 行。
measured-model = 已按你在 { $card } 上用 { $engine } 运行此模型的 { $count } 行实测收紧。
measured-engine = 已按你在 { $card } 上用 { $engine } 运行其他模型的 { $count } 行实测收紧。
measured-card = 已按你在 { $card } 上用其他引擎的 { $count } 行实测收紧。
measured-left-out = { $path }：第 { $row } 行从略：{ $why }
measured-left-out-more = { $path }：另有 { $count } 行从略
measured-beyond = 第 { $row } 行快于或小于物理极限（{ $target }），不予采用
