//! What an engine keeps while it searches, and where: for those who want to know how it works.

/// The memories of a GPU, fastest first. A twin on the CPU has all of it in the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Of each thread.
    Registers,
    /// Of each block, on its multiprocessor.
    Shared,
    /// Of the device, or of the host.
    Memory,
}

impl Place {
    /// All, fastest first.
    pub const ALL: [Self; 3] = [Self::Registers, Self::Shared, Self::Memory];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Registers => "Registers",
            Self::Shared => "Shared memory",
            Self::Memory => "Device memory",
        }
    }
}

/// A data structure of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Keeps {
    pub place: Place,
    /// What it is, in a few words: `K nearest so far, sorted`.
    pub what: &'static str,
    /// Who has one: `a warp`, `a block`, `a query`, `all queries`.
    pub each: &'static str,
    /// How many elements one has: of n points in d dimensions and k neighbours.
    pub elements: fn(&super::Shape) -> usize,
    /// Whether it is there at all.
    pub is_there: fn(&super::Shape) -> bool,
}

impl Keeps {
    pub const fn new(place: Place, what: &'static str, each: &'static str, elements: fn(&super::Shape) -> usize) -> Self {
        Self { place, what, each, elements, is_there: |_| true }
    }

    /// The same for some problems only.
    pub const fn only_if(self, is_there: fn(&super::Shape) -> bool) -> Self {
        Self { is_there, ..self }
    }
}

impl super::Shape {
    /// Points, as what an engine keeps of all of them.
    pub fn points(&self) -> usize {
        self.n
    }

    /// K of the warp-per-query engines: k rounded up to a power of two, at least 32.
    pub fn capacity(&self) -> usize {
        super::theory::capacity(self.k)
    }
}
