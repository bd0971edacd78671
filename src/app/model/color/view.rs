//! What is chosen: by what points are coloured, with which colours, over which range. All of it is kept between starts.

use serde::{Deserialize, Serialize};

use crate::app::model::color::ColorMap;

/// By what points are coloured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColorBy {
    /// All alike.
    #[default]
    Nothing,
    /// A dimension of the cloud, by number.
    Axis(usize),
    /// A column of the file, by name, or by number where several have the name.
    Column(String),
    /// How far each point is from the query.
    Distance,
    /// The place of each neighbour among the neighbours.
    Rank,
    /// How far the k-th neighbour of each query is.
    KthDistance,
    /// What the search of each query did.
    Merges,
    /// Likewise.
    Candidates,
    /// Likewise.
    GroupsHit,
    /// The bound of each query at a moment of the search.
    Moment,
}

impl ColorBy {
    /// What can be chosen, as the chooser lists it; of axes and columns the first.
    pub fn all() -> [Self; 10] {
        [
            Self::Nothing,
            Self::Axis(0),
            Self::Column(String::new()),
            Self::Distance,
            Self::Rank,
            Self::KthDistance,
            Self::Merges,
            Self::Candidates,
            Self::GroupsHit,
            Self::Moment,
        ]
    }

    /// As the chooser says it.
    pub fn text(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Axis(_) => "an axis",
            Self::Column(_) => "a column",
            Self::Distance => "distance to the query",
            Self::Rank => "rank",
            Self::KthDistance => "k-th distance",
            Self::Merges => "merges",
            Self::Candidates => "candidates",
            Self::GroupsHit => "groups hit",
            Self::Moment => "max_distance at a moment",
        }
    }

    /// What it means, for who hovers over it.
    pub fn about(&self) -> &'static str {
        match self {
            Self::Nothing => "All points alike.",
            Self::Axis(_) => "A dimension of the cloud.",
            Self::Column(_) => "Any column of the file: numbers, or texts as categories.",
            Self::Distance => "How far each point is from the picked query.",
            Self::Rank => "The picked query's neighbours by rank, from 0, as in the files.",
            Self::KthDistance => "How far each query's k-th neighbour is: small where points are dense.",
            Self::Merges => "How often each query's buffer was merged.",
            Self::Candidates => "How many points each query's buffer took in.",
            Self::GroupsHit => "In how many groups of 32 each query met a candidate.",
            Self::Moment => "Each query's bound after so many points were seen: watch it shrink.",
        }
    }

    /// Whether two choose the same, which axis or column aside.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether it is of queries that a run answered, not of points.
    pub fn is_of_queries(&self) -> bool {
        matches!(self, Self::KthDistance | Self::Merges | Self::Candidates | Self::GroupsHit | Self::Moment)
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

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColorView {
    /// By what.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_choice_has_a_range_of_its_own() {
        let mut view =
            ColorView { by: ColorBy::Merges, map: Some(ColorMap::Cividis), range: ColorRange::Typed(1.0, 2.0), log: true, ..ColorView::default() };
        view.choose(ColorBy::Merges);
        assert!(view.log, "the same choice changes nothing");
        view.choose(ColorBy::Axis(1));
        assert_eq!((view.range, view.log, view.map), (ColorRange::Whole, false, Some(ColorMap::Cividis)));
        view.map = Some(ColorMap::Categories);
        view.choose(ColorBy::Column("label".to_owned()));
        assert_eq!(view.map, None);
    }

    #[test]
    fn every_choice_has_a_name_of_its_own() {
        let mut names: Vec<&str> = ColorBy::all().iter().map(ColorBy::text).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ColorBy::all().len());
    }
}
