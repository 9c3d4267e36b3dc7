//! The threads that kernels run on.
//!
//! They are a rayon pool of their own, for one reason: a rayon thread that waits runs other tasks of
//! its pool meanwhile. If kernels ran in the caller's pool, a caller that commits from within its
//! own parallel loop could be made to run another turn of that loop inside the wait, whose commit
//! would then wait for the first one for ever. For the same reason nothing runs in the global pool:
//! all its threads may be callers that wait for their turn.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Runs `task` so that its parallel loops use the pool.
pub(super) fn run<R: Send>(task: impl FnOnce() -> R + Send) -> R {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let build = || {
        ThreadPoolBuilder::new()
            .thread_name(|i| format!("mlx-native-{i}"))
            .build()
            .ok()
    };
    let Some(pool) = POOL.get_or_init(build) else {
        // No threads to be had: the task uses whatever pool there is.
        return task();
    };
    if rayon::current_thread_index().is_none() || pool.current_thread_index().is_some() {
        return pool.install(task);
    }
    // A thread of another pool would steal while it waits; a plain thread does not.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pool.install(task));
        match waiting.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_in_its_own_pool_from_anywhere() {
        let name = || std::thread::current().name().map(str::to_string);
        let inside = |name: Option<String>| name.is_some_and(|n| n.starts_with("mlx-native-"));
        assert!(inside(run(name)));
        assert!(inside(run(|| run(name))));
        let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert!(inside(other.install(|| run(name))));
    }
}
