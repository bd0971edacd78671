//! Which tracks Timeline has, from top to bottom, and where each lies.

use egui::Rangef;

use crate::app::model::timeline::TimelineView;
use crate::run::Timeline;

/// What one horizontal track shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A phase that the host timed, by its place in the timeline.
    Phase(usize),
    /// What stands over the multiprocessors.
    Warps,
    /// A multiprocessor, by its place: how many warps it has at a time.
    Multiprocessor(usize),
    /// One track of warps of an open multiprocessor.
    Track(usize, usize),
}

impl Row {
    /// In points of the screen.
    pub fn height(self) -> f32 {
        match self {
            Self::Phase(_) | Self::Multiprocessor(_) => 22.0,
            Self::Warps => 26.0,
            Self::Track(..) => 16.0,
        }
    }
}

/// All rows with their tops and bottoms below the first.
pub fn rows(timeline: &Timeline, view: &TimelineView) -> Vec<(Row, Rangef)> {
    let phases = (0..timeline.phases.len()).map(Row::Phase);
    let warps = (!timeline.multiprocessors.is_empty()).then_some(Row::Warps);
    let multiprocessors = timeline.multiprocessors.iter().enumerate().flat_map(|(at, multiprocessor)| {
        let tracks = if view.open.contains(&multiprocessor.sm) { multiprocessor.tracks.len() } else { 0 };
        std::iter::once(Row::Multiprocessor(at)).chain((0..tracks).map(move |track| Row::Track(at, track)))
    });
    let mut top = 0.0;
    let place = |row: Row| {
        let range = Rangef::new(top, top + row.height());
        top = range.max;
        (row, range)
    };
    phases.chain(warps).chain(multiprocessors).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::profiled_record;

    #[test]
    fn rows_follow_one_another_and_open_multiprocessors_have_tracks() {
        let timeline = Timeline::of(&profiled_record());
        let mut view = TimelineView::default();
        let closed = rows(&timeline, &view);
        assert_eq!(closed.iter().filter(|(row, _)| matches!(row, Row::Multiprocessor(_))).count(), timeline.multiprocessors.len());
        assert!(!closed.iter().any(|(row, _)| matches!(row, Row::Track(..))));
        let first = &timeline.multiprocessors[0];
        view.open.insert(first.sm);
        let open = rows(&timeline, &view);
        assert_eq!(open.len(), closed.len() + first.tracks.len());
        assert!(open.windows(2).all(|pair| pair[0].1.max == pair[1].1.min) && open[0].1.min == 0.0);
    }
}
