//! How the window looks: the colours of [`crate::palette`] as egui has them.

use std::ops::Deref;

use egui::{Color32, Stroke, Visuals};

pub use crate::app::model::look::Look;
use crate::palette;
use crate::palette::Rgb;
use crate::run::Phase;

impl Look {
    /// What egui calls it.
    fn preference(self) -> egui::ThemePreference {
        match self {
            Self::System => egui::ThemePreference::System,
            Self::Light => egui::ThemePreference::Light,
            Self::Dark | Self::HighContrast => egui::ThemePreference::Dark,
        }
    }

    /// Whether egui's theme preference has been changed meanwhile.
    pub fn is_lost(self, ctx: &egui::Context) -> bool {
        ctx.options(|options| options.theme_preference) != self.preference()
    }

    /// Tells egui. The dark style carries the high-contrast one too: only one is shown at a time.
    pub fn apply(self, ctx: &egui::Context) {
        ctx.set_theme(self.preference());
        ctx.set_visuals_of(egui::Theme::Light, visuals(&Palette::LIGHT));
        ctx.set_visuals_of(egui::Theme::Dark, visuals(if self == Self::HighContrast { &Palette::HIGH_CONTRAST } else { &Palette::DARK }));
        ctx.all_styles_mut(|style| {
            style.spacing.item_spacing = egui::vec2(8.0, 6.0);
            style.spacing.button_padding = egui::vec2(8.0, 3.0);
            style.spacing.interact_size.y = 22.0;
            style.text_styles.insert(egui::TextStyle::Small, egui::FontId::proportional(11.0));
            style.spacing.menu_margin = egui::Margin::same(6);
        });
    }
}

/// Lets menus, folds and the like open at once, or as egui has them move.
pub fn reduce_motion(ctx: &egui::Context, reduce: bool) {
    let seconds = if reduce { 0.0 } else { egui::Style::default().animation_time };
    ctx.all_styles_mut(|style| style.animation_time = seconds);
}

/// Lets sentences have what only the font of code has: arrows, ⌈ and ⌉. Pictures in files are written likewise.
pub fn install_fonts(ctx: &egui::Context) {
    let mut fonts = egui::FontDefinitions::default();
    if let Some(faces) = fonts.families.get_mut(&egui::FontFamily::Proportional) {
        faces.push("Hack".to_owned());
    }
    ctx.set_fonts(fonts);
}

/// Colours by what they mean, as egui has them.
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

/// The colour at 0 to 1 of a ramp.
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
    pub fn of(look: Look, visuals: &Visuals) -> &'static Self {
        match (look, visuals.dark_mode) {
            (Look::HighContrast, _) => &Self::HIGH_CONTRAST,
            (_, true) => &Self::DARK,
            (_, false) => &Self::LIGHT,
        }
    }

    /// The same colours as [`Self::of`] gives, as pictures have them.
    pub fn base(look: Look, visuals: &Visuals) -> &'static palette::Palette {
        match (look, visuals.dark_mode) {
            (Look::HighContrast, _) => &palette::HIGH_CONTRAST,
            (_, true) => &palette::DARK,
            (_, false) => &palette::LIGHT,
        }
    }

    pub fn phase(&self, phase: Phase) -> Color32 {
        self.phases[match phase {
            // Both bring the points to where they are searched, and no engine does both.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG defines it, 0 to 1.
    fn luminance(colour: Color32) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(colour.r()) + 0.7152 * linear(colour.g()) + 0.0722 * linear(colour.b())
    }

    fn contrast(a: Color32, b: Color32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_marks_stand_out_in_every_look() {
        for palette in [Palette::LIGHT, Palette::DARK, Palette::HIGH_CONTRAST] {
            for ground in [palette.panel, palette.canvas] {
                for text in [palette.text, palette.text_weak, palette.error, palette.warning] {
                    assert!(contrast(text, ground) >= 4.5, "{text:?} on {ground:?}: {:.2}", contrast(text, ground));
                }
            }
            for mark in [palette.query, palette.neighbor, palette.intermediate, palette.buffer, palette.theory, palette.runs[0], palette.runs[1]] {
                assert!(contrast(mark, palette.canvas) >= 3.0, "{mark:?} on {:?}: {:.2}", palette.canvas, contrast(mark, palette.canvas));
            }
            assert!(contrast(palette.on_accent, palette.accent) >= 4.5);
        }
    }
}
