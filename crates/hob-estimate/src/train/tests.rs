//! Anchors, properties and accuracy of the training estimates.
