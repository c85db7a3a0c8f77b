//! Does the same work for each item of a list, on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns what came of each, in the order of the list. There are as many threads as cores, and
/// `most` at most.
pub(crate) fn map<T: Sync, R: Send>(
    list: &[T],
    most: usize,
    work: &(dyn Fn(&T) -> R + Sync),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = list.iter().map(|_| Mutex::new(None)).collect();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(most) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(one), Some(result)) = (list.get(place), results.get(place)) else {
                        return;
                    };
                    *result.lock().expect("no panic while locked") = Some(work(one));
                }
            });
        }
    });
    let taken = |one: Mutex<Option<R>>| one.into_inner().expect("no panic while locked");
    results.into_iter().map(|one| taken(one).expect("every place was done")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_the_order_of_the_list() {
        let list: Vec<u64> = (0..100).collect();
        let squares = super::map(&list, 8, &|one| one * one);
        assert!(squares.iter().zip(&list).all(|(square, one)| *square == one * one));
        assert!(super::map(&[] as &[u64], 2, &|one| *one).is_empty());
    }
}
