//! Search over strategies and instances: ranked, priced, explained offers.
