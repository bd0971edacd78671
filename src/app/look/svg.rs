//! What egui painted, as SVG: text stays text, lines stay lines. Points that the GPU drew come as a picture of their part.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use egui::epaint::{ClippedShape, Galley, Mesh, PathStroke, TextShape};
use egui::{Color32, FontFamily, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2};
use image::{GenericImageView as _, ImageFormat, RgbaImage};

use crate::draw::font_subset::FontSubsets;
use crate::draw::svg::escaped;
use crate::draw::{Font, fonts};

/// What shapes are drawn on.
pub struct Page {
    /// In points of the screen.
    pub size: Vec2,
    pub ground: Color32,
    /// Millimetres for a point, where it is printed.
    pub mm_per_point: Option<f32>,
}

/// What was painted as a file, with the fonts of its text. `points` is a picture of the page, of as many pixels a point as the number
/// says, for what only a GPU can paint.
pub fn svg(shapes: &[ClippedShape], page: &Page, points: Option<(&RgbaImage, f32)>) -> String {
    let part = Rect::from_min_size(Pos2::ZERO, page.size);
    let mut writer = Writer { out: String::new(), part, points, clips: 0, subsets: FontSubsets::default() };
    for clipped in shapes {
        writer.clipped(clipped);
    }
    let [width, height] = [part.width(), part.height()].map(short);
    let [wide, high] = match page.mm_per_point {
        Some(mm) => [part.width(), part.height()].map(|length| format!("{}mm", short(length * mm))),
        None => [width, height].map(|length| length.to_string()),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {width} {height}\" xml:space=\"preserve\">\n\
        {}<rect width=\"{width}\" height=\"{height}\"{}/>\n{}</svg>\n",
        writer.subsets.style(),
        paint("fill", page.ground),
        writer.out
    )
}

struct Writer<'a> {
    out: String,
    part: Rect,
    points: Option<(&'a RgbaImage, f32)>,
    clips: usize,
    /// What its text needs of which font.
    subsets: FontSubsets,
}

impl Writer<'_> {
    fn clipped(&mut self, clipped: &ClippedShape) {
        let clip = clipped.clip_rect.intersect(self.part);
        let seen = clipped.shape.visual_bounding_rect().intersect(clip);
        if clip.is_negative() || matches!(clipped.shape, Shape::Noop) || seen.is_negative() {
            return;
        }
        let inside = clip.contains_rect(clipped.shape.visual_bounding_rect());
        if !inside {
            self.clips += 1;
            let _ = writeln!(self.out, "<clipPath id=\"c{}\"><rect{}/></clipPath><g clip-path=\"url(#c{0})\">", self.clips, self.corners(clip));
        }
        self.shape(&clipped.shape);
        if !inside {
            self.out += "</g>\n";
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Noop => {}
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Circle(circle) => {
                let [x, y] = self.place(circle.center);
                let r = short(circle.radius);
                let _ = writeln!(self.out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{}{}/>", paint("fill", circle.fill), line(circle.stroke));
            }
            Shape::Ellipse(ellipse) => {
                let ([x, y], rx, ry) = (self.place(ellipse.center), short(ellipse.radius.x), short(ellipse.radius.y));
                let style = paint("fill", ellipse.fill) + &line(ellipse.stroke);
                let _ = writeln!(self.out, "<ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{rx}\" ry=\"{ry}\"{style}/>");
            }
            Shape::LineSegment { points, stroke } => self.path(points, false, Color32::TRANSPARENT, *stroke),
            Shape::Path(path) => self.path(&path.points, path.closed, path.fill, solid(&path.stroke)),
            Shape::Rect(rect) => {
                let grown = match rect.stroke_kind {
                    StrokeKind::Inside => rect.rect.shrink(rect.stroke.width / 2.0),
                    StrokeKind::Middle => rect.rect,
                    StrokeKind::Outside => rect.rect.expand(rect.stroke.width / 2.0),
                };
                let area = if rect.stroke.is_empty() { rect.rect } else { grown };
                let round = f32::from(rect.corner_radius.nw);
                let round = if round > 0.0 { format!(" rx=\"{}\"", short(round)) } else { String::new() };
                let _ = writeln!(self.out, "<rect{}{round}{}{}/>", self.corners(area), paint("fill", rect.fill), line(rect.stroke));
            }
            Shape::Text(text) => self.text(text),
            Shape::Mesh(mesh) => self.mesh(mesh),
            Shape::QuadraticBezier(curve) => {
                let [a, b, c] = curve.points.map(|point| self.place(point));
                let style = paint("fill", curve.fill) + &line(solid(&curve.stroke));
                let _ = writeln!(self.out, "<path d=\"M{} {}Q{} {} {} {}\"{style}/>", a[0], a[1], b[0], b[1], c[0], c[1]);
            }
            Shape::CubicBezier(curve) => {
                let [a, b, c, d] = curve.points.map(|point| self.place(point));
                let style = paint("fill", curve.fill) + &line(solid(&curve.stroke));
                let _ = writeln!(self.out, "<path d=\"M{} {}C{} {} {} {} {} {}\"{style}/>", a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]);
            }
            Shape::Band(_) => {}
            Shape::Callback(callback) => self.picture(callback.rect),
        }
    }

    fn path(&mut self, points: &[Pos2], closed: bool, fill: Color32, stroke: Stroke) {
        let tag = if closed { "polygon" } else { "polyline" };
        let points: Vec<String> = points.iter().map(|&point| self.place(point)).map(|[x, y]| format!("{x},{y}")).collect();
        let _ = writeln!(self.out, "<{tag} points=\"{}\"{}{} stroke-linejoin=\"round\"/>", points.join(" "), paint("fill", fill), line(stroke));
    }

    /// Triangles, each in one colour: what is painted so here are small gradients.
    fn mesh(&mut self, mesh: &Mesh) {
        for corners in mesh.indices.chunks_exact(3) {
            let of = |at: usize| mesh.vertices.get(corners[at] as usize);
            let (Some(a), Some(b), Some(c)) = (of(0), of(1), of(2)) else { continue };
            let mean = |channel: usize| {
                let sum: u32 = [a, b, c].iter().map(|vertex| u32::from(vertex.color.to_array()[channel])).sum();
                (sum / 3) as u8
            };
            let color = Color32::from_rgba_premultiplied(mean(0), mean(1), mean(2), mean(3));
            self.path(&[a.pos, b.pos, c.pos], true, color, Stroke::new(0.3, color));
        }
    }

    fn text(&mut self, text: &TextShape) {
        let turned = text.angle != 0.0;
        if turned {
            let [x, y] = self.place(text.pos);
            let _ = write!(self.out, "<g transform=\"rotate({} {x} {y})\">", short(text.angle.to_degrees()));
        }
        for piece in pieces(&text.galley) {
            let [x, y] = self.place(text.pos + piece.at.to_vec2());
            let color = text.override_text_color.unwrap_or(if piece.color == Color32::PLACEHOLDER { text.fallback_color } else { piece.color });
            let font = if piece.family == FontFamily::Monospace { Font::Mono } else { Font::Sans };
            self.subsets.add(&piece.text, font);
            let (family, weight) = (fonts::family(font), fonts::weight(font));
            let (size, length) = (short(piece.size), short(piece.length));
            let style = paint("fill", color.gamma_multiply(text.opacity_factor));
            let words = escaped(&piece.text);
            let _ = writeln!(
                self.out,
                "<text x=\"{x}\" y=\"{y}\" font-family=\"{family}\" font-weight=\"{weight}\" font-size=\"{size}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"{style}>{words}</text>"
            );
        }
        if turned {
            self.out += "</g>\n";
        }
    }

    /// What a GPU painted there.
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
        if cut.write_to(&mut png, ImageFormat::Png).is_err() {
            return;
        }
        let corners = self.corners(rect);
        let _ = writeln!(self.out, "<image{corners} href=\"data:image/png;base64,{}\"/>", BASE64_STANDARD.encode(png.into_inner()));
    }

    fn place(&self, at: Pos2) -> [f32; 2] {
        [short(at.x - self.part.left()), short(at.y - self.part.top())]
    }

    fn corners(&self, rect: Rect) -> String {
        let [x, y] = self.place(rect.min);
        format!(" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\"", short(rect.width()), short(rect.height()))
    }
}

/// Letters that follow one another in a row and look alike.
struct Piece {
    text: String,
    /// Where their feet begin, in the galley.
    at: Pos2,
    length: f32,
    size: f32,
    family: FontFamily,
    color: Color32,
}

fn pieces(galley: &Galley) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut byte = 0;
    for row in &galley.rows {
        let mut section = usize::MAX;
        for glyph in &row.row.glyphs {
            let of_byte = galley.job.sections.iter().position(|section| section.byte_range.start.0 <= byte && byte < section.byte_range.end.0);
            let of_glyph = of_byte.unwrap_or(galley.job.sections.len().saturating_sub(1));
            let Some(format) = galley.job.sections.get(of_glyph).map(|section| &section.format) else { continue };
            if of_glyph != section || pieces.is_empty() {
                section = of_glyph;
                let (size, family) = (format.font_id.size, format.font_id.family.clone());
                let at = row.pos + glyph.pos.to_vec2();
                pieces.push(Piece { text: String::new(), at, length: 0.0, size, family, color: format.color });
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

/// ` fill="#rrggbb" fill-opacity="…"`, or ` fill="none"` when transparent; `what` is the attribute's name.
fn paint(what: &str, color: Color32) -> String {
    if color.a() == 0 {
        return format!(" {what}=\"none\"");
    }
    let [red, green, blue, alpha] = color.to_srgba_unmultiplied();
    let opacity = if alpha == 255 { String::new() } else { format!(" {what}-opacity=\"{}\"", short(f32::from(alpha) / 255.0)) };
    format!(" {what}=\"#{red:02x}{green:02x}{blue:02x}\"{opacity}")
}

fn line(stroke: Stroke) -> String {
    if stroke.is_empty() { String::new() } else { format!("{} stroke-width=\"{}\"", paint("stroke", stroke.color), short(stroke.width)) }
}

/// A path's line in one colour: nothing here is painted in more.
fn solid(stroke: &PathStroke) -> Stroke {
    match stroke.color {
        egui::epaint::ColorMode::Solid(color) => Stroke::new(stroke.width, color),
        egui::epaint::ColorMode::UV(_) => Stroke::NONE,
    }
}

/// A length to a hundredth of a point.
fn short(length: f32) -> f32 {
    (length * 100.0).round() / 100.0 + 0.0
}
