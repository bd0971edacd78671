//! Values to colours, as the legend shows them and as the GPU is given them.

use egui::Color32;

use crate::app::features::color::state::{ColorMap, Scale};
use crate::app::look::tokens::{Palette, on_ramp};
use crate::palette::{CIVIDIS, VIRIDIS};

/// The last value of [`ColorMap::Own`]: white.
const OWN: f32 = 0xff_ffff as f32;

impl ColorMap {
    /// Those that can be chosen, as the chooser lists them.
    pub const ALL: [Self; 3] = [Self::Viridis, Self::Cividis, Self::Categories];

    /// As the chooser says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Viridis => "viridis",
            Self::Cividis => "cividis",
            Self::Categories => "categories",
            Self::Own => "its own",
        }
    }

    /// The colour at 0 to 1 of a ramp, in the part of it that stands out from the canvas; of categories the first is at 0
    /// and the last at 1.
    pub fn color(self, at: f32, palette: &Palette) -> Color32 {
        let [from, to] = palette.ramp;
        match self {
            Self::Viridis => on_ramp(&VIRIDIS, from + (to - from) * at.clamp(0.0, 1.0)),
            Self::Cividis => on_ramp(&CIVIDIS, from + (to - from) * at.clamp(0.0, 1.0)),
            Self::Categories => self.category((at.clamp(0.0, 1.0) * (palette.categories.len() - 1) as f32).round() as usize, palette),
            Self::Own => own((at.clamp(0.0, 1.0) * OWN) as u32),
        }
    }

    /// The colour of a category; more than there are colours share them.
    pub fn category(self, category: usize, palette: &Palette) -> Color32 {
        palette.categories[category % palette.categories.len()]
    }

    /// So many colours of it, even from the first to the last. Categories are as many as they are.
    pub fn table(self, steps: usize, palette: &Palette) -> Vec<Color32> {
        match self {
            Self::Categories => palette.categories.to_vec(),
            Self::Own => Vec::new(),
            _ => (0..steps).map(|step| self.color(step as f32 / steps.saturating_sub(1).max(1) as f32, palette)).collect(),
        }
    }
}

/// The colour that a value of [`ColorMap::Own`] is.
pub fn own(packed: u32) -> Color32 {
    let [_, red, green, blue] = packed.to_be_bytes();
    Color32::from_rgb(red, green, blue)
}

impl Scale {
    /// The colours that the GPU looks up: 256 of a ramp, or those of the categories.
    pub fn table(&self) -> Vec<Color32> {
        self.map.table(256, if self.dark { &Palette::DARK } else { &Palette::LIGHT })
    }

    /// Where a value is between the ends, 0 to 1.
    pub fn place(&self, value: f32) -> f32 {
        let (value, low, high) = if self.log { (value.ln(), self.low.ln(), self.high.ln()) } else { (value, self.low, self.high) };
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{CATEGORIES, RAMP, Rgb};

    const PALETTES: [&Palette; 3] = [&Palette::LIGHT, &Palette::DARK, &Palette::HIGH_CONTRAST];

    fn linear(colour: Color32) -> [f64; 3] {
        [colour.r(), colour.g(), colour.b()].map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance(colour: Color32) -> f64 {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: Color32, b: Color32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn times(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// A colour as it is seen, by Machado's full dichromats, and Oklab of it.
    fn seen(colour: Color32, matrix: [[f64; 3]; 3]) -> [f64; 3] {
        let seen = times(matrix, linear(colour)).map(|channel| channel.clamp(0.0, 1.0));
        let cones = times(
            [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]],
            seen,
        );
        times(
            [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]],
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
    fn categories_are_told_apart_by_every_kind_of_eye() {
        for palette in PALETTES {
            for (at, &one) in palette.categories.iter().enumerate() {
                assert!(contrast(one, palette.canvas) >= 1.9, "{one:?} on the canvas: {:.2}", contrast(one, palette.canvas));
                for &other in &palette.categories[..at] {
                    let least = VISIONS.iter().map(|&vision| apart(one, other, vision)).fold(f64::INFINITY, f64::min);
                    assert!(least > 0.07, "{one:?} and {other:?}: {least:.3}");
                }
            }
        }
    }

    #[test]
    fn what_is_selected_differs_from_query_and_neighbours_without_its_hue() {
        for palette in PALETTES {
            assert!(contrast(palette.selected, palette.canvas) >= 7.0);
            for other in [palette.neighbor, palette.query, palette.point] {
                let least = VISIONS.iter().map(|&vision| apart(palette.selected, other, vision)).fold(f64::INFINITY, f64::min);
                assert!(least > 0.13, "{other:?}: {least:.3}");
                assert!(contrast(palette.selected, other) >= 2.0, "{other:?}: {:.2}", contrast(palette.selected, other));
            }
        }
    }

    #[test]
    fn ramps_stand_out_from_the_canvas_and_what_has_no_value_stays_behind() {
        for palette in PALETTES {
            for map in [ColorMap::Viridis, ColorMap::Cividis] {
                let least = map.table(64, palette).into_iter().map(|colour| contrast(colour, palette.canvas)).fold(f64::INFINITY, f64::min);
                assert!(least >= 1.45, "{map:?}: {least:.2}");
            }
            assert!((1.2..2.5).contains(&contrast(palette.muted, palette.canvas)));
        }
    }

    #[test]
    fn ramps_grow_lighter_in_even_steps() {
        for map in [ColorMap::Viridis, ColorMap::Cividis] {
            let lightness: Vec<f64> = map.table(RAMP, &Palette::DARK).into_iter().map(|colour| seen(colour, VISIONS[0])[0]).collect();
            let steps: Vec<f64> = lightness.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let mean = steps.iter().sum::<f64>() / steps.len() as f64;
            assert!(steps.iter().all(|&step| step > 0.25 * mean && step < 2.5 * mean), "{map:?}: {steps:.3?}");
        }
    }

    #[test]
    fn more_categories_than_colours_share_them() {
        let palette = &Palette::LIGHT;
        assert_eq!(ColorMap::Categories.category(CATEGORIES, palette), ColorMap::Categories.category(0, palette));
        assert_eq!(ColorMap::Categories.table(256, palette).len(), CATEGORIES);
        let Rgb(red, green, blue) = VIRIDIS[0];
        assert_eq!(ColorMap::Viridis.color(0.0, palette), Color32::from_rgb(red, green, blue));
        assert_eq!(ColorMap::Viridis.table(256, palette)[255], ColorMap::Viridis.color(1.0, palette));
    }

    #[test]
    fn both_dark_looks_have_the_same_colours() {
        for map in ColorMap::ALL {
            assert_eq!(map.table(32, &Palette::DARK), map.table(32, &Palette::HIGH_CONTRAST));
        }
    }

    #[test]
    fn a_scale_has_its_ends_at_its_ends() {
        let scale = |low, high, log| Scale { map: ColorMap::Viridis, low, high, log, dark: false };
        assert_eq!([0.0, 2.0, 3.0, 6.0, 9.0].map(|value| scale(2.0, 6.0, false).place(value)), [0.0, 0.0, 0.25, 1.0, 1.0]);
        assert!((scale(1.0, 100.0, true).place(10.0) - 0.5).abs() < 1e-6);
        assert_eq!(scale(3.0, 3.0, false).place(3.0), 0.0, "where all are alike, as the GPU has it");
    }
}
