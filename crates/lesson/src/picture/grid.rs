//! How the panels of a lesson share its page, from which step on each is shown, and which of them a step is
//! about.

use super::page::strips;
use super::scene::Area;
use super::{Panel, View, batches};
use crate::algorithms::tree::TreeStep;
use crate::lessons::Lesson;
use crate::step::{SortPass, Step};

/// The panels of a lesson, with their shares of the width of columns and the height of rows. Panels that are
/// not shown yet leave their room to the others.
#[derive(Clone, Copy, Debug)]
pub enum PanelGrid {
    /// A panel, shown after this many stops of the lesson's own level: 0 for the opening. Of several panels,
    /// the one that the step is about, or the first.
    Show(&'static [Panel], usize),
    /// Parts side by side.
    Columns(&'static [(f32, Self)]),
    /// Parts above one another.
    Rows(&'static [(f32, Self)]),
}

/// The number of stops of a panel that is shown only at the end.
pub const AT_END: usize = usize::MAX;

/// No panel waits for more stops than this, except for the end.
const MAX_STOPS: usize = 16;

/// Panels that fit beside the map, which is square.
const BESIDE_MAP: [Panel; 3] = [Panel::Account, Panel::Cost, Panel::Meter];

/// Width of the map alone, with its legend, relative to its height.
const MAP_RATIO: f32 = 1.4;

/// A moment of a lesson, as it selects panels.
#[derive(Clone, Copy)]
pub(crate) struct GridMoment {
    /// Stops since the opening; [`AT_END`] if all panels are shown.
    stops: usize,
    /// The panels that the step is about, most of all the first.
    about: &'static [Panel],
}

impl GridMoment {
    pub fn new(lesson: &Lesson, view: &View<'_>) -> Self {
        Self { stops: stops(lesson, view), about: subjects(view) }
    }

    /// The same moment with all panels.
    pub fn complete(self) -> Self {
        Self { stops: AT_END, ..self }
    }
}

impl PanelGrid {
    /// The panels at a moment, with their areas in a room. The map alone does not need all of the width.
    pub(crate) fn place_all(&self, moment: GridMoment, room: Area, gap: f32) -> Vec<(Panel, Area)> {
        let mut placed = self.place(moment, room, gap);
        if let [(Panel::Cloud, map)] = placed.as_mut_slice() {
            let spare = (map.width - map.height * MAP_RATIO).max(0.0);
            (map.x, map.width) = (map.x + spare / 2.0, map.width - spare);
        }
        placed
    }

    /// The panels at a moment, with their areas in a room.
    fn place(&self, moment: GridMoment, room: Area, gap: f32) -> Vec<(Panel, Area)> {
        let (Self::Columns(parts) | Self::Rows(parts)) = self else {
            return self.panels(moment).into_iter().take(1).map(|panel| (panel, room)).collect();
        };
        let shown = parts.iter().filter(|(_, part)| !part.panels(moment).is_empty());
        let whole: f32 = shown.clone().map(|(share, _)| share).sum();
        let mut strip = strips(room, shown.clone().count(), gap, matches!(self, Self::Rows(_)));
        shown.flat_map(|(share, part)| part.place(moment, strip(share / whole), gap)).collect()
    }

    /// The panel that a step is about, and a table beside the map.
    pub(crate) fn place_subject(&self, moment: GridMoment, room: Area, gap: f32) -> Vec<(Panel, Area)> {
        let panels = self.panels(moment);
        let about = moment.about.iter().chain(&panels).find(|panel| panels.contains(panel));
        let beside = BESIDE_MAP.iter().find(|panel| about == Some(&Panel::Cloud) && panels.contains(panel));
        let shares: &[f32] = if beside.is_some() { &[0.62, 0.38] } else { &[1.0] };
        let strips = shares.iter().copied().map(strips(room, shares.len(), gap, false));
        about.into_iter().chain(beside).copied().zip(strips).collect()
    }

    /// The panels that are shown at a moment; of alternatives, the one that the step is about comes first.
    fn panels(&self, moment: GridMoment) -> Vec<Panel> {
        match self {
            Self::Show(panels, from) if moment.stops >= *from => {
                let about = moment.about.iter().find(|panel| panels.contains(panel));
                let others = panels.iter().filter(|panel| Some(*panel) != about);
                about.into_iter().chain(others).copied().collect()
            }
            Self::Show(..) => Vec::new(),
            Self::Columns(parts) | Self::Rows(parts) => {
                parts.iter().flat_map(|(_, part)| part.panels(moment)).collect()
            }
        }
    }
}

/// The stops of the lesson's level since its opening. All panels are shown outside its range, and while a
/// question is open, which may be about any of them.
fn stops(lesson: &Lesson, view: &View<'_>) -> usize {
    let (recording, position) = (view.recording(), view.cursor.position());
    let range = recording.opening().map(|opening| &opening.range);
    let Some(range) = range.filter(|range| range.contains(&position) && view.reveals && !view.asking) else {
        return AT_END;
    };
    let is_stop = |&at: &usize| recording.level(at) <= lesson.level;
    (range.start..position).filter(is_stop).take(MAX_STOPS).count()
}

/// The panels that a step is about, most of all the first.
fn subjects(view: &View<'_>) -> &'static [Panel] {
    use Panel::*;
    match view.step() {
        // A question may be about the points of the batch.
        None | Some(Step::Batch { .. }) if view.asking || batches::number(view.recording()) < 2 => &[Ballot],
        None | Some(Step::Batch { .. }) => &[Batches],
        Some(Step::BufferFull | Step::Padded { .. }) => &[Warp, Ballot, Queues, Lanes],
        Some(Step::Swap) => &[Warp, Network, Queues, Lanes],
        Some(Step::Minimum { .. }) => &[Curves, Warp, Network, Queues, Lanes],
        Some(Step::Layer { pass, layer, .. }) => {
            // At the end of the sort, both lists are in order.
            let sorted = layer.size == view.state().shape.capacity() && layer.stride == 1;
            match pass {
                SortPass::Sort if !sorted => &[Network, Warp, Queues, Lanes],
                _ => &[Curves, Network, Warp, Queues, Lanes],
            }
        }
        Some(Step::MaxDistance { .. }) => &[Cloud, Cost, Network],
        Some(Step::Finished) => &[Meter, Cloud],
        Some(step) if matches!(step.tree(), Some(TreeStep::Pruned { .. })) => &[Cloud],
        Some(_) => &[Ballot, Heaps, Queues, Buckets, Lanes],
    }
}
