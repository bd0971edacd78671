//! Rows that are images: width and height, from the column names or as chosen.

use serde::{Deserialize, Serialize};

use crate::cloud::{Axis, PointCloud};

/// Maximum width and height.
const MAX_SIDE: usize = 512;

/// The layout of a row's pixels: rows from the top, with one value or red, green and blue per pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageShape {
    pub width: usize,
    pub height: usize,
    /// 1 or 3.
    pub channels: usize,
}

/// Whether rows are images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowImageChoice {
    /// Not chosen by the user; inferred from column names.
    #[default]
    #[serde(rename = "named")]
    Inferred,
    Nothing,
    #[serde(rename = "as")]
    Images(ImageShape),
}

impl ImageShape {
    /// `8 × 8`, `32 × 32 in colour`.
    pub fn text(self) -> String {
        format!("{} × {}{}", self.width, self.height, if self.channels == 3 { " in colour" } else { "" })
    }

    /// Whether rows with this many coordinates can be such images. Saved values may be out of range.
    pub fn fits(self, dims: usize) -> bool {
        let sides = (1..=MAX_SIDE).contains(&self.width) && (1..=MAX_SIDE).contains(&self.height);
        sides && [1, 3].contains(&self.channels) && self.width * self.height * self.channels == dims
    }

    /// The square images that rows with this many coordinates can be.
    pub fn possible(dims: usize) -> Vec<Self> {
        let square = |channels: usize| {
            let side = (dims / channels).isqrt();
            Some(Self { width: side, height: side, channels })
                .filter(|pictures| side > 1 && pictures.fits(dims))
        };
        [square(1), square(3)].into_iter().flatten().collect()
    }

    /// The image layout that the column names imply. Recognised names are `r0c0` to `r27c27`, as of an IDX
    /// file or an array of images (`r0c0red`, `r0c0green` and so on in colour), `pixel_0_0` to `pixel_7_7`,
    /// and a square number of `pixel0` … or `pixel1` …. All values must be non-negative.
    pub fn named(axes: &[Axis]) -> Option<Self> {
        let last = axes.last().filter(|_| axes.iter().all(|axis| axis.min >= 0.0))?;
        let pair = |name: &str, before: &str, between: &str| {
            let (row, column) = name.strip_prefix(before)?.split_once(between)?;
            Some((row.parse::<usize>().ok()?, column.parse::<usize>().ok()?))
        };
        let colours = ["red", "green", "blue"];
        let channel = |name: &str| colours.iter().position(|colour| name.ends_with(colour));
        let channels = if channel(&last.name).is_some() { 3 } else { 1 };
        for (before, between) in [("r", "c"), ("pixel_", "_")] {
            let pair = |at: usize, name: &str| {
                let name = if channels == 3 { name.strip_suffix(colours[at % channels])? } else { name };
                pair(name, before, between)
            };
            if let Some((row, column)) =
                pair(axes.len() - 1, &last.name).filter(|&(row, column)| row < MAX_SIDE && column < MAX_SIDE)
            {
                let pictures = Self { width: column + 1, height: row + 1, channels };
                let place = |at: usize| (at / channels / pictures.width, at / channels % pictures.width);
                let places =
                    axes.iter().enumerate().all(|(at, axis)| pair(at, &axis.name) == Some(place(at)));
                return Some(pictures).filter(|pictures| {
                    places && pictures.width > 1 && pictures.height > 1 && pictures.fits(axes.len())
                });
            }
        }
        let number = |axis: &Axis| {
            axis.name.strip_prefix("pixel").map(|rest| rest.trim_start_matches('_'))?.parse::<usize>().ok()
        };
        let first = number(axes.first()?).filter(|&first| first <= 1)?;
        let counted = axes.iter().enumerate().all(|(at, axis)| number(axis) == Some(first + at));
        Self::possible(axes.len()).into_iter().find(|pictures| counted && pictures.channels == 1)
    }

    /// The pixels of a row, one byte per channel, scaled from the cloud's minimum (black) to its maximum.
    pub fn pixels(self, cloud: &PointCloud, row: usize) -> Vec<u8> {
        let least = cloud.axes().iter().map(|axis| axis.min).fold(f64::INFINITY, f64::min);
        let most = cloud.axes().iter().map(|axis| axis.max).fold(f64::NEG_INFINITY, f64::max);
        let span = if most > least { most - least } else { 1.0 };
        (0..cloud.dims())
            .map(|axis| {
                ((cloud.coordinate(row, axis) - least) / span * 255.0).round().clamp(0.0, 255.0) as u8
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud_of;

    fn axes(names: impl Iterator<Item = String>) -> Vec<Axis> {
        names.map(|name| Axis { name, origin: 0.0, min: 0.0, max: 255.0 }).collect()
    }

    fn gray(width: usize, height: usize) -> Option<ImageShape> {
        Some(ImageShape { width, height, channels: 1 })
    }

    #[test]
    fn pixel_column_names_imply_image_rows() {
        let named =
            |names: &dyn Fn(usize) -> String, count: usize| ImageShape::named(&axes((0..count).map(names)));
        assert_eq!(named(&|at| format!("r{}c{}", at / 5, at % 5), 15), gray(5, 3));
        assert_eq!(named(&|at| format!("pixel_{}_{}", at / 8, at % 8), 64), gray(8, 8));
        let colours = ["red", "green", "blue"];
        let in_colour = Some(ImageShape { width: 4, height: 2, channels: 3 });
        assert_eq!(named(&|at| format!("r{}c{}{}", at / 12, at / 3 % 4, colours[at % 3]), 24), in_colour);
        assert_eq!(named(&|at| format!("r{}c{}{}", at / 12, at / 3 % 4, colours[(at + 1) % 3]), 24), None);
        assert_eq!(
            (named(&|at| format!("pixel{at}"), 784), named(&|at| format!("pixel{}", at + 1), 784)),
            (gray(28, 28), gray(28, 28))
        );
        // 60 is not a square, 14 values do not fill an image, and the other names are not names of pixels.
        assert_eq!(
            (named(&|at| format!("pixel{at}"), 60), named(&|at| format!("r{}c{}", at / 5, at % 5), 14)),
            (None, None)
        );
        assert_eq!(
            (
                named(&|at| format!("d{at}"), 64),
                named(&|at| format!("pixel{}", at * 2), 64),
                named(&|at| at.to_string(), 0)
            ),
            (None, None, None)
        );
        let mut negative = axes((0..64).map(|at| format!("pixel{at}")));
        negative[7].min = -1.0;
        assert_eq!(ImageShape::named(&negative), None);
    }

    #[test]
    fn square_row_lengths_can_be_images() {
        let texts =
            |dims: usize| ImageShape::possible(dims).into_iter().map(ImageShape::text).collect::<Vec<_>>();
        assert_eq!(
            (texts(64), texts(3072), texts(60)),
            (vec!["8 × 8".to_owned()], vec!["32 × 32 in colour".to_owned()], Vec::new())
        );
        assert!(texts(1).is_empty() && texts(3).is_empty() && texts(0).is_empty());
        assert!(
            !ImageShape { width: usize::MAX, height: 2, channels: 1 }.fits(8),
            "a file may contain such values"
        );
    }

    #[test]
    fn pixels_are_scaled_from_black_to_white() {
        let cloud = cloud_of(&["d0", "d1", "d2", "d3"], &[0.0, 4.0, 8.0, 16.0, 16.0, 0.0, 0.0, 0.0]);
        let pictures = ImageShape { width: 2, height: 2, channels: 1 };
        assert_eq!(
            (pictures.pixels(&cloud, 0), pictures.pixels(&cloud, 1)),
            (vec![0, 64, 128, 255], vec![255, 0, 0, 0])
        );
    }
}
