//! Numbers as a reader delivers them: f32 where the file has no more than that, f64 else.

/// A number that values are kept as.
pub(super) trait Real: Copy + Send + Sync + Default + 'static {
    /// From an f64 that it holds exactly.
    fn of(value: f64) -> Self;
    /// Exactly.
    fn get(self) -> f64;
}

impl Real for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }

    fn get(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn get(self) -> f64 {
        self
    }
}

/// Row-major values of a file or a generator, to the last bit.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Values that f32 holds exactly.
    F32(Vec<f32>),
    /// Values that may need f64.
    F64(Vec<f64>),
}

/// Uses the vector within values, whatever its type.
macro_rules! with_values {
    ($values:expr, $vector:ident => $use:expr) => {
        match $values {
            $crate::cloud::values::Values::F32($vector) => $use,
            $crate::cloud::values::Values::F64($vector) => $use,
        }
    };
}
pub(super) use with_values;

impl Values {
    /// No values yet, of the smaller type that holds them.
    pub(super) fn new(exact_in_f32: bool) -> Self {
        if exact_in_f32 { Self::F32(Vec::new()) } else { Self::F64(Vec::new()) }
    }

    /// How many.
    pub fn len(&self) -> usize {
        with_values!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, at: usize) -> f64 {
        with_values!(self, values => values[at].get())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Self::F64(values)
    }
}
