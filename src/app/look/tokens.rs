//! The colours of [`crate::palette`] in egui's types.

use std::ops::Deref;
use std::sync::Arc;

use egui::{Color32, RichText, Stroke, Visuals};

use crate::app::features::color::state::{ColorMap, PointValues, Scale};
use crate::palette::{self, CIVIDIS, Rgb, VIRIDIS};
use crate::run::Phase;

pub use crate::app::model::views::Theme;

impl Theme {
    /// egui's name for the look.
    fn preference(self) -> egui::ThemePreference {
        match self {
            Self::System => egui::ThemePreference::System,
            Self::Light => egui::ThemePreference::Light,
            Self::Dark | Self::HighContrast => egui::ThemePreference::Dark,
        }
    }

    /// Whether egui's theme preference was changed by something else.
    pub fn is_lost(self, ctx: &egui::Context) -> bool {
        ctx.options(|options| options.theme_preference) != self.preference()
    }

    /// Applies the look to egui. The dark style doubles as the high-contrast one, since only one is shown at
    /// a time.
    pub fn apply(self, ctx: &egui::Context) {
        ctx.set_theme(self.preference());
        ctx.set_visuals_of(egui::Theme::Light, visuals(&Palette::LIGHT));
        ctx.set_visuals_of(
            egui::Theme::Dark,
            visuals(if self == Self::HighContrast { &Palette::HIGH_CONTRAST } else { &Palette::DARK }),
        );
        ctx.all_styles_mut(|style| {
            style.spacing.item_spacing = egui::vec2(8.0, 6.0);
            style.spacing.button_padding = egui::vec2(8.0, 3.0);
            style.spacing.interact_size.y = 22.0;
            style.text_styles.insert(egui::TextStyle::Small, egui::FontId::proportional(11.0));
            style.spacing.menu_margin = egui::Margin::same(6);
        });
    }
}

/// Disables or restores egui's animations.
pub fn reduce_motion(ctx: &egui::Context, reduce: bool) {
    let seconds = if reduce { 0.0 } else { egui::Style::default().animation_time };
    ctx.all_styles_mut(|style| style.animation_time = seconds);
}

/// Adds the code font as a fallback for arrows, ⌈ and ⌉; exported pictures do the same.
pub fn install_fonts(ctx: &egui::Context) {
    let mut fonts = egui::FontDefinitions::default();
    if let Some(faces) = fonts.families.get_mut(&egui::FontFamily::Proportional) {
        faces.push("Hack".to_owned());
    }
    ctx.set_fonts(fonts);
}

/// Colours by meaning, in egui's types.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette(palette::Palette<Color32>);

impl Deref for Palette {
    type Target = palette::Palette<Color32>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

const fn color(Rgb(red, green, blue): Rgb) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

const fn colors<const N: usize>(set: [Rgb; N]) -> [Color32; N] {
    let mut colors = [Color32::BLACK; N];
    let mut at = 0;
    while at < N {
        colors[at] = color(set[at]);
        at += 1;
    }
    colors
}

/// The colour of a ramp at a position between 0 and 1.
pub fn on_ramp(ramp: &[Rgb; palette::RAMP], at: f32) -> Color32 {
    color(palette::on_ramp(ramp, at))
}

const fn of_egui(palette: &palette::Palette) -> Palette {
    let [upload, search, counted, profiled, download] = palette.phases;
    Palette(palette::Palette {
        dark: palette.dark,
        panel: color(palette.panel),
        canvas: color(palette.canvas),
        field: color(palette.field),
        field_hover: color(palette.field_hover),
        text: color(palette.text),
        text_weak: color(palette.text_weak),
        line: color(palette.line),
        grid: color(palette.grid),
        coast: color(palette.coast),
        accent: color(palette.accent),
        on_accent: color(palette.on_accent),
        error: color(palette.error),
        warning: color(palette.warning),
        point: color(palette.point),
        muted: color(palette.muted),
        categories: colors(palette.categories),
        ramp: palette.ramp,
        query: color(palette.query),
        neighbor: color(palette.neighbor),
        selected: color(palette.selected),
        candidate: color(palette.candidate),
        rejected: color(palette.rejected),
        intermediate: color(palette.intermediate),
        buffer: color(palette.buffer),
        theory: color(palette.theory),
        runs: [color(palette.runs[0]), color(palette.runs[1])],
        phases: [color(upload), color(search), color(counted), color(profiled), color(download)],
    })
}

impl Palette {
    pub const LIGHT: Self = of_egui(&palette::LIGHT);

    pub const DARK: Self = of_egui(&palette::DARK);

    pub const HIGH_CONTRAST: Self = of_egui(&palette::HIGH_CONTRAST);

    /// The palette of the look that egui shows.
    pub fn for_look(look: Theme, visuals: &Visuals) -> &'static Self {
        match (look, visuals.dark_mode) {
            (Theme::HighContrast, _) => &Self::HIGH_CONTRAST,
            (_, true) => &Self::DARK,
            (_, false) => &Self::LIGHT,
        }
    }

    /// The same colours as [`Self::for_look`] in the types of exported pictures.
    pub fn base(look: Theme, visuals: &Visuals) -> &'static palette::Palette {
        match (look, visuals.dark_mode) {
            (Theme::HighContrast, _) => &palette::HIGH_CONTRAST,
            (_, true) => &palette::DARK,
            (_, false) => &palette::LIGHT,
        }
    }

    /// De-emphasised text.
    pub fn weak(&self, text: impl Into<String>) -> RichText {
        RichText::new(text).color(self.text_weak)
    }

    pub fn small(&self, text: impl Into<String>) -> RichText {
        self.weak(text).small()
    }

    pub fn phase(&self, phase: Phase) -> Color32 {
        self.phases[match phase {
            // Both prepare the points for searching, and no engine does both.
            Phase::Upload | Phase::BuildIndex => 0,
            Phase::Search => 1,
            Phase::Counted => 2,
            Phase::Profiled => 3,
            Phase::Download => 4,
        }]
    }
}

fn visuals(palette: &Palette) -> Visuals {
    let mut visuals = if palette.dark { Visuals::dark() } else { Visuals::light() };
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.extreme_bg_color = palette.canvas;
    visuals.faint_bg_color = palette.grid;
    visuals.window_stroke = Stroke::new(1.0, palette.line);
    visuals.hyperlink_color = palette.accent;
    visuals.error_fg_color = palette.error;
    visuals.warn_fg_color = palette.warning;
    visuals.weak_text_color = Some(palette.text_weak);
    visuals.selection.bg_fill = palette.accent;
    visuals.selection.stroke = Stroke::new(1.0, palette.on_accent);
    let widgets = &mut visuals.widgets;
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, palette.line);
    widgets.noninteractive.fg_stroke = Stroke::new(1.0, palette.text);
    for (widget, fill) in [
        (&mut widgets.inactive, palette.field),
        (&mut widgets.hovered, palette.field_hover),
        (&mut widgets.active, palette.field_hover),
        (&mut widgets.open, palette.field_hover),
    ] {
        widget.bg_fill = fill;
        widget.weak_bg_fill = fill;
        widget.fg_stroke = Stroke::new(1.0, palette.text);
        widget.expansion = 0.0;
    }
    widgets.inactive.bg_stroke = Stroke::new(1.0, palette.line);
    widgets.hovered.bg_stroke = Stroke::new(1.0, palette.accent);
    widgets.active.bg_stroke = Stroke::new(1.0, palette.accent);
    visuals
}

// Mapping of values to colours, shared by legend and GPU.

/// The maximum value of [`ColorMap::Own`]: white.
const MAX_PACKED: f32 = 0xff_ffff as f32;

impl ColorMap {
    /// The choices, in the order of the chooser.
    pub const ALL: [Self; 4] = [Self::Viridis, Self::Cividis, Self::Grey, Self::Categories];

    pub fn text(self) -> &'static str {
        match self {
            Self::Viridis => "viridis",
            Self::Cividis => "cividis",
            Self::Grey => "grey",
            Self::Categories => "categories",
            Self::Own => "its own",
        }
    }

    /// The colour at 0 to 1, restricted to the part of the ramp that contrasts with the canvas; for
    /// categories, the first is at 0 and the last at 1.
    pub fn color(self, at: f32, palette: &Palette) -> Color32 {
        let [from, to] = palette.ramp;
        match self {
            Self::Viridis => on_ramp(&VIRIDIS, from + (to - from) * at.clamp(0.0, 1.0)),
            Self::Cividis => on_ramp(&CIVIDIS, from + (to - from) * at.clamp(0.0, 1.0)),
            Self::Grey => {
                let [dark, bright] = if palette.dark { [78.0, 255.0] } else { [0.0, 158.0] };
                Color32::from_gray(egui::lerp(dark..=bright, at.clamp(0.0, 1.0)) as u8)
            }
            Self::Categories => self.category(
                (at.clamp(0.0, 1.0) * (palette.categories.len() - 1) as f32).round() as usize,
                palette,
            ),
            Self::Own => own((at.clamp(0.0, 1.0) * MAX_PACKED) as u32),
        }
    }

    /// The colour of a category; colours repeat beyond their number.
    pub fn category(self, category: usize, palette: &Palette) -> Color32 {
        palette.categories[category % palette.categories.len()]
    }

    /// The map as `steps` evenly spaced colours; categories have a fixed number.
    pub fn table(self, steps: usize, palette: &Palette) -> Vec<Color32> {
        match self {
            Self::Categories => palette.categories.to_vec(),
            Self::Own => Vec::new(),
            _ => (0..steps)
                .map(|step| self.color(step as f32 / steps.saturating_sub(1).max(1) as f32, palette))
                .collect(),
        }
    }
}

/// The colour encoded by a value of [`ColorMap::Own`].
pub fn own(packed: u32) -> Color32 {
    let [_, red, green, blue] = packed.to_be_bytes();
    Color32::from_rgb(red, green, blue)
}

impl Scale {
    /// The GPU's lookup table: 256 colours of a ramp, or those of the categories.
    pub fn table(&self) -> Vec<Color32> {
        self.map.table(256, if self.dark { &Palette::DARK } else { &Palette::LIGHT })
    }

    /// The position of a value between the ends, 0 to 1.
    pub fn place(&self, value: f32) -> f32 {
        let (value, low, high) =
            if self.log { (value.ln(), self.low.ln(), self.high.ln()) } else { (value, self.low, self.high) };
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

// Colours of a layer's points.

/// How Plane and Space colour points.
#[derive(Clone, Debug)]
pub struct PointPaints {
    /// For the cloud.
    pub data: Paint,
    /// For the query file.
    pub queries: Paint,
    /// Rows of the cloud, ascending, drawn over the others: those with values, if they are few.
    pub over: Option<(Arc<[u32]>, Paint)>,
}

#[derive(Clone, Debug)]
pub enum Paint {
    Flat(egui::Color32),
    /// By a number per point; points without one have the last colour.
    Scaled(Arc<PointValues>, Scale, egui::Color32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{CATEGORIES, RAMP};

    const PALETTES: [&Palette; 3] = [&Palette::LIGHT, &Palette::DARK, &Palette::HIGH_CONTRAST];

    fn linear(colour: Color32) -> [f64; 3] {
        [colour.r(), colour.g(), colour.b()].map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// Relative luminance as defined by WCAG, 0 to 1.
    fn luminance(colour: Color32) -> f64 {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: Color32, b: Color32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_marks_have_enough_contrast() {
        for palette in PALETTES {
            for ground in [palette.panel, palette.canvas] {
                for text in [palette.text, palette.text_weak, palette.error, palette.warning] {
                    assert!(
                        contrast(text, ground) >= 4.5,
                        "{text:?} on {ground:?}: {:.2}",
                        contrast(text, ground)
                    );
                }
            }
            for mark in [
                palette.query,
                palette.neighbor,
                palette.intermediate,
                palette.buffer,
                palette.theory,
                palette.runs[0],
                palette.runs[1],
            ] {
                assert!(
                    contrast(mark, palette.canvas) >= 3.0,
                    "{mark:?} on {:?}: {:.2}",
                    palette.canvas,
                    contrast(mark, palette.canvas)
                );
            }
            assert!(contrast(palette.on_accent, palette.accent) >= 4.5);
        }
    }

    fn times(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// A colour as seen with a dichromacy (Machado), in Oklab.
    fn seen(colour: Color32, matrix: [[f64; 3]; 3]) -> [f64; 3] {
        let seen = times(matrix, linear(colour)).map(|channel| channel.clamp(0.0, 1.0));
        let cones = times(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            seen,
        );
        times(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            cones.map(f64::cbrt),
        )
    }

    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn apart(a: Color32, b: Color32, vision: [[f64; 3]; 3]) -> f64 {
        let (a, b) = (seen(a, vision), seen(b, vision));
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn categories_differ_for_every_colour_vision() {
        for palette in PALETTES {
            for (at, &one) in palette.categories.iter().enumerate() {
                assert!(
                    contrast(one, palette.canvas) >= 1.9,
                    "{one:?} on the canvas: {:.2}",
                    contrast(one, palette.canvas)
                );
                for &other in &palette.categories[..at] {
                    let least =
                        VISIONS.iter().map(|&vision| apart(one, other, vision)).fold(f64::INFINITY, f64::min);
                    assert!(least > 0.07, "{one:?} and {other:?}: {least:.3}");
                }
            }
        }
    }

    #[test]
    fn selected_points_differ_for_every_colour_vision() {
        for palette in PALETTES {
            assert!(contrast(palette.selected, palette.canvas) >= 7.0);
            for other in [palette.neighbor, palette.query, palette.point] {
                let least = VISIONS
                    .iter()
                    .map(|&vision| apart(palette.selected, other, vision))
                    .fold(f64::INFINITY, f64::min);
                assert!(least > 0.13, "{other:?}: {least:.3}");
                assert!(
                    contrast(palette.selected, other) >= 2.0,
                    "{other:?}: {:.2}",
                    contrast(palette.selected, other)
                );
            }
        }
    }

    #[test]
    fn colour_ramps_contrast_with_the_canvas() {
        for palette in PALETTES {
            for map in [ColorMap::Viridis, ColorMap::Cividis, ColorMap::Grey] {
                let least = map
                    .table(64, palette)
                    .into_iter()
                    .map(|colour| contrast(colour, palette.canvas))
                    .fold(f64::INFINITY, f64::min);
                assert!(least >= 2.0, "{map:?}: {least:.2}");
            }
            assert!((1.2..2.5).contains(&contrast(palette.muted, palette.canvas)));
        }
    }

    #[test]
    fn ramp_lightness_rises_evenly() {
        for map in [ColorMap::Viridis, ColorMap::Cividis, ColorMap::Grey] {
            let lightness: Vec<f64> = map
                .table(RAMP, &Palette::DARK)
                .into_iter()
                .map(|colour| seen(colour, VISIONS[0])[0])
                .collect();
            let steps: Vec<f64> = lightness.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let mean = steps.iter().sum::<f64>() / steps.len() as f64;
            assert!(
                steps.iter().all(|&step| step > 0.25 * mean && step < 2.5 * mean),
                "{map:?}: {steps:.3?}"
            );
        }
    }

    #[test]
    fn surplus_categories_reuse_colours() {
        let palette = &Palette::LIGHT;
        assert_eq!(
            ColorMap::Categories.category(CATEGORIES, palette),
            ColorMap::Categories.category(0, palette)
        );
        assert_eq!(ColorMap::Categories.table(256, palette).len(), CATEGORIES);
        let Rgb(red, green, blue) = VIRIDIS[0];
        assert_eq!(ColorMap::Viridis.color(0.0, palette), Color32::from_rgb(red, green, blue));
        assert_eq!(ColorMap::Viridis.table(256, palette)[255], ColorMap::Viridis.color(1.0, palette));
    }

    #[test]
    fn both_dark_themes_use_the_same_colour_maps() {
        for map in ColorMap::ALL {
            assert_eq!(map.table(32, &Palette::DARK), map.table(32, &Palette::HIGH_CONTRAST));
        }
    }

    #[test]
    fn scale_ends_map_to_zero_and_one() {
        let scale = |low, high, log| Scale { map: ColorMap::Viridis, low, high, log, dark: false };
        assert_eq!(
            [0.0, 2.0, 3.0, 6.0, 9.0].map(|value| scale(2.0, 6.0, false).place(value)),
            [0.0, 0.0, 0.25, 1.0, 1.0]
        );
        assert!((scale(1.0, 100.0, true).place(10.0) - 0.5).abs() < 1e-6);
        assert_eq!(scale(3.0, 3.0, false).place(3.0), 0.0, "if all values are equal, as on the GPU");
    }
}
