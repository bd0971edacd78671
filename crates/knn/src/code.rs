//! The files that an engine is written in, carried so that they can be read where it is explained.

/// A file of the repository.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// Its path in the repository: `cuda/select/bits.cuh`.
    pub path: &'static str,
    pub text: &'static str,
}

/// Files of the repository by their paths, as [`Code`].
#[macro_export]
macro_rules! code {
    ($($path:literal),+ $(,)?) => {
        &[$($crate::Code { path: $path, text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path)) }),+]
    };
}
