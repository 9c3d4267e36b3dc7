//! Compute kernels for training and running neural networks, written once and run anywhere.
