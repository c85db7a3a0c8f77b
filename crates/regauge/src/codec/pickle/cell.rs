//! What a flat sequence consists of.

use super::arena::Node;

/// A scalar, or a container's beginning or end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Leaf(Node),
    /// With the number of cells in it that are values; keys count too. An empty one has no end.
    Begin {
        kind: Kind,
        at: u32,
        count: u32,
    },
    /// The number of cells back to the beginning.
    End {
        back: u32,
    },
    /// Nothing: a container ended here before more was added to it.
    Gap,
}

const _: () = assert!(size_of::<Cell>() == 16);

/// The kind of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Dict,
    Tuple,
}
