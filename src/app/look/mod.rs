//! How things look: colours, ticks, widgets, and shapes as SVG.

pub mod map;
pub mod paint;
pub mod svg;
pub mod ticks;
pub mod tokens;
pub mod widgets;
pub mod words;
