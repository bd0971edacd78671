//! Computed values: one for each row, with the facts that the legend shows.

use std::sync::Arc;

use rayon::iter::ParallelIterator as _;
use rayon::slice::ParallelSlice as _;

use super::{ColorMap, ColorRange, ColorView, PointValues, Scale};
use crate::cloud::bulk;
use crate::text;

/// The points that have the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointSet {
    Data,
    /// Rows of the query file, which are separate points.
    Queries,
}

/// Numeric values.
#[derive(Clone, Debug)]
pub struct NumericValues {
    /// By row, minus [`Self::offset`].
    pub values: Arc<PointValues>,
    /// Subtracted to fit the values' differences into f32; usually 0.
    pub offset: f64,
    /// Minimum and maximum, offset included.
    pub whole: (f64, f64),
    /// The range of most values, offset included.
    pub most: (f64, f64),
    /// The smallest positive value: the low end of a log scale that would start at 0.
    pub least_positive: Option<f64>,
    pub integers: bool,
    /// Some thousands of the values, ascending, minus the offset; used for the histogram.
    sample: Arc<[f32]>,
}

impl NumericValues {
    /// Values minus an offset, NaN for rows without a value; `None` if no row has one.
    pub fn new(values: Vec<f32>, offset: f64) -> Option<Self> {
        let nothing = (f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, true);
        let join = |a: (f32, f32, f32, bool), b: (f32, f32, f32, bool)| {
            (a.0.min(b.0), a.1.max(b.1), a.2.min(b.2), a.3 && b.3)
        };
        let of_one = |value: f32| {
            (value, value, if value > 0.0 { value } else { f32::INFINITY }, value.fract() == 0.0)
        };
        let of_part = |part: &[f32]| {
            part.iter().filter(|value| !value.is_nan()).fold(nothing, |all, &value| join(all, of_one(value)))
        };
        let (low, high, positive, integers) =
            values.par_chunks(1 << 16).map(of_part).reduce(|| nothing, join);
        if low > high {
            return None;
        }
        let sample = sample(&values);
        let integers = integers && offset.fract() == 0.0;
        let most = match bulk(&sample, [low, high].map(f64::from)) {
            [low, high] if integers => (low.floor(), high.ceil()),
            [low, high] => (low, high),
        };
        let shown = |value: f32| f64::from(value) + offset;
        Some(Self {
            values: Arc::new(PointValues::new(values)),
            offset,
            whole: (shown(low), shown(high)),
            most: (most.0 + offset, most.1 + offset),
            least_positive: positive.is_finite().then(|| shown(positive)),
            integers,
            sample,
        })
    }

    /// Counts of the sample in `bins` equal parts of a scale, ignoring values beyond its ends.
    pub fn histogram(&self, (low, high, log): (f64, f64, bool), bins: usize) -> Vec<usize> {
        let at = |part: usize| {
            let share = part as f64 / bins as f64;
            let value = if log { low * (high / low).powf(share) } else { low + (high - low) * share };
            (value - self.offset) as f32
        };
        let below = |part: usize| match part {
            // The last bin includes its upper end.
            part if part == bins => self.sample.partition_point(|&value| value <= at(part)),
            part => self.sample.partition_point(|&value| value < at(part)),
        };
        let edges: Vec<usize> = (0..=bins).map(below).collect();
        edges.windows(2).map(|edge| edge[1].saturating_sub(edge[0])).collect()
    }

    /// A range in words; an infinite end is open.
    pub fn span(&self, from: f64, to: f64) -> String {
        let text =
            |value: f64| if self.integers { text::coordinate(value.round()) } else { text::digits(value, 4) };
        match (from.is_finite(), to.is_finite()) {
            (true, true) => format!("{} to {}", text(from), text(to)),
            (true, false) => format!("≥ {}", text(from)),
            (false, true) => format!("≤ {}", text(to)),
            (false, false) => "of any value".to_owned(),
        }
    }

    /// The approximate quantile.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.sample.len().saturating_sub(1);
        let at = (share * last as f64).round() as usize;
        self.sample.get(at.min(last)).map_or(f64::NAN, |&value| f64::from(value)) + self.offset
    }

    /// The `count`-th highest or lowest value, or the last if there are fewer; `None` without values.
    pub fn extreme(&self, count: usize, highest: bool) -> Option<f64> {
        let mut values: Vec<f32> =
            self.values.values.iter().copied().filter(|value| !value.is_nan()).collect();
        let at = count.min(values.len()).checked_sub(1)?;
        let order = |a: &f32, b: &f32| if highest { b.total_cmp(a) } else { a.total_cmp(b) };
        let (_, &mut value, _) = values.select_nth_unstable_by(at, order);
        Some(f64::from(value) + self.offset)
    }

    /// A note on values beyond the ends of the scale, if there are any.
    pub fn clamped(&self, view: &ColorView) -> Option<String> {
        let (low, high, _) = self.ends(view);
        let (least, most) = self.whole;
        let range = self.span(least, most);
        (least < low || most > high)
            .then(|| format!("values range from {range}; those outside the scale take its end colours"))
    }

    /// Whether a log scale is possible; a value of 0 gets the colour of the low end.
    pub fn can_be_log(&self) -> bool {
        self.whole.0 >= 0.0 && self.least_positive.is_some() && self.offset == 0.0
    }

    /// The ends of the scale, and whether it is logarithmic.
    pub fn ends(&self, view: &ColorView) -> (f64, f64, bool) {
        let (low, high) = match view.range {
            ColorRange::Typed(low, high) if low < high => (low, high),
            ColorRange::Most => self.most,
            ColorRange::Whole | ColorRange::Typed(..) => self.whole,
        };
        let log = view.log && self.can_be_log() && high > 0.0;
        match self.least_positive {
            Some(least) if log && low <= 0.0 => (least.min(high), high, true),
            _ => (low, high, log),
        }
    }
}

/// A sample of the values, evenly spaced by row, ascending.
fn sample(values: &[f32]) -> Arc<[f32]> {
    const MAX_SAMPLE: usize = 1 << 14;
    let there = || values.iter().copied().filter(|value| !value.is_nan());
    let step = there().count().div_ceil(MAX_SAMPLE).max(1);
    let mut sample: Vec<f32> = there().step_by(step).collect();
    sample.sort_unstable_by(f32::total_cmp);
    sample.into()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// As in the file.
    pub name: String,
    pub count: u64,
}

/// Categorical values.
#[derive(Clone, Debug)]
pub struct Categories {
    /// Category index by row, NaN for rows without a value.
    pub values: Arc<PointValues>,
    /// In the order of colours: sorted by name if each has its own colour, otherwise by frequency.
    pub list: Vec<Category>,
}

/// The values that colour points.
#[derive(Clone, Debug)]
pub struct Channel {
    pub points: PointSet,
    /// Name: "merges".
    pub title: String,
    /// Unit: "per query", "radians".
    pub unit: &'static str,
    pub numbers: Option<NumericValues>,
    /// The values as categories, if they are few.
    pub categories: Option<Categories>,
    /// A colour for each row ([`ColorMap::Own`]), instead of numbers and categories.
    pub colors: Option<Arc<PointValues>>,
    pub prefers_categories: bool,
    /// The rows with a value, ascending, if they are few.
    pub sparse_rows: Option<Arc<[u32]>>,
    /// Number of rows without a value.
    pub missing: u64,
    /// The words after that number: "were not asked".
    pub why_missing: &'static str,
    /// An additional note for the legend.
    pub note: Option<String>,
}

impl Channel {
    /// A numeric channel; `missing` is the number of rows without a value, and their description.
    pub fn of_numbers(
        points: PointSet,
        title: impl Into<String>,
        unit: &'static str,
        numbers: Option<NumericValues>,
        (missing, why_missing): (u64, &'static str),
    ) -> Self {
        let title = title.into();
        Self {
            points,
            title,
            unit,
            numbers,
            categories: None,
            colors: None,
            prefers_categories: false,
            sparse_rows: None,
            missing,
            why_missing,
            note: None,
        }
    }

    /// The colour map to use: the chosen one if it fits.
    pub fn map(&self, chosen: Option<ColorMap>) -> ColorMap {
        let categories = match (chosen, &self.numbers, &self.categories) {
            (_, None, Some(_)) => true,
            (_, _, None) => false,
            (Some(map), Some(_), Some(_)) => map == ColorMap::Categories,
            (None, Some(_), Some(_)) => self.prefers_categories,
        };
        match chosen {
            _ if self.colors.is_some() => ColorMap::Own,
            _ if categories => ColorMap::Categories,
            Some(map) if map != ColorMap::Categories => map,
            _ => ColorMap::Viridis,
        }
    }

    /// Values and scale to draw with; `None` if no row has a value.
    pub fn scaled(&self, view: &ColorView, dark: bool) -> Option<(Arc<PointValues>, Scale)> {
        let map = self.map(view.map);
        if let Some(colors) = &self.colors {
            return Some((Arc::clone(colors), Scale { map, low: 0.0, high: 1.0, log: false, dark }));
        }
        if map == ColorMap::Categories {
            let categories = self.categories.as_ref()?;
            let high = categories.list.len().saturating_sub(1) as f32;
            return Some((Arc::clone(&categories.values), Scale { map, low: 0.0, high, log: false, dark }));
        }
        let numbers = self.numbers.as_ref()?;
        let (low, high, log) = numbers.ends(view);
        let scale = Scale {
            map,
            low: (low - numbers.offset) as f32,
            high: (high - numbers.offset) as f32,
            log,
            dark,
        };
        Some((Arc::clone(&numbers.values), scale))
    }

    /// A row's value in words.
    pub fn text(&self, row: usize) -> Option<String> {
        let own = |values: &PointValues| values.values.get(row).copied().filter(|value| !value.is_nan());
        if let Some(category) =
            self.categories.as_ref().and_then(|all| all.list.get(own(&all.values)? as usize))
        {
            return Some(category.name.clone());
        }
        if let Some(packed) = self.colors.as_ref().and_then(|colors| own(colors)) {
            let [_, red, green, blue] = (packed as u32).to_be_bytes();
            return Some(format!("red {red}, green {green}, blue {blue}"));
        }
        let numbers = self.numbers.as_ref()?;
        let value = f64::from(own(&numbers.values)?) + numbers.offset;
        Some(if numbers.integers { text::coordinate(value) } else { text::digits(value, 6) })
    }
}

#[derive(Clone, Debug, Default)]
pub enum ColoringState {
    #[default]
    Nothing,
    /// What the user has to do first.
    Missing(String),
    Working,
    Ready(Arc<Channel>),
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(numbers: Option<NumericValues>, categories: Option<Categories>) -> Channel {
        Channel {
            categories,
            prefers_categories: true,
            ..Channel::of_numbers(PointSet::Data, "t", "", numbers, (0, ""))
        }
    }

    #[test]
    fn ranges_ignore_missing_values() {
        let mut values: Vec<f32> = (0..=100).rev().map(|value| value as f32).collect();
        values.extend([f32::NAN; 40]);
        let numbers = NumericValues::new(values, 0.0).expect("101 values");
        assert_eq!((numbers.whole, numbers.most, numbers.integers), ((0.0, 100.0), (0.0, 100.0), true));
        let ends =
            |range: ColorRange, log: bool| numbers.ends(&ColorView { range, log, ..ColorView::default() });
        assert_eq!(ends(ColorRange::Typed(3.0, 4.5), false), (3.0, 4.5, false));
        assert_eq!(ends(ColorRange::Typed(4.0, 4.0), false), (0.0, 100.0, false), "not a range");
        assert_eq!(
            ends(ColorRange::Whole, true),
            (1.0, 100.0, true),
            "0 has no logarithm: the scale begins at the smallest positive value"
        );
        let below = NumericValues::new(vec![-1.0, 1.0], 0.0).expect("two values");
        assert!(!below.can_be_log(), "negative values have no logarithm");
        assert!(!NumericValues::new(vec![0.0, 0.0], 0.0).is_some_and(|numbers| numbers.can_be_log()));
        assert!(NumericValues::new(vec![f32::NAN; 3], 0.0).is_none());
        assert!(
            NumericValues::new(vec![0.5, 2.0], 0.0)
                .is_some_and(|numbers| numbers.can_be_log() && !numbers.integers)
        );
    }

    #[test]
    fn an_outlier_does_not_flatten_the_colours() {
        let values: Vec<f32> =
            (0..1000).map(|value| value as f32 / 1000.0).chain([1000.0, f32::NAN]).collect();
        let numbers = NumericValues::new(values, 50.0).expect("1,001 values");
        let with = |range| ColorView { range, ..ColorView::default() };
        let (low, high, log) = numbers.ends(&ColorView::default());
        assert!(low == 50.0 && (51.0..51.3).contains(&high) && !log, "{low} to {high}");
        let scale =
            channel(Some(numbers.clone()), None).scaled(&with(ColorRange::Most), true).expect("values").1;
        assert!(scale.place(0.9) - scale.place(0.1) > 0.6 && scale.place(1000.0) == 1.0);
        let note = numbers.clamped(&ColorView::default()).expect("a value beyond the scale");
        assert!(note.starts_with("values range from 50.00 to 1,050; those outside"), "{note}");
        assert_eq!(numbers.clamped(&with(ColorRange::Whole)), None, "nothing is clamped");
    }

    #[test]
    fn histograms_count_values_within_the_scale() {
        let values = [1.0, 1.0, 2.0, 10.0, 99.0, f32::NAN, 100.0].to_vec();
        let numbers = NumericValues::new(values, 1000.0).expect("six values");
        assert_eq!(numbers.histogram((1000.0, 1100.0, false), 4), [4, 0, 0, 2], "both ends are included");
        assert_eq!(
            numbers.histogram((1002.0, 1010.0, false), 2),
            [1, 1],
            "values beyond the ends are not counted"
        );
        assert_eq!([0.0, 0.5, 1.0].map(|share| numbers.quantile(share)), [1001.0, 1010.0, 1100.0]);
        let powers =
            NumericValues::new((0..6).map(|power| 10f32.powi(power)).collect(), 0.0).expect("six values");
        assert_eq!(powers.histogram((1.0, 1e5, true), 5).iter().sum::<usize>(), 6);
        let many = NumericValues::new((0..1_000_000).map(|value| value as f32).collect(), 0.0).expect("many");
        let bins = many.histogram((0.0, 999_999.0, false), 10);
        assert!(bins.iter().all(|&bin| bin.abs_diff(bins[0]) <= 2), "{bins:?}");
    }

    #[test]
    fn only_displayed_values_include_the_offset() {
        let numbers = NumericValues::new(vec![-1.0, 1.0], 5e6).expect("two values");
        assert_eq!(numbers.whole, (4_999_999.0, 5_000_001.0));
        let (values, scale) = channel(Some(numbers), None)
            .scaled(&ColorView { log: true, ..ColorView::default() }, true)
            .expect("values");
        assert_eq!((scale.low, scale.high, scale.log), (-1.0, 1.0, false));
        assert_eq!(values.values, [-1.0, 1.0]);
    }

    #[test]
    fn colour_maps_match_the_value_type() {
        let numbers = || NumericValues::new(vec![1.0, 2.0, 2.0], 0.0);
        let categories = || {
            let list = ["a", "b"].map(|name| Category { name: name.to_owned(), count: 1 }).to_vec();
            Some(Categories { values: Arc::new(PointValues::new(vec![0.0, 1.0, 1.0])), list })
        };
        let all = [None, Some(ColorMap::Viridis), Some(ColorMap::Cividis), Some(ColorMap::Categories)];
        let maps = |channel: Channel| all.map(|chosen| channel.map(chosen));
        assert_eq!(
            maps(channel(numbers(), None)),
            [ColorMap::Viridis, ColorMap::Viridis, ColorMap::Cividis, ColorMap::Viridis]
        );
        assert_eq!(maps(channel(None, categories())), [ColorMap::Categories; 4]);
        assert_eq!(
            maps(channel(numbers(), categories())),
            [ColorMap::Categories, ColorMap::Viridis, ColorMap::Cividis, ColorMap::Categories]
        );
        assert_eq!(
            [0, 2, 3].map(|row| channel(numbers(), categories()).text(row)),
            [Some("a".to_owned()), Some("b".to_owned()), None]
        );
        assert_eq!([0, 3].map(|row| channel(numbers(), None).text(row)), [Some("1".to_owned()), None]);
    }
}
