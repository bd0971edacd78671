//! An axis: from values to places, and where its ticks stand.

use crate::draw::pen::log_ticks;
use crate::text::{coordinate, thousands, unit_of};

/// How far apart values stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    Logarithmic,
}

impl Scale {
    fn of(self, value: f64) -> f64 {
        if self == Self::Linear { value } else { value.ln() }
    }
}

/// A scale over a length of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    scale: Scale,
    /// The values at both ends, or their logarithms.
    ends: [f64; 2],
    /// Places of both ends, in points.
    places: [f32; 2],
}

impl Axis {
    /// A linear axis, whose ends are known.
    pub fn linear(ends: [f64; 2], places: [f32; 2]) -> Self {
        Self { scale: Scale::Linear, ends, places }
    }

    /// A logarithmic axis on which all of `values` have room, and some around them; `None` if none of them is positive.
    pub fn around(values: impl Iterator<Item = f64>, places: [f32; 2]) -> Option<Self> {
        let logs = values.filter(|value| *value > 0.0 && value.is_finite()).map(f64::ln);
        let [min, max] = logs.fold([f64::INFINITY, f64::NEG_INFINITY], |[min, max], log| [min.min(log), max.max(log)]);
        // Within a factor of 6 there are always two ticks.
        let room = f64::max((max - min) * 0.06, (6f64.ln() - (max - min)) / 2.0);
        (min <= max).then_some(Self { scale: Scale::Logarithmic, ends: [min - room, max + room], places })
    }

    /// The same length for values in other units: so many of them to one of this axis.
    pub fn in_units(&self, per_one: f64) -> Self {
        let ends = self.ends.map(|end| if self.scale == Scale::Linear { end * per_one } else { end + per_one.ln() });
        Self { ends, ..*self }
    }

    /// The place of a value, which a logarithmic axis has only for positive ones.
    pub fn place(&self, value: f64) -> f32 {
        let [min, max] = self.ends;
        let along = (self.scale.of(value) - min) / (max - min);
        self.places[0] + along as f32 * (self.places[1] - self.places[0])
    }

    /// At most so many round values on it; the quarters of a linear one.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        if self.scale == Scale::Linear {
            return (0..=4).map(|quarter| self.ends[0] + (self.ends[1] - self.ends[0]) * f64::from(quarter) / 4.0).collect();
        }
        let [min, max] = self.ends.map(f64::exp);
        // Within about a decade, whole numbers of a power: 1, 2, 5 alone would be too few to read a factor from.
        let power = 10f64.powf(min.log10().floor());
        let whole = [1.0, 10.0].into_iter().flat_map(|by| [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0].map(|factor| factor * by * power));
        let whole: Vec<f64> = whole.filter(|tick| (min..=max).contains(tick)).collect();
        if max < 100.0 * power && whole.len() <= most { whole } else { log_ticks(min, max, most) }
    }
}

/// A large value as it stands at a tick: `500 G`.
pub fn large(value: f64) -> String {
    let (unit, scale) = unit_of(value);
    if unit.is_empty() { label(value) } else { format!("{} {unit}", label(value / scale)) }
}

/// A value as it stands at a tick.
pub fn label(value: f64) -> String {
    // Powers of ten are not exact: 3·10⁻⁴ may be 0.00030000000000000003.
    if value == 0.0 || (1.0..1e15).contains(&value) {
        return thousands(value.round() as u64);
    }
    coordinate(format!("{value:.6e}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_distances() {
        let axis = Axis::around([1.0, 100.0, 10.0].into_iter(), [50.0, 250.0]).unwrap();
        let places = [1.0, 10.0, 100.0].map(|value| axis.place(value));
        assert!((places[1] - 150.0).abs() < 1e-3 && ((places[2] - places[1]) - (places[1] - places[0])).abs() < 1e-3, "{places:?}");
        assert!(50.0 < places[0] && places[2] < 250.0, "there is room around them: {places:?}");
        let upwards = Axis::around([1.0, 100.0].into_iter(), [300.0, 100.0]).unwrap();
        assert!(upwards.place(100.0) < upwards.place(1.0));
    }

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        let axis = Axis::around([0.31, 0.9, 42.0].into_iter(), [0.0, 100.0]).unwrap();
        assert_eq!(axis.ticks(8).into_iter().map(label).collect::<Vec<_>>(), ["0.5", "1", "2", "5", "10", "20", "50"]);
        assert!(axis.ticks(8).iter().all(|tick| (0.0..=100.0).contains(&axis.place(*tick))));
        assert_eq!(label(65_536.0), "65,536");
        assert_eq!([1e-4, 3.0 * 10f64.powi(-1), 3.0 * 10f64.powi(-4)].map(label), ["0.0001", "0.3", "0.0003"]);
    }

    #[test]
    fn other_units_have_the_same_places() {
        let axis = Axis::around([2e9, 8e11].into_iter(), [300.0, 20.0]).unwrap();
        let shares = axis.in_units(4.0 / 3.2e12);
        assert!((shares.place(0.5) - axis.place(4e11)).abs() < 1e-3);
        assert_eq!(Axis::linear([0.0, 32.0], [0.0, 1.0]).in_units(0.5).ticks(8), [0.0, 4.0, 8.0, 12.0, 16.0]);
        assert_eq!([2e9, 5e11, 1e12, 700.0].map(large), ["2 G", "500 G", "1 T", "700"]);
    }

    #[test]
    fn a_short_axis_has_more_ticks() {
        let of = |ends: [f64; 2]| Axis::around(ends.into_iter(), [0.0, 1.0]).unwrap().ticks(8).into_iter().map(large).collect::<Vec<_>>();
        assert_eq!(of([2.2e11, 7e11]), ["200 G", "300 G", "400 G", "500 G", "600 G", "800 G"]);
        assert_eq!(of([7.0, 12.0]), ["4", "5", "6", "8", "10", "20"]);
    }

    #[test]
    fn a_linear_axis_has_its_quarters() {
        let axis = Axis::linear([0.0, 32.0], [132.0, 100.0]);
        assert_eq!(axis.ticks(8).into_iter().map(label).collect::<Vec<_>>(), ["0", "8", "16", "24", "32"]);
        assert_eq!([0.0, 8.0, 32.0].map(|value| axis.place(value)), [132.0, 124.0, 100.0]);
    }

    #[test]
    fn equal_values_are_in_the_middle_and_nothing_has_no_axis() {
        let axis = Axis::around([7.0, 7.0].into_iter(), [0.0, 100.0]).unwrap();
        assert!((axis.place(7.0) - 50.0).abs() < 1e-3);
        for value in [1.01, 2.1, 3.3, 5.1, 9.9] {
            assert!(Axis::around([value].into_iter(), [0.0, 1.0]).unwrap().ticks(8).len() >= 2, "{value}");
        }
        assert!(Axis::around([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter(), [0.0, 1.0]).is_none());
    }
}
