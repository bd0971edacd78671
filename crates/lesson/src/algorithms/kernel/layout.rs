//! Which panels a lesson about the kernel's search shows, and where.

use crate::lessons::Shows;
use crate::picture::page::{Layout, split};
use crate::picture::scene::Area;
use crate::picture::{Panel, View, batches};
use crate::state::Stage;
use crate::step::{Pass, Step};

/// The panels of a lesson and their areas. With large type, few lines of code are shown, and wide warps get the width.
pub(crate) fn panels(shows: Shows, layout: &Layout<'_>) -> Vec<(Panel, Area)> {
    let (view, gap, large, is_done) = (layout.view, layout.gap, layout.large, layout.is_done());
    let columns = |shares: &[f32]| layout.columns(shares);
    let pair = |main, beside, account, shares| layout.pair(main, beside, account, shares);
    // Merge and filter alternate; where a batch arrives, neither has begun.
    let arrives = matches!(view.cursor.step().as_deref(), None | Some(Step::Batch { .. })) && shows == Shows::Whole && !view.asking;
    let running = match () {
        () if arrives && batches::number(view.cursor.recording()) > 1 => Panel::Batches,
        () if merge_runs(view) => Panel::Network,
        () => Panel::Ballot,
    };
    match shows {
        Shows::Overflow if large => pair(running, Panel::Cloud, Panel::Cloud, [0.68, 0.32]),
        // Of a whole search: what arrives, is filtered or merged, and then what a merge has led to.
        Shows::Whole | Shows::Waiting if large && (is_done || matches!(view.cursor.step().as_deref(), Some(Step::MaxDistance { .. }))) => {
            pair(Panel::Cloud, Panel::Account, Panel::Account, [0.62, 0.38])
        }
        Shows::Whole | Shows::Waiting if large => pair(running, Panel::Cloud, Panel::Account, [0.66, 0.34]),
        Shows::FirstSort | Shows::SecondMinimum if large => {
            let shown = if shows == Shows::SecondMinimum && lists_meet(view) { Panel::Curves } else { Panel::Network };
            pair(shown, Panel::Warp, Panel::Warp, [0.62, 0.38])
        }
        Shows::SecondMerge if large => pair(Panel::Network, Panel::Cost, Panel::Cost, [0.6, 0.4]),
        Shows::Circle if large => pair(Panel::Cloud, Panel::Account, Panel::Account, [0.62, 0.38]),
        Shows::Circle => {
            let [left, right] = columns(&[0.62, 0.38])[..] else { return Vec::new() };
            vec![(Panel::Cloud, left), (Panel::Account, right)]
        }
        Shows::SecondMerge => {
            let [left, right] = columns(&[0.55, 0.45])[..] else { return Vec::new() };
            let right = split(right, &[0.5, 0.5], gap, true);
            vec![(Panel::Network, left), (Panel::Warp, right[0]), (Panel::Cost, right[1])]
        }
        Shows::FirstSort => {
            let [network, right] = columns(&[0.5, 0.5])[..] else { return Vec::new() };
            let rows = split(right, &[0.56, 0.44], gap, true);
            let below = split(rows[1], &[0.46, 0.54], gap, false);
            vec![(Panel::Network, network), (Panel::Warp, rows[0]), (Panel::Cloud, below[0]), (Panel::Code, below[1])]
        }
        Shows::SecondMinimum => {
            let [left, right] = columns(&[0.42, 0.58])[..] else { return Vec::new() };
            let (left, right) = (split(left, &[0.64, 0.36], gap, true), split(right, &[0.54, 0.46], gap, true));
            let below = split(right[1], &[0.6, 0.4], gap, false);
            vec![(Panel::Curves, right[0]), (Panel::Network, left[0]), (Panel::Warp, below[0]), (Panel::Cloud, below[1]), (Panel::Code, left[1])]
        }
        Shows::Overflow => {
            let [left, right] = columns(&[0.62, 0.38])[..] else { return Vec::new() };
            let (left, right) = (split(left, &[0.52, 0.48], gap, true), split(right, &[0.5, 0.5], gap, true));
            vec![(Panel::Ballot, left[0]), (Panel::Warp, left[1]), (Panel::Cloud, right[0]), (Panel::Code, right[1])]
        }
        Shows::Whole | Shows::Waiting => {
            let [left, middle, right] = columns(&[0.28, 0.45, 0.27])[..] else { return Vec::new() };
            let (left, middle) = (split(left, &[0.52, 0.48], gap, true), split(middle, &[0.5, 0.5], gap, true));
            vec![(Panel::Cloud, left[0]), (Panel::Account, left[1]), (Panel::Warp, middle[0]), (running, middle[1]), (Panel::Code, right)]
        }
    }
}

/// Whether a merge is in progress or has just completed.
fn merge_runs(view: &View<'_>) -> bool {
    matches!(view.cursor.state().stage, Stage::Sort | Stage::Merge) || matches!(view.cursor.step().as_deref(), Some(Step::MaxDistance { .. }))
}

/// Whether the two lists of a merge are shown as they meet: at its swap, when both are in order, at the minimum and from there on.
fn lists_meet(view: &View<'_>) -> bool {
    let capacity = view.cursor.state().shape.capacity();
    match view.cursor.step().as_deref() {
        Some(Step::BufferFull | Step::Padded { .. } | Step::Swap | Step::Minimum { .. } | Step::MaxDistance { .. }) => true,
        Some(Step::Layer { pass: Pass::Resort, .. }) => true,
        Some(Step::Layer { pass: Pass::Sort, layer, .. }) => layer.size == capacity && layer.stride == 1,
        _ => false,
    }
}
