//! Point colours: a number for each row of the cloud, and a scale that maps it to a colour. [`ColorView`] is
//! the user's choice, [`channel`] the result: values, and what the legend says about them.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::app::features::analysis::state::AnalysisKind;
use crate::app::model::how::How;
use crate::engines::registry;
use crate::knn::Measure;

pub mod channel;

/// A number for each row of a cloud, from which its colour is computed.
#[derive(Debug)]
pub struct PointValues {
    /// Unique, so that a buffer on the GPU can be matched with it.
    pub id: u64,
    /// Indexed by row of the cloud; NaN where a row has no value.
    pub values: Vec<f32>,
}

impl PointValues {
    /// Values under a new id.
    pub fn new(values: Vec<f32>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self { id: LAST.fetch_add(1, Ordering::Relaxed) + 1, values }
    }
}

/// A map from 0..1 to colours, or from categories to colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ColorMap {
    /// Dark violet to yellow.
    #[default]
    Viridis,
    /// Dark blue to yellow, safe for red-green colour blindness.
    Cividis,
    /// Value c is the c-th category; colours repeat beyond the size of the set.
    Categories,
    /// A value is its own colour: red, green and blue of eight bits each, as the whole number that they are
    /// together.
    Own,
}

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub map: ColorMap,
    /// The value of the first colour; smaller values are clamped.
    pub low: f32,
    /// The value of the last colour; larger values are clamped.
    pub high: f32,
    /// Whether the scale is logarithmic; then both ends are positive.
    pub log: bool,
    /// Whether the canvas is dark: the colours are chosen to contrast with it.
    pub dark: bool,
}

// What is chosen: by what points are coloured, with which colours, over which range. All of it is kept
// between starts.

/// By what points are coloured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedColorBy")]
pub enum ColorBy {
    /// One colour for all points.
    #[default]
    Nothing,
    /// A dimension of the cloud, by number.
    Axis(usize),
    /// A column of the file, by name, or by number where several have the name.
    Column(String),
    /// The colour that the file has of each point.
    FileColors,
    /// How far each point is from the query.
    Distance,
    /// The place of each neighbour among the neighbours.
    Rank,
    /// How far the k-th neighbour of each query is.
    KthDistance,
    /// What the neighbours of all rows say of each.
    Analysis(AnalysisKind),
    /// What the search of each query counted, by the measure's column.
    Measure(String),
    /// The bound of each query at a moment of the search.
    Moment,
}

/// As it is saved: states of the first version name three measures.
#[derive(Deserialize)]
enum SavedColorBy {
    Nothing,
    Axis(usize),
    Column(String),
    FileColors,
    Distance,
    Rank,
    KthDistance,
    Analysis(AnalysisKind),
    Merges,
    Candidates,
    GroupsHit,
    Measure(String),
    Moment,
}

impl From<SavedColorBy> for ColorBy {
    fn from(saved: SavedColorBy) -> Self {
        match saved {
            SavedColorBy::Nothing => Self::Nothing,
            SavedColorBy::Axis(axis) => Self::Axis(axis),
            SavedColorBy::Column(column) => Self::Column(column),
            SavedColorBy::FileColors => Self::FileColors,
            SavedColorBy::Distance => Self::Distance,
            SavedColorBy::Rank => Self::Rank,
            SavedColorBy::KthDistance => Self::KthDistance,
            SavedColorBy::Analysis(kind) => Self::Analysis(kind),
            SavedColorBy::Merges => Self::measure("merges"),
            SavedColorBy::Candidates => Self::measure("candidates"),
            SavedColorBy::GroupsHit => Self::measure("groups_hit"),
            SavedColorBy::Measure(name) => Self::Measure(name),
            SavedColorBy::Moment => Self::Moment,
        }
    }
}

impl ColorBy {
    /// By a measure, of its column's name.
    pub fn measure(name: &str) -> Self {
        Self::Measure(name.to_owned())
    }

    /// What can be chosen, as the chooser lists it; of axes and columns the first, and every measure that an
    /// engine declares.
    pub fn all() -> Vec<Self> {
        let before = [
            Self::Nothing,
            Self::Axis(0),
            Self::Column(String::new()),
            Self::FileColors,
            Self::Distance,
            Self::Rank,
            Self::KthDistance,
        ];
        let analyses = AnalysisKind::ALL.iter().map(|&kind| Self::Analysis(kind));
        let measures = registry::measures().map(|measure| Self::measure(measure.name));
        before.into_iter().chain(measures).chain([Self::Moment]).chain(analyses).collect()
    }

    /// As the chooser says it.
    pub fn text(&self) -> String {
        match self {
            Self::Nothing => "nothing",
            Self::Axis(_) => "an axis",
            Self::Column(_) => "a column",
            Self::FileColors => "the file's colours",
            Self::Distance => "distance to the query",
            Self::Rank => "rank",
            Self::KthDistance => "k-th distance",
            Self::Analysis(kind) => kind.title(),
            Self::Measure(name) => return Measure::words(name),
            Self::Moment => "max_distance at a moment",
        }
        .to_owned()
    }

    /// What it means, for who hovers over it.
    pub fn about(&self) -> &'static str {
        match self {
            Self::Nothing => "All points in one colour.",
            Self::Axis(_) => "A dimension of the cloud.",
            Self::Column(_) => "Any column of the file: numbers, or texts as categories.",
            Self::FileColors => "The red, green and blue that the file has of each point.",
            Self::Distance => "How far each point is from the picked query.",
            Self::Rank => "The picked query's neighbours by rank, from 0, as in the files.",
            Self::KthDistance => "Distance to each query's k-th neighbour: small where points are dense.",
            Self::Analysis(kind) => kind.about(),
            Self::Measure(name) => {
                registry::measures().find(|measure| measure.name == name).map_or("", |measure| measure.help)
            }
            Self::Moment => "Each query's bound (max_distance) after so many points: watch it shrink.",
        }
    }

    /// Whether two choose the same, which axis or column aside.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Measure(a), Self::Measure(b)) => a == b,
            (Self::Analysis(a), Self::Analysis(b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether it is of queries that a run answered, not of points.
    pub fn is_of_queries(&self) -> bool {
        matches!(self, Self::KthDistance | Self::Measure(_) | Self::Moment)
    }
}

/// From which value to which colours go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum ColorRange {
    /// From the least to the largest.
    #[default]
    Whole,
    /// The middle 96 %: what is below the 2nd or above the 98th percentile has the colour of the end.
    Middle,
    /// As it was typed: low and high, low below high.
    Typed(f64, f64),
}

/// Everything that is chosen about the colouring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColorView {
    pub by: ColorBy,
    /// Which colours; `None` takes those that fit.
    pub map: Option<ColorMap>,
    /// From which value to which.
    pub range: ColorRange,
    /// Whether equal factors are equal steps of colour.
    pub log: bool,
    /// Points seen, for [`ColorBy::Moment`].
    pub moment: u32,
}

impl Default for ColorView {
    fn default() -> Self {
        Self { by: ColorBy::Nothing, map: None, range: ColorRange::Whole, log: false, moment: 1024 }
    }
}

impl ColorView {
    /// Another choice, whose range and scale are its own.
    pub fn choose(&mut self, by: ColorBy) {
        if self.by != by {
            (self.by, self.range, self.log) = (by, ColorRange::Whole, false);
            // Categories of one column say nothing of another.
            self.map = self.map.filter(|&map| map != ColorMap::Categories);
        }
    }
}

/// What the chooser and the legend ask for.
#[derive(Clone, Debug)]
pub enum ColorAction {
    Set(ColorView),
    /// The rows of a category are selected.
    SelectCategory(usize, How),
    /// What has a value between two, both included, is selected.
    SelectBetween(f64, f64, How),
    /// Select so many of the highest or lowest values, and those that equal the last of them.
    SelectMost {
        count: usize,
        highest: bool,
        how: How,
    },
    /// What failed or was cancelled is tried again.
    Retry,
    /// The moment moves on by itself, or stops.
    Play(bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_choice_has_a_range_of_its_own() {
        let mut view = ColorView {
            by: ColorBy::measure("merges"),
            map: Some(ColorMap::Cividis),
            range: ColorRange::Typed(1.0, 2.0),
            log: true,
            ..ColorView::default()
        };
        view.choose(ColorBy::measure("merges"));
        assert!(view.log, "the same choice changes nothing");
        view.choose(ColorBy::Axis(1));
        assert_eq!((view.range, view.log, view.map), (ColorRange::Whole, false, Some(ColorMap::Cividis)));
        view.map = Some(ColorMap::Categories);
        view.choose(ColorBy::Column("label".to_owned()));
        assert_eq!(view.map, None);
    }

    #[test]
    fn every_choice_has_a_name_of_its_own() {
        let mut names: Vec<String> = ColorBy::all().iter().map(ColorBy::text).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ColorBy::all().len());
    }
}
