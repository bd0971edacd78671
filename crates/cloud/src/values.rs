//! Values as read: f32 if the file has no more precision, otherwise f64.

/// The element type of stored values.
pub(super) trait Real: Copy + Send + Sync + Default + 'static {
    /// Converts from an f64 that the type represents exactly.
    fn of(value: f64) -> Self;
    /// Converts to f64, without rounding.
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

/// Runs an expression on the inner vector of a [`Values`], for either type.
macro_rules! with_values {
    ($values:expr, $vector:ident => $use:expr) => {
        match $values {
            $crate::values::Values::F32($vector) => $use,
            $crate::values::Values::F64($vector) => $use,
        }
    };
}
pub(super) use with_values;

impl Values {
    /// An empty vector of the smallest type that is exact.
    pub(super) fn new(exact_in_f32: bool) -> Self {
        if exact_in_f32 { Self::F32(Vec::new()) } else { Self::F64(Vec::new()) }
    }

    /// Number of values in all rows together.
    pub fn len(&self) -> usize {
        with_values!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at an index, widened to f64.
    ///
    /// # Panics
    /// If the index is out of bounds.
    pub fn get(&self, at: usize) -> f64 {
        with_values!(self, values => values[at].get())
    }

    /// All values in order, widened to f64.
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
