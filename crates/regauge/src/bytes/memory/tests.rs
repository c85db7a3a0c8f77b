//! Tests of [`super`].

use std::sync::Mutex;

use super::*;
use regauge_testdata::Random;

/// A home that moves at every growth, and counts how often.
#[derive(Default)]
struct Boxes {
    held: Mutex<(Box<[u8]>, u32)>,
    wants: usize,
}

impl Boxes {
    fn moves(&self) -> u32 {
        self.held.lock().unwrap().1
    }
}

// SAFETY: the box is kept until the next call, and its first bytes are those before.
unsafe impl Home for Boxes {
    fn wants(&self, bytes: usize) -> bool {
        bytes > self.wants
    }

    fn grow(&self, before: &[u8], bytes: usize) -> (NonNull<u8>, usize) {
        let mut next = vec![0; bytes].into_boxed_slice();
        next[..before.len()].copy_from_slice(before);
        let start = NonNull::new(next.as_mut_ptr()).unwrap();
        let mut held = self.held.lock().unwrap();
        *held = (next, held.1 + 1);
        (start, bytes)
    }
}

/// Does the same to a memory and to a vector.
fn change(random: &mut Random, memory: &mut Memory<'_>, vector: &mut Vec<u8>) {
    let bytes: Vec<u8> = (0..random.below(40)).map(|at| at as u8 ^ 0x5A).collect();
    match random.below(8) {
        0 => {
            let at = random.below(vector.len() + 1);
            memory.insert(at, &bytes);
            vector.splice(at..at, bytes);
        }
        1 => {
            let start = random.below(vector.len() + 1);
            let end = (start + bytes.len()).min(vector.len());
            memory.remove(start..end);
            vector.drain(start..end);
        }
        2 => {
            let length = vector.len().saturating_sub(bytes.len());
            memory.truncate(length);
            vector.truncate(length);
        }
        3 => assert_eq!(memory.pop(), vector.pop()),
        4 => {
            memory.pad_to(vector.len() + bytes.len());
            vector.resize(vector.len() + bytes.len(), 0);
        }
        5 => memory.shrink_to(8),
        _ => {
            memory.extend_from_slice(&bytes);
            vector.extend_from_slice(&bytes);
        }
    }
    assert_eq!(&memory[..], &vector[..]);
    assert!(memory.capacity() >= memory.len());
}

#[test]
fn memory_holds_what_a_vector_holds() {
    let mut random = Random::new(29);
    for round in 0..300 {
        let wants = [0, 64, usize::MAX][round % 3];
        let home = Boxes { wants, ..Boxes::default() };
        let mut memory = Memory::with_home(b"begun".to_vec(), &home);
        let mut vector = b"begun".to_vec();
        for _ in 0..60 {
            change(&mut random, &mut memory, &mut vector);
        }
        if round % 2 == 0 {
            assert_eq!(memory.into_vec(), vector);
            continue;
        }
        let (left, moved) = memory.into_left();
        match moved {
            Some(length) => assert_eq!(length, vector.len()),
            None => assert_eq!(left, vector),
        }
        assert_eq!(moved.is_some(), home.moves() > 0);
        assert!(wants == usize::MAX || home.moves() > 0 || vector.len() < 64);
    }
}

#[test]
fn a_vector_alone_grows_as_itself() {
    let mut memory = Memory::new(Vec::new());
    assert_eq!((memory.pop(), memory.len()), (None, 0));
    memory.extend_from_slice(b"ab");
    memory.clear();
    memory.extend_from_slice(b"cd");
    assert_eq!(memory.into_left(), (b"cd".to_vec(), None));
}
