# `hob probe`, and what measurements say about a plan.
probe-progress = { $count } in flight, about { $seconds } s ...
probe-level-failed = with { $count } in flight no request was answered; that load is left out
probe-column-run = run
probe-column-target = target
probe-column-measured = measured
probe-column-before = before
probe-column-off-before = off
probe-column-after = after
probe-column-off-after = off
probe-column-band = 80 % after
probe-summary = Rows added to { $file }: { $added }. Measured rows that predictions for its cards now rest on: { $rows }.
probe-next = Next: hob plan hob.toml --measured { $file }
probe-error-pair = `{ $text }` is not COLUMN=VALUE
probe-error-column = a ledger has no column `{ $column }`
probe-error-nothing = no column says what was measured
probe-hint-nothing = give a measured column, such as tpot_ms_p50, ttft_ms_p50, step_time_s, tokens_per_s_per_gpu, peak_gib or latency_ms_p50
probe-error-ledger = { $path } holds another kind of measurements: it has no column `{ $column }`
probe-hint-ledger = keep each kind in a file of its own, such as --ledger { $file }
probe-error-write = { $path } cannot be written: { $why }
probe-error-setting = nothing can be predicted for this setting: { $why }
probe-hint-setting = `hob catalog list` names the cards; further columns are given as --set COLUMN=VALUE
probe-error-https = { $url } needs TLS, which the probe does not speak
probe-hint-https = measure beside the engine, at its plain address such as http://localhost:8000
probe-error-engine = the endpoint does not say which engine it is
probe-hint-engine = name it, as in --engine "vllm 0.11" or --engine sglang
probe-error-unreachable = { $url } does not answer: { $why }
probe-hint-unreachable = check that the engine runs and listens there
probe-error-refused = { $url } refused a request with status { $status }: { $why }
probe-error-empty = { $url } answered without a single token
probe-hint-refused = check --served-model, OPENAI_API_KEY and the engine's log
probe-error-command = `{ $command }` cannot be run: { $why }
probe-hint-command = give the command as in a shell, after `--`
probe-error-readings = `{ $command }` printed { $count } step times or speeds, too few to tell
probe-hint-readings = let it log every step, for instance `step_time: 0.84`, or type the value in with `hob probe point`

plan-understood-measured = Your measurements of { $card }: { $count }.
measured-model = Tightened by { $count } of your measurements of this model with { $engine } on { $card }.
measured-engine = Tightened by { $count } of your measurements of other models with { $engine } on { $card }.
measured-card = Tightened by { $count } of your measurements of other engines on { $card }.
measured-left-out = { $path }: row { $row } is left out: { $why }
measured-left-out-more = { $path }: { $count } more rows are left out
measured-beyond = row { $row } is faster or smaller than physics allows ({ $target }), so nothing is learnt from it
