//! A [`Drawing`] as SVG: text stays text and is stretched to its measured width, so that any font of the
//! viewer fits. Files carry the fonts; elements within other documents name them.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::drawing::{Area, Drawing, Font, Ink, Paint, Point, Shape, StrokeStyle};
use super::fonts::{self, FontSubsets};
use super::palette::{DARK, LIGHT, Palette, Rgb};
use super::pen::TextStyle;

/// A complete SVG file in the colours of a palette, on its canvas, with the fonts of its text.
pub fn svg(drawing: &Drawing, palette: &Palette) -> String {
    let color = |ink: Ink| hex(ink.color(palette));
    let mut writer = Writer::new("", &color);
    drawing.shapes.iter().for_each(|shape| writer.shape(shape));
    writer.file(drawing.size, None, Ink::Canvas)
}

/// Only the `<svg>` element, with colours from `color`: hexadecimal, or CSS variables. `id` prefixes names,
/// to keep them distinct from those of other pictures in the same document.
pub fn element(drawing: &Drawing, id: &str, color: &dyn Fn(Ink) -> String) -> String {
    let mut writer = Writer::new(id, color);
    drawing.shapes.iter().for_each(|shape| writer.shape(shape));
    writer.finish(drawing.size, None, Ink::Canvas, "")
}

/// A colour in CSS notation, such as `#0072b2`.
pub fn hex(Rgb(red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escapes text for element content or an attribute.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            // Characters that XML cannot represent.
            control if control.is_control() && !matches!(control, '\n' | '\t') => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// Elements of an SVG, from back to front.
pub struct Writer<'a> {
    out: String,
    color: &'a dyn Fn(Ink) -> String,
    id: &'a str,
    clips: usize,
    clipped: bool,
    subsets: FontSubsets,
}

impl<'a> Writer<'a> {
    /// No elements yet; `id` and `color` as in [`element`].
    pub fn new(id: &'a str, color: &'a dyn Fn(Ink) -> String) -> Self {
        Self { out: String::new(), color, id, clips: 0, clipped: false, subsets: FontSubsets::default() }
    }

    /// Adds a shape.
    pub fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { area, round, fill, line } => {
                let style = self.style(*fill, *line);
                let round = if *round > 0.0 { format!(" rx=\"{}\"", short(*round)) } else { String::new() };
                let _ = writeln!(self.out, "<rect{}{round} style=\"{style}\"/>", rect_attributes(*area));
            }
            Shape::Dots { centers, radius, fill: Some(fill), line: None } => {
                // One path of zero-length segments with round caps: much smaller than one circle element per
                // dot.
                let mut path = String::new();
                for &[x, y] in centers {
                    let _ = write!(path, "M{} {}h0", short(x), short(y));
                }
                let style = dot_style(*fill, *radius, self.color);
                let _ = writeln!(self.out, "<path d=\"{path}\" style=\"{style}\"/>");
            }
            Shape::Dots { centers, radius, fill, line } => {
                let _ = writeln!(self.out, "<g style=\"{}\">", self.style(*fill, *line));
                for &[x, y] in centers {
                    let _ = writeln!(
                        self.out,
                        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                        short(x),
                        short(y),
                        short(*radius)
                    );
                }
                self.out += "</g>\n";
            }
            Shape::Path { points, line } => {
                let _ = writeln!(
                    self.out,
                    "<polyline points=\"{}\" style=\"{}\"/>",
                    point_list(points),
                    self.style(None, Some(*line))
                );
            }
            Shape::Polygon { corners, fill } => self.polygon(corners, Some(*fill), None),
            Shape::Text { at, anchor, size, font, paint, text } => {
                if let Some(baseline) = baseline(*at, *anchor, *size, *font, text) {
                    self.text(&baseline, TextStyle { size: *size, font: *font, paint: *paint }, None, text);
                }
            }
            Shape::Clip(area) => {
                self.unclip();
                if let Some(area) = area {
                    self.clips += 1;
                    let name = format!("{}clip{}", self.id, self.clips);
                    let _ = writeln!(
                        self.out,
                        "<clipPath id=\"{name}\"><rect{}/></clipPath>\n<g clip-path=\"url(#{name})\">",
                        rect_attributes(*area)
                    );
                    self.clipped = true;
                }
            }
        }
    }

    /// Adds a closed polygon.
    pub fn polygon(&mut self, corners: &[Point], fill: Option<Paint>, line: Option<StrokeStyle>) {
        let _ = writeln!(
            self.out,
            "<polygon points=\"{}\" style=\"{}\"/>",
            point_list(corners),
            self.style(fill, line)
        );
    }

    /// Adds a line of text, stretched to its baseline and rotated clockwise by degrees about a point.
    pub fn text(
        &mut self,
        baseline: &Baseline,
        style: TextStyle,
        rotation: Option<(f32, Point)>,
        text: &str,
    ) {
        self.subsets.add(text, style.font);
        let [x, y, width] = [baseline.start[0], baseline.start[1], baseline.width].map(short);
        let transform = rotation.map_or_else(String::new, |(degrees, [x, y])| {
            format!(" transform=\"rotate({} {} {})\"", short(degrees), short(x), short(y))
        });
        let _ = writeln!(
            self.out,
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\"{transform} \
             style=\"{}\">{}</text>",
            text_style(style.font, style.size, style.paint, self.color),
            escaped(text)
        );
    }

    /// Adds a PNG that fills an area.
    pub fn png(&mut self, area: Area, png: &[u8]) {
        let _ = writeln!(
            self.out,
            "<image{} href=\"data:image/png;base64,{}\"/>",
            rect_attributes(area),
            BASE64_STANDARD.encode(png)
        );
    }

    /// The complete file: a background, the elements, and the fonts of the text. In print, a point is
    /// `mm_per_point` millimetres.
    pub fn file(self, size: [f32; 2], mm_per_point: Option<f32>, ground: Ink) -> String {
        let fonts = self.subsets.style();
        self.finish(size, mm_per_point, ground, &fonts)
    }

    fn finish(mut self, size: [f32; 2], mm_per_point: Option<f32>, ground: Ink, head: &str) -> String {
        self.unclip();
        let [width, height] = size.map(short);
        let [wide, high] = size.map(|length| {
            mm_per_point.map_or_else(|| short(length).to_string(), |mm| format!("{}mm", short(length * mm)))
        });
        let (fill, out) = ((self.color)(ground), &self.out);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 \
             {width} {height}\" xml:space=\"preserve\">\n{head}<rect width=\"{width}\" height=\"{height}\" \
             style=\"fill:{fill}\"/>\n{out}</svg>\n"
        )
    }

    fn unclip(&mut self) {
        if std::mem::take(&mut self.clipped) {
            self.out += "</g>\n";
        }
    }

    fn style(&self, fill: Option<Paint>, line: Option<StrokeStyle>) -> String {
        style(fill, line, self.color)
    }
}

/// The position of a line of text.
pub struct Baseline {
    /// Its left end on the baseline.
    pub start: Point,
    /// Its length, in points.
    pub width: f32,
}

/// The baseline of a text that is anchored at a point (see [`Shape::Text`]); `None` if it has no width.
pub fn baseline(at: Point, anchor: [f32; 2], size: f32, font: Font, text: &str) -> Option<Baseline> {
    let width = fonts::width(font, size, text);
    (width > 0.0).then(|| Baseline { start: fonts::baseline_start(at, anchor, font, size, width), width })
}

/// The CSS of letters.
pub fn text_style(font: Font, size: f32, paint: Paint, color: &dyn Fn(Ink) -> String) -> String {
    let fill = style(Some(paint), None, color);
    format!(
        "font-family:{};font-weight:{};font-size:{}px;{fill}",
        fonts::family(font),
        fonts::weight(font),
        short(size)
    )
}

/// The CSS of dots without outlines, which are segments of no length with round caps.
pub fn dot_style(fill: Paint, radius: f32, color: &dyn Fn(Ink) -> String) -> String {
    let [color, opacity] = [color(fill.ink), opacity("stroke", fill)];
    format!("fill:none;stroke:{color}{opacity};stroke-width:{};stroke-linecap:round", short(radius * 2.0))
}

/// The CSS of a shape with a fill, an outline, or both.
pub fn style(fill: Option<Paint>, line: Option<StrokeStyle>, color: &dyn Fn(Ink) -> String) -> String {
    let mut style = match fill {
        None => "fill:none".to_owned(),
        Some(paint) => format!("fill:{}{}", color(paint.ink), opacity("fill", paint)),
    };
    if let Some(StrokeStyle { paint, width, dash }) = line {
        let _ = write!(
            style,
            ";stroke:{}{};stroke-width:{};stroke-linejoin:round",
            color(paint.ink),
            opacity("stroke", paint),
            short(width)
        );
        if let Some(dash) = dash {
            let _ = write!(style, ";stroke-dasharray:{}", short(dash));
        }
    }
    style
}

fn opacity(property: &str, paint: Paint) -> String {
    if paint.opacity >= 1.0 { String::new() } else { format!(";{property}-opacity:{}", short(paint.opacity)) }
}

fn rect_attributes(area: Area) -> String {
    let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(short);
    format!(" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

fn point_list(points: &[Point]) -> String {
    points.iter().map(|&[x, y]| format!("{},{}", short(x), short(y))).collect::<Vec<_>>().join(" ")
}

/// A length rounded to a hundredth of a point.
fn short(length: f32) -> f32 {
    // Adding 0 turns −0 into 0.
    (length * 100.0).round() / 100.0 + 0.0
}

// Inks as CSS variables, so that a page follows the light or dark setting of its reader.

/// The Content-Security-Policy of a web page: inline styles and fonts, with `has_script` inline scripts, and
/// nothing loaded.
pub fn policy(has_script: bool) -> String {
    let script = if has_script { "; script-src 'unsafe-inline'" } else { "" };
    format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'{script}; font-src data:\">"
    )
}

/// Inks whose colours depend on the palette, and their CSS variables.
const INKS: [(Ink, &str); 24] = [
    (Ink::Panel, "panel"),
    (Ink::Canvas, "canvas"),
    (Ink::Field, "field"),
    (Ink::Text, "text"),
    (Ink::TextWeak, "text-weak"),
    (Ink::Line, "line"),
    (Ink::Grid, "grid"),
    (Ink::Accent, "accent"),
    (Ink::OnAccent, "on-accent"),
    (Ink::OnCandidate, "on-candidate"),
    (Ink::AccentText, "accent-text"),
    (Ink::QueryText, "query-text"),
    (Ink::CandidateText, "candidate-text"),
    (Ink::IntermediateText, "intermediate-text"),
    (Ink::BufferText, "buffer-text"),
    (Ink::Error, "error"),
    (Ink::Point, "point"),
    (Ink::Query, "query"),
    (Ink::Neighbor, "neighbor"),
    (Ink::Candidate, "candidate"),
    (Ink::Rejected, "rejected"),
    (Ink::Intermediate, "intermediate"),
    (Ink::Buffer, "buffer"),
    (Ink::Theory, "theory"),
];

/// The declarations of all variables in the colours of a palette, and the colour scheme.
pub fn variables(palette: &Palette) -> String {
    let mut text = format!("color-scheme:{}", if palette.dark { "dark" } else { "light" });
    for (ink, name) in INKS {
        let _ = write!(text, ";--{name}:{}", hex(ink.color(palette)));
    }
    text
}

/// The CSS colour of an ink: a variable. For a magnitude or a category it is the colour itself, or one per
/// scheme if these differ.
pub fn variable(ink: Ink) -> String {
    if let Some((_, name)) = INKS.iter().find(|(named, _)| *named == ink) {
        return format!("var(--{name})");
    }
    match [&LIGHT, &DARK].map(|palette| hex(ink.color(palette))) {
        [light, dark] if light == dark => light,
        [light, dark] => format!("light-dark({light},{dark})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{DARK, HIGH_CONTRAST, LIGHT};
    use crate::raster::raster;
    use crate::testing::{all_shapes, count_differing};

    #[test]
    fn svg_output_matches_the_raster_renderer() {
        for palette in [&LIGHT, &DARK, &HIGH_CONTRAST] {
            let text = svg(&all_shapes(), palette);
            let ours = raster(&all_shapes(), palette, 2.0).unwrap();
            let far = count_differing(&text, &ours, 2.0);
            // Baselines are on whole pixels in our picture, but not in the other renderer's.
            assert!(far < ours.as_raw().len() / 100, "{far} of {} values differ", ours.as_raw().len());
        }
    }

    #[test]
    fn svg_text_is_escaped() {
        let text = svg(&all_shapes(), &LIGHT);
        assert!(text.contains(">k \u{2264} 8 &amp; a &lt; b</text>"), "{text}");
        assert_eq!(escaped("a\"b\u{1}"), "a&quot;b\u{fffd}");
    }

    #[test]
    fn colours_may_be_css_variables_and_ids_are_prefixed() {
        let text = element(&all_shapes(), "s3-", &|ink| format!("var(--{ink:?})"));
        assert!(
            text.contains("fill:var(--Canvas)")
                && text.contains("id=\"s3-clip1\"")
                && text.contains("url(#s3-clip1)"),
            "{text}"
        );
        assert!(!text.contains("fill:#"));
        assert_eq!(text.matches("<g ").count(), text.matches("</g>").count());
    }

    #[test]
    fn inks_map_to_css_variables_or_colours() {
        for palette in [&LIGHT, &DARK] {
            let text = variables(palette);
            for (ink, _) in INKS {
                let name = variable(ink).replace("var(", "").replace(')', "");
                assert!(text.contains(&format!("{name}:{}", hex(ink.color(palette)))), "{text}");
            }
        }
        assert_eq!(variable(Ink::OnScale(0.0)), "#ffffff");
        assert_eq!(variable(Ink::Category(0)), "light-dark(#0072b2,#56b4e9)");
    }
}
