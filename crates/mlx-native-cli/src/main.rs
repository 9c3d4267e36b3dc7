//! The command line of mlx-native.

fn main() {}
