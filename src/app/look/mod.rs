//! How things look: colours ([`tokens`], [`map`], [`paint`]), numbers at axes, widgets, words beside numbers, and what was
//! painted as SVG.

pub mod map;
pub mod paint;
pub mod svg;
pub mod ticks;
pub mod tokens;
pub mod widgets;
pub mod words;
