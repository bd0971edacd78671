//! Rasterises a [`Drawing`] without a display, bit-identically on every machine.
//!
//! tiny-skia fills the paths. resvg could draw the SVG instead, but takes 1.6 times as long and brings 16
//! more crates; tests use it to check our SVGs independently.

use std::cell::OnceCell;

use image::RgbaImage;
use tiny_skia::{
    Color, FillRule, LineJoin, Mask, Paint as Brush, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};

use crate::drawing::{Area, Drawing, Paint, Point, Shape, StrokeStyle};
use crate::fonts;
use crate::palette::{Palette, Rgb};

/// Maximum number of pixels per side.
pub const MAX_SIDE: u32 = 16_384;

/// The size of a picture is empty or too large.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("invalid size {width} \u{d7} {height}: each side must be between 1 and {MAX_SIDE} pixels")]
pub struct SizeError {
    /// The width requested, in pixels.
    pub width: f32,
    /// The height requested, in pixels.
    pub height: f32,
}

/// The size in pixels of a drawing in points, with `scale` pixels per point.
///
/// # Errors
/// [`SizeError`] if a side is less than one pixel or more than [`MAX_SIDE`].
pub fn pixels(size: [f32; 2], scale: f32) -> Result<[u32; 2], SizeError> {
    let [width, height] = size.map(|length| (length * scale).round());
    let fits = |length: f32| (1.0..=MAX_SIDE as f32).contains(&length);
    if fits(width) && fits(height) {
        Ok([width as u32, height as u32])
    } else {
        Err(SizeError { width, height })
    }
}

/// Draws a drawing on the palette's canvas colour, with `scale` pixels per point. All pixels are opaque.
///
/// # Errors
/// [`SizeError`] if a side is less than one pixel or more than [`MAX_SIDE`].
pub fn raster(drawing: &Drawing, palette: &Palette, scale: f32) -> Result<RgbaImage, SizeError> {
    let [width, height] = pixels(drawing.size, scale)?;
    let too_large = SizeError { width: width as f32, height: height as f32 };
    let mut pixmap = Pixmap::new(width, height).ok_or(too_large)?;
    pixmap.fill(color(palette.canvas, 1.0));
    let mut painter = Painter { pixmap, palette, scale, clip: None };
    for shape in &drawing.shapes {
        painter.shape(shape);
    }
    // With opaque pixels, premultiplied and straight colours are equal.
    RgbaImage::from_raw(width, height, painter.pixmap.take()).ok_or(too_large)
}

struct Painter<'a> {
    pixmap: Pixmap,
    palette: &'a Palette,
    scale: f32,
    clip: Option<Clip>,
}

/// The clip area. Most shapes are inside it, so a mask is only created for the others.
struct Clip {
    area: Rect,
    mask: OnceCell<Option<Mask>>,
}

impl Clip {
    /// The mask for a shape with these bounds in pixels, if it needs one.
    fn mask(&self, bounds: Option<Rect>, pixmap: &Pixmap) -> Option<&Mask> {
        let area = &self.area;
        let inside = bounds.is_some_and(|shape| {
            shape.left() >= area.left()
                && shape.right() <= area.right()
                && shape.top() >= area.top()
                && shape.bottom() <= area.bottom()
        });
        if inside {
            return None;
        }
        let make = || {
            let mut mask = Mask::new(pixmap.width(), pixmap.height())?;
            mask.fill_path(
                &PathBuilder::from_rect(self.area),
                FillRule::Winding,
                true,
                Transform::identity(),
            );
            Some(mask)
        };
        self.mask.get_or_init(make).as_ref()
    }
}

impl Painter<'_> {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { area, round, fill, line } => self.path(rect(*area, *round), *fill, *line),
            // As one path, so that overlapping dots are not more opaque than one.
            Shape::Dots { centers, radius, fill: Some(fill), line: None } => {
                let mut dots = PathBuilder::new();
                for &[x, y] in centers {
                    dots.push_circle(x, y, *radius);
                }
                self.path(dots.finish(), Some(*fill), None);
            }
            Shape::Dots { centers, radius, fill, line } => {
                for &[x, y] in centers {
                    self.path(PathBuilder::from_circle(x, y, *radius), *fill, *line);
                }
            }
            Shape::Path { points, line } => self.path(polyline(points, false), None, Some(*line)),
            Shape::Polygon { corners, fill } => self.path(polyline(corners, true), Some(*fill), None),
            Shape::Text { at, anchor, size, font, paint, text } => {
                let (glyphs, width) = fonts::shape(text, *font);
                let [left, baseline] = fonts::baseline_start(*at, *anchor, *font, *size, width * size);
                // Baselines are on whole pixels, so that all letters of a line are equally sharp.
                let baseline = (baseline * self.scale).round();
                let brush = self.brush(*paint);
                let large = size * self.scale;
                for glyph in glyphs {
                    if let Some(outline) = glyph.outline() {
                        let x = left * self.scale + glyph.at[0] * large;
                        let y = baseline - glyph.at[1] * large;
                        let transform = Transform::from_row(large, 0.0, 0.0, -large, x, y);
                        self.fill(outline, &brush, transform);
                    }
                }
            }
            Shape::Clip(None) => self.clip = None,
            Shape::Clip(Some(Area { x, y, width, height })) => {
                let [x, y, width, height] = [*x, *y, *width, *height].map(|length| length * self.scale);
                // An empty clip area is represented by a small one outside the picture.
                let area =
                    Rect::from_xywh(x, y, width, height).or_else(|| Rect::from_xywh(-2.0, -2.0, 1.0, 1.0));
                self.clip = area.map(|area| Clip { area, mask: OnceCell::new() });
            }
        }
    }

    fn fill(&mut self, path: &Path, brush: &Brush<'_>, transform: Transform) {
        let mask =
            self.clip.as_ref().and_then(|clip| clip.mask(path.bounds().transform(transform), &self.pixmap));
        self.pixmap.fill_path(path, brush, FillRule::Winding, transform, mask);
    }

    fn transform(&self) -> Transform {
        Transform::from_scale(self.scale, self.scale)
    }

    fn brush(&self, paint: Paint) -> Brush<'static> {
        let mut brush = Brush::default();
        brush.set_color(color(paint.ink.color(self.palette), paint.opacity));
        brush
    }

    fn path(&mut self, path: Option<Path>, fill: Option<Paint>, line: Option<StrokeStyle>) {
        let Some(path) = path else { return };
        if let Some(fill) = fill {
            self.fill(&path, &self.brush(fill), self.transform());
        }
        if let Some(StrokeStyle { paint, width, dash }) = line {
            let dash = dash.and_then(|length| StrokeDash::new(vec![length, length], 0.0));
            let stroke = Stroke { width, line_join: LineJoin::Round, dash, ..Stroke::default() };
            let (brush, transform) = (self.brush(paint), self.transform());
            let bounds = path.bounds().outset(width, width).and_then(|bounds| bounds.transform(transform));
            let mask = self.clip.as_ref().and_then(|clip| clip.mask(bounds, &self.pixmap));
            self.pixmap.stroke_path(&path, &brush, &stroke, transform, mask);
        }
    }
}

fn color(Rgb(red, green, blue): Rgb, opacity: f32) -> Color {
    let mut color = Color::from_rgba8(red, green, blue, 255);
    color.set_alpha(opacity.clamp(0.0, 1.0));
    color
}

fn rect(area: Area, round: f32) -> Option<Path> {
    let Area { x, y, width, height } = area;
    let round = round.min(width / 2.0).min(height / 2.0);
    if round <= 0.0 {
        return Some(PathBuilder::from_rect(Rect::from_xywh(x, y, width, height)?));
    }
    let (right, bottom) = (x + width, y + height);
    // The Bézier control points of a quarter circle.
    let handle = round * (1.0 - 0.552_284_8);
    let mut path = PathBuilder::new();
    path.move_to(x + round, y);
    path.line_to(right - round, y);
    path.cubic_to(right - handle, y, right, y + handle, right, y + round);
    path.line_to(right, bottom - round);
    path.cubic_to(right, bottom - handle, right - handle, bottom, right - round, bottom);
    path.line_to(x + round, bottom);
    path.cubic_to(x + handle, bottom, x, bottom - handle, x, bottom - round);
    path.line_to(x, y + round);
    path.cubic_to(x, y + handle, x + handle, y, x + round, y);
    path.close();
    path.finish()
}

fn polyline(points: &[Point], closed: bool) -> Option<Path> {
    let (&[x, y], rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(x, y);
    for &[x, y] in rest {
        path.line_to(x, y);
    }
    if closed {
        path.close();
    }
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Font, Ink};
    use crate::palette::{DARK, LIGHT};
    use crate::testing::all_shapes;

    fn at(image: &RgbaImage, x: u32, y: u32) -> Rgb {
        let [red, green, blue, alpha] = image.get_pixel(x, y).0;
        assert_eq!(alpha, 255);
        Rgb(red, green, blue)
    }

    #[test]
    fn shapes_are_drawn_at_their_coordinates() {
        for palette in [&LIGHT, &DARK] {
            let image = raster(&all_shapes(), palette, 2.0).unwrap();
            assert_eq!(image.dimensions(), (400, 240));
            assert_eq!(at(&image, 60, 50), palette.field);
            assert_eq!(at(&image, 60, 20), palette.buffer);
            assert_eq!(at(&image, 20, 20), palette.canvas, "the corner is round");
            let Rgb(red, ..) = at(&image, 140, 50);
            assert!(
                red.abs_diff(palette.query.0.midpoint(palette.canvas.0)) <= 1,
                "half of the colour is the background's"
            );
            assert_eq!((at(&image, 240, 40), at(&image, 220, 40)), (palette.candidate, palette.canvas));
            assert_eq!(
                (at(&image, 24, 120), at(&image, 32, 120)),
                (palette.accent, palette.canvas),
                "a dash and a gap"
            );
            assert_eq!(at(&image, 210, 110), palette.neighbor);
            assert_eq!(
                (at(&image, 40, 200), at(&image, 90, 200)),
                (palette.intermediate, palette.canvas),
                "cut off at the clip"
            );
        }
    }

    #[test]
    fn rendered_text_stays_within_its_measured_width() {
        let mut drawing = Drawing::new(200.0, 40.0);
        let text = "Merge 3: min(i, K\u{2212}1\u{2212}i)".to_owned();
        let width = fonts::width(Font::Sans, 16.0, &text);
        drawing.shapes.push(Shape::Text {
            at: [190.0, 20.0],
            anchor: [1.0, 0.5],
            size: 16.0,
            font: Font::Sans,
            paint: Ink::Text.into(),
            text,
        });
        let image = raster(&drawing, &LIGHT, 1.0).unwrap();
        let inked = |(_, _, pixel): &(u32, u32, &image::Rgba<u8>)| pixel.0[0] < 200;
        let (left, right) = (
            image.enumerate_pixels().filter(inked).map(|p| p.0).min(),
            image.enumerate_pixels().filter(inked).map(|p| p.0).max(),
        );
        assert!(
            (left.unwrap() as f32 - (190.0 - width)).abs() < 3.0 && (187..=190).contains(&right.unwrap()),
            "{left:?} {right:?} {width}"
        );
        let rows: Vec<u32> = image.enumerate_pixels().filter(inked).map(|p| p.1).collect();
        assert!(rows.iter().all(|row| (8..32).contains(row)));
    }

    #[test]
    fn empty_and_oversized_images_are_rejected() {
        assert_eq!(
            raster(&Drawing::new(0.0, 10.0), &LIGHT, 1.0).unwrap_err().to_string(),
            "invalid size 0 \u{d7} 10: each side must be between 1 and 16384 pixels"
        );
        assert!(raster(&Drawing::new(f32::NAN, 10.0), &LIGHT, 1.0).is_err());
        assert!(pixels([1000.0, 10.0], 17.0).is_err());
    }
}
