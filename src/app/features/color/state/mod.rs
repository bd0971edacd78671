//! Point colours: a number for each row of the cloud, and a scale that maps it to a colour. [`ColorView`] is
//! the user's choice, [`channel`] the computed values.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::app::features::analysis::state::AnalysisKind;
use crate::app::model::select_mode::SelectMode;
use crate::engines::registry;
use crate::knn::Measure;

pub mod channel;

/// A number for each row of a cloud, which determines its colour.
#[derive(Debug)]
pub struct PointValues {
    /// Unique, to identify the matching GPU buffer.
    pub id: u64,
    /// Indexed by row of the cloud; NaN for rows without a value.
    pub values: Vec<f32>,
}

impl PointValues {
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
    /// From dark to bright, as light on a surface.
    Grey,
    /// Value c is the c-th category; colours repeat beyond the size of the set.
    Categories,
    /// Each value is an RGB colour with 8 bits per channel, as an integer.
    Own,
}

/// How values map to colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub map: ColorMap,
    /// The value of the first colour; smaller values are clamped.
    pub low: f32,
    /// The value of the last colour; larger values are clamped.
    pub high: f32,
    /// Whether the scale is logarithmic; both ends are then positive.
    pub log: bool,
    /// Whether the canvas is dark, to choose colours that contrast with it.
    pub dark: bool,
}

// The saved colour settings: which values, which colours, which range.

/// The values that colour points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedColorBy")]
pub enum ColorBy {
    #[default]
    Nothing,
    /// A dimension of the cloud, by number.
    Axis(usize),
    /// A column of the file, by name, or by number if the name is ambiguous.
    Column(String),
    FileColors,
    /// The distance of each point from the query.
    Distance,
    /// The rank of each neighbour.
    Rank,
    KthDistance,
    /// An analysis of all rows' neighbours.
    Analysis(AnalysisKind),
    /// A counter of each query's search, by the measure's column.
    Measure(String),
    /// Each query's bound at a moment of the search.
    Moment,
}

/// The saved form, which accepts the first version's names of three measures.
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
    pub fn measure(name: &str) -> Self {
        Self::Measure(name.to_owned())
    }

    /// The choices in the order of the chooser, including every measure that an engine declares; axes and
    /// columns appear once.
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
            Self::Moment => "max_distance over the search",
        }
        .to_owned()
    }

    pub fn about(&self) -> &'static str {
        match self {
            Self::Nothing => "All points in one colour.",
            Self::Axis(_) => "A dimension of the cloud.",
            Self::Column(_) => "Any column of the file: numbers, or texts as categories.",
            Self::FileColors => "Each point's red, green and blue from the file.",
            Self::Distance => "How far each point is from the picked query.",
            Self::Rank => "The picked query's neighbours by rank, from 0, as in the files.",
            Self::KthDistance => "Distance to each query's k-th neighbour: small where points are dense.",
            Self::Analysis(kind) => kind.about(),
            Self::Measure(name) => {
                registry::measures().find(|measure| measure.name == name).map_or("", |measure| measure.help)
            }
            Self::Moment => {
                "Each query's bound (max_distance) after the points seen so far. Play to watch it shrink."
            }
        }
    }

    /// Whether the choices are of the same kind, ignoring the axis or column.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Measure(a), Self::Measure(b)) => a == b,
            (Self::Analysis(a), Self::Analysis(b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether the values belong to a run's queries rather than to points.
    pub fn is_of_queries(&self) -> bool {
        matches!(self, Self::KthDistance | Self::Measure(_) | Self::Moment)
    }
}

/// The range of values that the colours span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum ColorRange {
    /// From minimum to maximum.
    Whole,
    /// The range of most values, as [`crate::cloud::bulk`] finds it; the others get the colours of the ends.
    #[default]
    #[serde(alias = "Middle")]
    Most,
    /// Typed low and high, low below high.
    Typed(f64, f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColorView {
    pub by: ColorBy,
    /// `None` uses the default for the values.
    pub map: Option<ColorMap>,
    pub range: ColorRange,
    /// Whether the scale is logarithmic.
    pub log: bool,
    /// Points seen, for [`ColorBy::Moment`].
    pub moment: u32,
}

impl Default for ColorView {
    fn default() -> Self {
        Self { by: ColorBy::Nothing, map: None, range: ColorRange::Most, log: false, moment: 1024 }
    }
}

impl ColorView {
    /// Chooses other values, and resets range and scale.
    pub fn choose(&mut self, by: ColorBy) {
        if self.by != by {
            (self.by, self.range, self.log) = (by, ColorRange::Most, false);
            // Maps for categories and for light may not fit the new values.
            self.map = match &self.by {
                ColorBy::Analysis(AnalysisKind::Relief) => Some(ColorMap::Grey),
                _ => self.map.filter(|map| ![ColorMap::Categories, ColorMap::Grey].contains(map)),
            };
        }
    }
}

#[derive(Clone, Debug)]
pub enum ColorAction {
    Set(ColorView),
    SelectCategory(usize, SelectMode),
    /// Select rows with values in a closed range.
    SelectBetween(f64, f64, SelectMode),
    /// Select this many of the highest or lowest values, and ties of the last one.
    SelectMost {
        count: usize,
        highest: bool,
        how: SelectMode,
    },
    Retry,
    /// Start or stop the replay.
    Play(bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_the_colour_source_resets_the_range() {
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
        assert_eq!((view.range, view.log, view.map), (ColorRange::Most, false, Some(ColorMap::Cividis)));
        view.map = Some(ColorMap::Categories);
        view.choose(ColorBy::Column("label".to_owned()));
        assert_eq!(view.map, None);
    }

    #[test]
    fn colour_sources_have_distinct_names() {
        let mut names: Vec<String> = ColorBy::all().iter().map(ColorBy::text).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ColorBy::all().len());
    }
}
