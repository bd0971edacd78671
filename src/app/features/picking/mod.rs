//! TODO features/picking

pub mod lookup;
pub mod measure;
pub mod search;
pub mod tool;
