# `hob evaluate`.
evaluate-summary = { $answered } of { $asked } rows answered
evaluate-column-target = target
evaluate-column-group = group
evaluate-column-rows = rows
evaluate-column-answered = answered
evaluate-column-median = median %
evaluate-column-p90 = p90 %
evaluate-column-bias = bias %
evaluate-column-inside = inside 80 %
evaluate-all = all
evaluate-verdicts = Does it fit, over { $rows } verdicts: { $caught } of the runs out of memory foreseen, { $false } false alarms, { $near } right near the limit.
evaluate-beyond-physics = Faster or smaller than physics allows, so named and not scored: { $rows }
evaluate-unanswered = Not answered:
evaluate-error-filter = `{ $filter }` is not COLUMN=GLOB, such as `quality=A` or `scenario=aggregated*`
evaluate-error-table = { $path }: { $why }
evaluate-error-kind = no column tells what was measured; one of `peak_gib`, `tokens_per_s_per_gpu`, `tpot_ms_p50` and `weights_gib` is needed
evaluate-error-column = the header has no column `{ $column }`
evaluate-error-line = line { $line }: { $why }
evaluate-error-long = it has more rows than any table of measurements
evaluate-error-where = { $path } has no column `{ $column }`
evaluate-hint-table = give a CSV file of measured runs with a header; the page on accuracy lists the columns

unanswered-missing = the column `{ $column }` does not say enough
unanswered-unknown-gpu = the catalog has no card `{ $name }`
unanswered-unknown-model = no model `{ $name }` is known, and the columns do not give its sizes
unanswered-outside = no plan can say { $what }
unanswered-layout = { $layout } is not { $gpus } GPUs
unanswered-batch = the global batch { $global } is below { $ranks } data ranks x micro batch { $micro }
unanswered-refused = { $why }

unsayable-offloaded-activations = activations that wait in the host's memory
unsayable-offloaded-parameters = parameters that wait in the host's memory
unsayable-four-models = a placement of the four models of PPO
unsayable-frozen-int8 = frozen weights of 8 bits
unsayable-step-inside-backward = an optimizer step inside the backward pass
unsayable-layers-one-after-another = layers that lie on several cards one after another
unsayable-unstated-layout = a model spread over { $gpus } GPUs in an unstated layout
unsayable-unstated-load = a language model without batch, format and lengths
unsayable-precision = the precision `{ $name }`
unsayable-engine = the engine `{ $name }`
unsayable-scenario = the scenario `{ $name }`
unsayable-option = `{ $name }`

evaluate-held-out = fitting { $parts } times, each time without the rows that are predicted
calibrate-fitting = fitting to { $rows } rows
calibrate-table = { $name }: { $rows } rows, weight { $weight }
calibrate-summary = { $answered } rows can be predicted, { $learnt } of them teach the fit (the others beat physics or are distrusted by name); { $refused } cannot be said to the estimator (`hob evaluate` says why).
calibrate-column-coefficient = coefficient
calibrate-column-scope = where
calibrate-column-prior = before
calibrate-column-value = fitted
calibrate-column-rows = values
calibrate-distrusted = Far from all else, so that they hardly pull (predicted / measured): { $rows }
calibrate-written = Wrote { $path }.
calibrate-not-written = Nothing was written; `--out FILE` writes the coefficients.
