//! A picture of a pane for slides and papers: plot, legend and title, laid out for the target size.

use serde::{Deserialize, Serialize};

use super::pane::PaneKind;
use super::views::Theme;

/// Millimetres per layout point: axis text of 11 points is printed at 8.
const MM_PER_POINT: f32 = 8.0 / 11.0 * 25.4 / 72.0;

/// Pixels per inch in print.
const DPI: f32 = 300.0;

/// The target of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PictureSize {
    #[default]
    Window,
    Slide,
    Column,
    Page,
}

/// Dimensions of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Width and height in points; text has its normal size.
    pub points: [f32; 2],
    pub pixels_per_point: f32,
    /// Millimetres per point in print.
    pub mm_per_point: Option<f32>,
}

impl PictureSize {
    pub const ALL: [Self; 4] = [Self::Window, Self::Slide, Self::Column, Self::Page];

    pub fn text(self) -> &'static str {
        match self {
            Self::Window => "As in the window",
            Self::Slide => "Slide 16:9",
            Self::Column => "Column 85 mm",
            Self::Page => "Page width 180 mm",
        }
    }

    /// Dimensions for this target. `window` is the pane's size in points and its pixels per point; `times`
    /// multiplies the number of pixels per side.
    pub fn layout(self, window: ([f32; 2], f32), times: u8) -> Layout {
        let printed = |mm: [f32; 2]| Layout {
            points: mm.map(|length| length / MM_PER_POINT),
            pixels_per_point: DPI / 25.4 * MM_PER_POINT * f32::from(times),
            mm_per_point: Some(MM_PER_POINT),
        };
        match self {
            Self::Window => {
                Layout { points: window.0, pixels_per_point: window.1 * f32::from(times), mm_per_point: None }
            }
            // 1920 × 1080 pixels, with text as large as on a slide.
            Self::Slide => Layout {
                points: [768.0, 432.0],
                pixels_per_point: 2.5 * f32::from(times),
                mm_per_point: None,
            },
            Self::Column => printed([85.0, 64.0]),
            Self::Page => printed([180.0, 110.0]),
        }
    }
}

impl Layout {
    pub fn pixels(&self) -> [u64; 2] {
        self.points.map(|length| (length * self.pixels_per_point).round() as u64)
    }

    /// Pixels per inch in print.
    pub fn dpi(&self) -> Option<f32> {
        Some(self.pixels_per_point / self.mm_per_point? * 25.4)
    }

    /// The dimensions in words, for vector shapes or pixels.
    pub fn text(&self, shapes: bool) -> String {
        let sides = |[width, height]: [u64; 2]| format!("{width} × {height}");
        let mm = self
            .mm_per_point
            .map(|mm| format!("{} mm", sides(self.points.map(|length| (length * mm).round() as u64))));
        let pixels = format!("{} pixels", sides(self.pixels()));
        match (mm, self.dpi()) {
            (Some(mm), _) if shapes => mm,
            (Some(mm), Some(dpi)) => format!("{mm}, {pixels} ({dpi:.0} dpi)"),
            _ if shapes => format!("{} points", sides(self.points.map(|length| length.round() as u64))),
            _ => pixels,
        }
    }
}

/// Background of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Background {
    #[default]
    Window,
    Light,
    Dark,
}

impl Background {
    pub const ALL: [Self; 3] = [Self::Window, Self::Light, Self::Dark];

    pub fn text(self) -> &'static str {
        match self {
            Self::Window => "As in the window",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    /// The look of the picture, given the window's look and whether the window is dark.
    pub fn look(self, look: Theme, dark: bool) -> Theme {
        match (self, look) {
            (Self::Light, _) | (Self::Window, Theme::Light) => Theme::Light,
            (Self::Window, Theme::HighContrast) => Theme::HighContrast,
            // A picture has no desktop to follow.
            (Self::Window, Theme::System) if !dark => Theme::Light,
            (Self::Dark, _) | (Self::Window, Theme::Dark | Theme::System) => Theme::Dark,
        }
    }
}

/// Picture settings, remembered for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PictureSettings {
    pub size: PictureSize,
    #[serde(rename = "ground")]
    pub background: Background,
    pub legend: bool,
}

impl Default for PictureSettings {
    fn default() -> Self {
        Self { size: PictureSize::Window, background: Background::Window, legend: true }
    }
}

/// A picture being set up in the dialog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PictureDraft {
    pub choice: PictureSettings,
    /// May be empty.
    pub title: String,
    /// Whether Plane and Space name the query and its neighbours.
    pub names: bool,
}

/// A mark of Plane and Space that the legend explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Query,
    Neighbors,
    /// The circle at the k-th distance.
    Circle,
    Selected,
}

impl Mark {
    pub fn text(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Neighbors => "neighbours",
            Self::Circle => "k-th distance",
            Self::Selected => "selected",
        }
    }
}

/// The picture of a pane, drawn instead of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub pane: PaneKind,
    pub title: String,
    pub legend: bool,
    pub marks: Vec<Mark>,
    /// Width and height of the cloud that Plane shows, in local units; `None` uses Plane's own window.
    pub extent: Option<[f64; 2]>,
}

impl Picture {
    /// Local units per layout point, so that a plot of this size shows what the window shows.
    pub fn units_per_point(&self, plot: [f32; 2]) -> Option<f64> {
        let [x, y] = self.extent?;
        let units = (x / f64::from(plot[0])).max(y / f64::from(plot[1]));
        (units.is_finite() && units > 0.0).then_some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_sizes_are_described_as_rendered() {
        let window = ([600.0, 400.0], 1.5);
        let said = |size: PictureSize, times, shapes| size.layout(window, times).text(shapes);
        assert_eq!(said(PictureSize::Window, 2, false), "1800 × 1200 pixels");
        assert_eq!(said(PictureSize::Window, 1, true), "600 × 400 points");
        assert_eq!(said(PictureSize::Slide, 1, false), "1920 × 1080 pixels");
        assert_eq!(said(PictureSize::Column, 1, false), "85 × 64 mm, 1004 × 756 pixels (300 dpi)");
        assert_eq!(said(PictureSize::Column, 2, false), "85 × 64 mm, 2008 × 1512 pixels (600 dpi)");
        assert_eq!(said(PictureSize::Page, 1, true), "180 × 110 mm");
    }

    #[test]
    fn printed_text_is_eight_points() {
        let layout = PictureSize::Column.layout(([1.0, 1.0], 1.0), 1);
        let mm = 11.0 * layout.mm_per_point.expect("it is printed");
        assert!((mm / 25.4 * 72.0 - 8.0).abs() < 1e-4);
    }

    #[test]
    fn the_background_follows_the_window_or_the_choice() {
        assert_eq!(Background::Window.look(Theme::System, false), Theme::Light);
        assert_eq!(Background::Window.look(Theme::System, true), Theme::Dark);
        assert_eq!(Background::Window.look(Theme::HighContrast, true), Theme::HighContrast);
        assert_eq!(Background::Light.look(Theme::HighContrast, true), Theme::Light);
        assert_eq!(Background::Dark.look(Theme::Light, false), Theme::Dark);
    }

    #[test]
    fn pictures_of_any_shape_show_the_whole_extent() {
        let picture = Picture {
            pane: PaneKind::Plane,
            title: String::new(),
            legend: true,
            marks: Vec::new(),
            extent: Some([10.0, 4.0]),
        };
        assert_eq!(picture.units_per_point([100.0, 100.0]), Some(0.1));
        assert_eq!(picture.units_per_point([1000.0, 20.0]), Some(0.2));
        assert_eq!(Picture { extent: None, ..picture }.units_per_point([1.0, 1.0]), None);
    }
}
