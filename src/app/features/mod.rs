//! What the window can do with a cloud and its runs: searches, values, pictures, and the controls that belong to each.

pub mod color;
pub mod errors;
pub mod export;
pub mod lesson;
pub mod live;
pub mod picking;
pub mod projection;
pub mod saved;
pub mod selection;
