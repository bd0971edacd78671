//! The live query in the window: its marker in Plane, its coordinates as fields, and the row it snaps to.

pub mod apply;
pub mod mark;
pub mod place;
pub mod snap;
pub mod state;
