//! Converts egui's shapes to SVG: text stays text, lines stay lines. Points drawn by the GPU are embedded as
//! a bitmap.

use std::f32::consts::TAU;

use egui::epaint::{ClippedShape, Galley, Mesh, PathStroke, TextShape};
use egui::{Color32, FontFamily, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2};
use image::{GenericImageView as _, ImageFormat, RgbaImage};

use crate::draw::pen::{TextStyle, area};
use crate::draw::svg::{Baseline, Writer, hex};
use crate::draw::{self, Area, Font, Ink, Paint, Point, StrokeStyle};
use crate::palette::{LIGHT, Rgb};

/// Number of vertices of an ellipse.
const CORNERS: u16 = 128;

/// The page that shapes are drawn on.
pub struct Page {
    /// In screen points.
    pub size: Vec2,
    pub ground: Color32,
    /// Millimetres per point in print.
    pub mm_per_point: Option<f32>,
}

/// The shapes as SVG, with the fonts used. `points` is a bitmap of the page with its pixels per point, for
/// what only a GPU can paint.
pub fn svg(shapes: &[ClippedShape], page: &Page, points: Option<(&RgbaImage, f32)>) -> String {
    // All inks are explicit colours, so any palette will do.
    let color = |ink: Ink| hex(ink.color(&LIGHT));
    let mut painted = SvgPainter {
        writer: Writer::new("", &color),
        page: Rect::from_min_size(Pos2::ZERO, page.size),
        points,
    };
    for clipped in shapes {
        painted.clipped(clipped);
    }
    painted.writer.file(
        page.size.into(),
        page.mm_per_point,
        paint(page.ground).map_or(Ink::Canvas, |ground| ground.ink),
    )
}

struct SvgPainter<'a> {
    writer: Writer<'a>,
    page: Rect,
    points: Option<(&'a RgbaImage, f32)>,
}

impl SvgPainter<'_> {
    fn clipped(&mut self, clipped: &ClippedShape) {
        let clip = clipped.clip_rect.intersect(self.page);
        let seen = clipped.shape.visual_bounding_rect().intersect(clip);
        if clip.is_negative() || matches!(clipped.shape, Shape::Noop) || seen.is_negative() {
            return;
        }
        let inside = clip.contains_rect(clipped.shape.visual_bounding_rect());
        self.writer.shape(&draw::Shape::Clip((!inside).then(|| area_of(clip))));
        self.shape(&clipped.shape);
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Noop | Shape::Band(_) => {}
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Circle(circle) => {
                let (fill, line) = (paint(circle.fill), line(circle.stroke));
                if fill.is_some() || line.is_some() {
                    self.writer.shape(&draw::Shape::Dots {
                        centers: vec![circle.center.into()],
                        radius: circle.radius,
                        fill,
                        line,
                    });
                }
            }
            Shape::Ellipse(ellipse) => {
                let corner = |at| {
                    ellipse.center + ellipse.radius * Vec2::angled(TAU * f32::from(at) / f32::from(CORNERS))
                };
                self.path(&(0..CORNERS).map(corner).collect::<Vec<_>>(), true, ellipse.fill, ellipse.stroke);
            }
            Shape::LineSegment { points, stroke } => self.path(points, false, Color32::TRANSPARENT, *stroke),
            Shape::Path(path) => self.path(&path.points, path.closed, path.fill, solid(&path.stroke)),
            Shape::Rect(rect) => {
                let half = if rect.stroke.is_empty() { 0.0 } else { rect.stroke.width / 2.0 };
                let area = match rect.stroke_kind {
                    StrokeKind::Inside => rect.rect.shrink(half),
                    StrokeKind::Middle => rect.rect,
                    StrokeKind::Outside => rect.rect.expand(half),
                };
                let (fill, line) = (paint(rect.fill), line(rect.stroke));
                self.writer.shape(&draw::Shape::Rect {
                    area: area_of(area),
                    round: rect.corner_radius.nw.into(),
                    fill,
                    line,
                });
            }
            Shape::Text(text) => self.text(text),
            Shape::Mesh(mesh) => self.mesh(mesh),
            Shape::QuadraticBezier(curve) => {
                self.path(&curve.flatten(None), curve.closed, curve.fill, solid(&curve.stroke))
            }
            Shape::CubicBezier(curve) => {
                self.path(&curve.flatten(None), curve.closed, curve.fill, solid(&curve.stroke))
            }
            Shape::Callback(callback) => self.picture(callback.rect),
        }
    }

    fn path(&mut self, points: &[Pos2], closed: bool, fill: Color32, stroke: Stroke) {
        let points: Vec<Point> = points.iter().map(|&point| point.into()).collect();
        let (fill, line) = (paint(fill), line(stroke));
        if closed {
            self.writer.polygon(&points, fill, line);
        } else if let Some(line) = line {
            self.writer.shape(&draw::Shape::Path { points, line });
        }
    }

    /// Triangles, each in its mean colour: meshes here are small gradients.
    fn mesh(&mut self, mesh: &Mesh) {
        for corners in mesh.indices.chunks_exact(3) {
            let of = |at: usize| mesh.vertices.get(corners[at] as usize);
            let (Some(a), Some(b), Some(c)) = (of(0), of(1), of(2)) else { continue };
            let mean = |channel: usize| {
                let sum: u32 =
                    [a, b, c].iter().map(|vertex| u32::from(vertex.color.to_array()[channel])).sum();
                (sum / 3) as u8
            };
            let color = Color32::from_rgba_premultiplied(mean(0), mean(1), mean(2), mean(3));
            self.path(&[a.pos, b.pos, c.pos], true, color, Stroke::new(0.3, color));
        }
    }

    fn text(&mut self, text: &TextShape) {
        let rotation = (text.angle != 0.0).then(|| (text.angle.to_degrees(), text.pos.into()));
        for piece in pieces(&text.galley) {
            let color = text.override_text_color.unwrap_or(if piece.color == Color32::PLACEHOLDER {
                text.fallback_color
            } else {
                piece.color
            });
            let Some(paint) = paint(color.gamma_multiply(text.opacity_factor)) else { continue };
            let font = if piece.family == FontFamily::Monospace { Font::Mono } else { Font::Sans };
            let baseline = Baseline { start: (text.pos + piece.at.to_vec2()).into(), width: piece.length };
            self.writer.text(&baseline, TextStyle { size: piece.size, font, paint }, rotation, &piece.text);
        }
    }

    /// The part of the bitmap in this rectangle.
    fn picture(&mut self, rect: Rect) {
        let Some((picture, scale)) = self.points else { return };
        let pixel = |length: f32, most: u32| ((length * scale).round().max(0.0) as u32).min(most);
        let (left, top) = (pixel(rect.left(), picture.width()), pixel(rect.top(), picture.height()));
        let (right, bottom) = (pixel(rect.right(), picture.width()), pixel(rect.bottom(), picture.height()));
        if right <= left || bottom <= top {
            return;
        }
        let cut = picture.view(left, top, right - left, bottom - top).to_image();
        let mut png = std::io::Cursor::new(Vec::new());
        if cut.write_to(&mut png, ImageFormat::Png).is_ok() {
            self.writer.png(area_of(rect), &png.into_inner());
        }
    }
}

/// A run of glyphs with the same style.
struct GlyphRun {
    text: String,
    /// Start of the baseline, in the galley.
    at: Pos2,
    length: f32,
    size: f32,
    family: FontFamily,
    color: Color32,
}

fn pieces(galley: &Galley) -> Vec<GlyphRun> {
    let mut pieces: Vec<GlyphRun> = Vec::new();
    let mut byte = 0;
    for row in &galley.rows {
        let mut section = usize::MAX;
        for glyph in &row.row.glyphs {
            let of_byte =
                galley.job.sections.iter().position(|section| {
                    section.byte_range.start.0 <= byte && byte < section.byte_range.end.0
                });
            let of_glyph = of_byte.unwrap_or(galley.job.sections.len().saturating_sub(1));
            let Some(format) = galley.job.sections.get(of_glyph).map(|section| &section.format) else {
                continue;
            };
            if of_glyph != section || pieces.is_empty() {
                section = of_glyph;
                let (size, family) = (format.font_id.size, format.font_id.family.clone());
                let at = row.pos + glyph.pos.to_vec2();
                pieces.push(GlyphRun {
                    text: String::new(),
                    at,
                    length: 0.0,
                    size,
                    family,
                    color: format.color,
                });
            }
            if let Some(piece) = pieces.last_mut() {
                piece.text.push(glyph.chr);
                piece.length += glyph.advance_width;
            }
            byte += glyph.chr.len_utf8();
        }
        byte += usize::from(row.ends_with_newline);
    }
    pieces.retain(|piece| !piece.text.trim().is_empty() && piece.length > 0.0);
    pieces
}

fn area_of(rect: Rect) -> Area {
    area(rect.left(), rect.top(), rect.width(), rect.height())
}

/// `None` if transparent.
fn paint(color: Color32) -> Option<Paint> {
    let [red, green, blue, alpha] = color.to_srgba_unmultiplied();
    (alpha > 0).then(|| Paint { ink: Ink::Rgb(Rgb(red, green, blue)), opacity: f32::from(alpha) / 255.0 })
}

fn line(stroke: Stroke) -> Option<StrokeStyle> {
    paint(stroke.color).filter(|_| !stroke.is_empty()).map(|paint| StrokeStyle {
        paint,
        width: stroke.width,
        dash: None,
    })
}

/// The single colour of a path; gradients do not occur here.
fn solid(stroke: &PathStroke) -> Stroke {
    match stroke.color {
        egui::epaint::ColorMode::Solid(color) => Stroke::new(stroke.width, color),
        egui::epaint::ColorMode::UV(_) => Stroke::NONE,
    }
}
