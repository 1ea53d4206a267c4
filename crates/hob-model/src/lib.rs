//! Model files to one operator graph.
