//! The one place where colours are written down.
//!
//! One colour per concept, everywhere the same: categories are from Okabe and Ito's set, which colour-blind readers can
//! tell apart, magnitudes are viridis. Each theme has its own shades so that every colour stands out from its ground.

use egui::{Color32, Stroke, Visuals};
use serde::{Deserialize, Serialize};

use crate::run::Phase;

/// How the window looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Look {
    /// As the desktop says.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// White on black, with full borders.
    HighContrast,
}

impl Look {
    /// All, as the menu lists them.
    pub const ALL: [Self; 4] = [Self::System, Self::Light, Self::Dark, Self::HighContrast];

    /// As the menu says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::System => "As the system",
            Self::Light => "Light",
            Self::Dark => "Dark",
            Self::HighContrast => "High contrast",
        }
    }

    /// What egui calls it.
    fn preference(self) -> egui::ThemePreference {
        match self {
            Self::System => egui::ThemePreference::System,
            Self::Light => egui::ThemePreference::Light,
            Self::Dark | Self::HighContrast => egui::ThemePreference::Dark,
        }
    }

    /// Whether egui was told something else meanwhile.
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

/// Colours by what they mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    /// Whether text is light.
    pub dark: bool,
    /// Behind panels.
    pub panel: Color32,
    /// Behind the data.
    pub canvas: Color32,
    /// Behind fields and buttons.
    pub field: Color32,
    /// A field or button under the pointer.
    pub field_hover: Color32,
    /// What is read first.
    pub text: Color32,
    /// Labels, units, ticks.
    pub text_weak: Color32,
    /// Lines between parts.
    pub line: Color32,
    /// Grid lines behind data.
    pub grid: Color32,
    /// What can be pressed and what is selected.
    pub accent: Color32,
    /// Text on [`Self::accent`].
    pub on_accent: Color32,
    /// What went wrong.
    pub error: Color32,
    /// What should be known.
    pub warning: Color32,
    /// Data points that are neither query nor neighbour.
    pub point: Color32,
    /// The query.
    pub query: Color32,
    /// Its neighbours.
    pub neighbor: Color32,
    /// The neighbour selected in the table.
    pub selected: Color32,
    /// Candidates.
    pub candidate: Color32,
    /// Points that the filter rejected.
    pub rejected: Color32,
    /// The sorted list of K in registers, and its `max_distance`.
    pub intermediate: Color32,
    /// The candidate buffer and its merges.
    pub buffer: Color32,
    /// What theory expects.
    pub theory: Color32,
    phases: [Color32; 5],
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

// Okabe and Ito.
const ORANGE: Color32 = rgb(0xE69F00);
const SKY: Color32 = rgb(0x56B4E9);
const GREEN: Color32 = rgb(0x009E73);
const YELLOW: Color32 = rgb(0xF0E442);
const BLUE: Color32 = rgb(0x0072B2);
const VERMILLION: Color32 = rgb(0xD55E00);
const PURPLE: Color32 = rgb(0xCC79A7);

impl Palette {
    /// Dark on light.
    pub const LIGHT: Self = Self {
        dark: false,
        panel: rgb(0xF6F7F9),
        canvas: rgb(0xFFFFFF),
        field: rgb(0xE8EBEF),
        field_hover: rgb(0xDCE1E8),
        text: rgb(0x1B2026),
        text_weak: rgb(0x58616D),
        line: rgb(0xD3D8DF),
        grid: rgb(0xE9ECF0),
        accent: BLUE,
        on_accent: rgb(0xFFFFFF),
        error: rgb(0xB3261E),
        warning: rgb(0x8A5A00),
        point: rgb(0x8C97A5),
        query: VERMILLION,
        neighbor: BLUE,
        selected: rgb(0x1B2026),
        candidate: rgb(0xC98A00),
        rejected: rgb(0xA9B1BC),
        intermediate: GREEN,
        buffer: rgb(0xB3578A),
        theory: rgb(0x1B2026),
        phases: [SKY, BLUE, rgb(0xB3578A), GREEN, rgb(0xC98A00)],
    };

    /// Light on dark.
    pub const DARK: Self = Self {
        dark: true,
        panel: rgb(0x1B1E23),
        canvas: rgb(0x121418),
        field: rgb(0x2A2F37),
        field_hover: rgb(0x363D47),
        text: rgb(0xE4E8ED),
        text_weak: rgb(0x9AA5B2),
        line: rgb(0x343A43),
        grid: rgb(0x23272E),
        accent: SKY,
        on_accent: rgb(0x0C1116),
        error: rgb(0xFF8A80),
        warning: rgb(0xF2C057),
        point: rgb(0x6F7B8A),
        query: rgb(0xF5793A),
        neighbor: SKY,
        selected: rgb(0xFFFFFF),
        candidate: ORANGE,
        rejected: rgb(0x59626D),
        intermediate: rgb(0x1FC196),
        buffer: PURPLE,
        theory: rgb(0xE4E8ED),
        phases: [rgb(0x3E8FC4), SKY, PURPLE, rgb(0x1FC196), ORANGE],
    };

    /// White on black.
    pub const HIGH_CONTRAST: Self = Self {
        panel: rgb(0x000000),
        canvas: rgb(0x000000),
        field: rgb(0x1C1C1C),
        field_hover: rgb(0x333333),
        text: rgb(0xFFFFFF),
        text_weak: rgb(0xE0E0E0),
        line: rgb(0xFFFFFF),
        grid: rgb(0x404040),
        accent: YELLOW,
        on_accent: rgb(0x000000),
        point: rgb(0xA8A8A8),
        ..Self::DARK
    };

    /// The palette of the look that egui shows.
    pub fn of(look: Look, visuals: &Visuals) -> &'static Self {
        match (look, visuals.dark_mode) {
            (Look::HighContrast, _) => &Self::HIGH_CONTRAST,
            (_, true) => &Self::DARK,
            (_, false) => &Self::LIGHT,
        }
    }

    /// A phase's colour.
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

/// Viridis at 16 even steps.
pub const VIRIDIS: [Color32; 16] = [
    rgb(0x440154),
    rgb(0x481A6C),
    rgb(0x472F7D),
    rgb(0x414487),
    rgb(0x39568C),
    rgb(0x31688E),
    rgb(0x2A788E),
    rgb(0x23888E),
    rgb(0x1F988B),
    rgb(0x22A884),
    rgb(0x35B779),
    rgb(0x54C568),
    rgb(0x7AD151),
    rgb(0xA5DB36),
    rgb(0xD2E21B),
    rgb(0xFDE725),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG's relative luminance.
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
            for mark in [palette.query, palette.neighbor, palette.intermediate, palette.buffer, palette.theory] {
                assert!(contrast(mark, palette.canvas) >= 3.0, "{mark:?} on {:?}: {:.2}", palette.canvas, contrast(mark, palette.canvas));
            }
            assert!(contrast(palette.on_accent, palette.accent) >= 4.5);
        }
    }
}
