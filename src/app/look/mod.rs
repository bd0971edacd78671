//! Appearance: colours ([`tokens`], [`map`], [`paint`]), axis ticks, widgets, the wording around numbers, and painted shapes
//! exported as SVG.

pub mod map;
pub mod paint;
pub mod svg;
pub mod ticks;
pub mod tokens;
pub mod widgets;
pub mod words;
