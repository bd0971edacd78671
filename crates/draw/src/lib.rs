//! Drawings: shapes whose colours are named by meaning, the helpers that draw them, and the files that they
//! become.
//!
//! | module | holds |
//! |---|---|
//! | [`drawing`] | a picture as data: shapes and inks |
//! | [`pen`] | text that fits its area, strokes, rectangles; round numbers along an axis |
//! | [`fonts`] | text metrics and glyph outlines; fonts inside files |
//! | [`svg`] | drawings as SVG; inks as CSS variables of web pages |
//! | [`raster`], [`gif`] | drawings as pixels; pixels as an animation |

// Aliases, so that `crate::palette` means the same in every crate.
use warpscope_base::palette;

pub mod drawing;
pub mod fonts;
pub mod gif;
pub mod pen;
pub mod raster;
pub mod svg;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use drawing::{Area, Drawing, Font, Ink, Paint, Point, Shape, StrokeStyle};
