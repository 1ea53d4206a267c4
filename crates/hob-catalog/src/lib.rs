//! GPUs, instance types, prices and software compatibility: embedded facts and importers.
