//! Operator graph x hardware x strategy to memory and time, as intervals.
