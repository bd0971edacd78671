//! Typed columns of values.

use std::borrow::Cow;

/// The value in a row, `None` if missing.
pub type Of<'a, T> = Box<dyn Fn(usize) -> Option<T> + 'a>;

/// The values of a column, by type.
pub enum Cells<'a> {
    U32(Of<'a, u32>),
    U64(Of<'a, u64>),
    I64(Of<'a, i64>),
    F32(Of<'a, f32>),
    F64(Of<'a, f64>),
    Text(Of<'a, Cow<'a, str>>),
}

/// A type of value that a table can contain.
pub trait Cell<'a>: Sized {
    /// Builds a column of such values; the flag says whether some may be missing.
    fn cells(of: impl Fn(usize) -> Self + 'a) -> (Cells<'a>, bool);
}

macro_rules! cell {
    ($type:ty, $kind:ident) => {
        impl<'a> Cell<'a> for $type {
            fn cells(of: impl Fn(usize) -> Self + 'a) -> (Cells<'a>, bool) {
                (Cells::$kind(Box::new(move |row| Some(of(row).into()))), false)
            }
        }

        impl<'a> Cell<'a> for Option<$type> {
            fn cells(of: impl Fn(usize) -> Self + 'a) -> (Cells<'a>, bool) {
                (Cells::$kind(Box::new(move |row| of(row).map(Into::into))), true)
            }
        }
    };
}
cell!(u32, U32);
cell!(u64, U64);
cell!(i64, I64);
cell!(f32, F32);
cell!(f64, F64);
cell!(&'a str, Text);
cell!(String, Text);
