//! The panels of a lesson about the kernel's search, and their layout.

use std::io::{self, Write};

use super::TheoryBaseline;
use crate::account::account;
use crate::algorithms::AlgorithmPictures;
use crate::cursor::Cursor;
use crate::lessons::{SearchRange, Take};
use crate::picture::page::{Layout, split};
use crate::picture::scene::Area;
use crate::picture::{self, Film, Panel, Scene, View, batches};
use crate::print::{order_heading, write_comparison};
use crate::state::Stage;
use crate::step::{SortPass, Step};
use crate::text::{count, significant, thousands};

impl AlgorithmPictures for TheoryBaseline {
    /// The panels of a lesson and their areas. With large type, few lines of code are shown, and wide warps
    /// get the width.
    fn panels(&self, shows: SearchRange, layout: &Layout<'_>) -> Vec<(Panel, Area)> {
        let (view, large) = (layout.view, layout.large);
        // Merge and filter alternate; when a batch arrives, neither has begun.
        let arrives = matches!(view.step(), None | Some(Step::Batch { .. }))
            && shows == SearchRange::Whole
            && !view.asking;
        let running = match () {
            () if arrives && batches::number(view.recording()) > 1 => Panel::Batches,
            () if merge_runs(view) => Panel::Network,
            () => Panel::Ballot,
        };
        match shows {
            SearchRange::Overflow if large => layout.pair(running, Panel::Cloud, Panel::Cloud, [0.68, 0.32]),
            // For a whole search: the arrival of a batch, the filter or the merge, and then the result of a
            // merge.
            SearchRange::Whole | SearchRange::Waiting
                if large && (layout.is_done() || matches!(view.step(), Some(Step::MaxDistance { .. }))) =>
            {
                layout.pair(Panel::Cloud, Panel::Account, Panel::Account, [0.62, 0.38])
            }
            SearchRange::Whole | SearchRange::Waiting if large => {
                layout.pair(running, Panel::Cloud, Panel::Account, [0.66, 0.34])
            }
            SearchRange::FirstSort | SearchRange::SecondMinimum if large => {
                let shown = if shows == SearchRange::SecondMinimum && lists_meet(view) {
                    Panel::Curves
                } else {
                    Panel::Network
                };
                layout.pair(shown, Panel::Warp, Panel::Warp, [0.62, 0.38])
            }
            SearchRange::SecondMerge if large => {
                layout.pair(Panel::Network, Panel::Cost, Panel::Cost, [0.6, 0.4])
            }
            // With and without large type.
            SearchRange::Circle => layout.pair(Panel::Cloud, Panel::Account, Panel::Account, [0.62, 0.38]),
            SearchRange::SecondMerge => {
                let [network, right] = layout.columns([0.55, 0.45]);
                let [warp, cost] = layout.rows(right, [0.5, 0.5]);
                vec![(Panel::Network, network), (Panel::Warp, warp), (Panel::Cost, cost)]
            }
            SearchRange::FirstSort => {
                let [network, right] = layout.columns([0.5, 0.5]);
                let [warp, below] = layout.rows(right, [0.56, 0.44]);
                let [cloud, code] = split(below, [0.46, 0.54], layout.gap, false);
                vec![
                    (Panel::Network, network),
                    (Panel::Warp, warp),
                    (Panel::Cloud, cloud),
                    (Panel::Code, code),
                ]
            }
            SearchRange::SecondMinimum => {
                let [left, right] = layout.columns([0.42, 0.58]);
                let ([network, code], [curves, below]) =
                    (layout.rows(left, [0.64, 0.36]), layout.rows(right, [0.54, 0.46]));
                let [warp, cloud] = split(below, [0.6, 0.4], layout.gap, false);
                vec![
                    (Panel::Curves, curves),
                    (Panel::Network, network),
                    (Panel::Warp, warp),
                    (Panel::Cloud, cloud),
                    (Panel::Code, code),
                ]
            }
            SearchRange::Overflow => {
                let [left, right] = layout.columns([0.62, 0.38]);
                let ([ballot, warp], [cloud, code]) =
                    (layout.rows(left, [0.52, 0.48]), layout.rows(right, [0.5, 0.5]));
                vec![(Panel::Ballot, ballot), (Panel::Warp, warp), (Panel::Cloud, cloud), (Panel::Code, code)]
            }
            SearchRange::Whole | SearchRange::Waiting => {
                let [left, middle, code] = layout.columns([0.28, 0.45, 0.27]);
                let ([cloud, account], [warp, below]) =
                    (layout.rows(left, [0.52, 0.48]), layout.rows(middle, [0.5, 0.5]));
                vec![
                    (Panel::Cloud, cloud),
                    (Panel::Account, account),
                    (Panel::Warp, warp),
                    (running, below),
                    (Panel::Code, code),
                ]
            }
        }
    }

    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        picture::account::draw(view, size)
    }

    fn write_table(&self, film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        let mut cursor = Cursor::new(take.recording.clone());
        cursor.seek(take.recording.len());
        let account = account(cursor.state());
        let (counts, expected) = (account.counts, account.expected_at_end);
        let rows = [
            ("points", counts.points_seen.into(), String::new()),
            ("groups with a candidate", counts.groups_hit.into(), String::new()),
            ("candidates", counts.candidates.into(), significant(expected.candidates)),
            ("merges", counts.merges.into(), significant(expected.merges)),
            ("compare-exchanges", counts.compare_exchanges, significant(expected.compare_exchanges)),
            ("shuffles", counts.shuffles, significant(expected.shuffles)),
        ];
        let rows =
            rows.map(|(what, counted, expected)| (what, vec![Some(thousands(counted)), Some(expected)]));
        write!(out, "{}", order_heading(film, take))?;
        write_comparison(&["counted", "theory, mean at most"], &rows, out)?;
        let worst = count(account.worst_merges, "merge", "merges");
        writeln!(
            out,
            "<p>The numbers are of the whole search. The theory assumes random order; the worst order takes \
             {worst}.</p>"
        )
    }
}

/// Whether a merge is in progress or has just completed.
fn merge_runs(view: &View<'_>) -> bool {
    matches!(view.state().stage, Stage::Sort | Stage::Merge)
        || matches!(view.step(), Some(Step::MaxDistance { .. }))
}

/// Whether the two lists of a merge are shown together: at its swap, once both are sorted, and from the
/// minimum on.
fn lists_meet(view: &View<'_>) -> bool {
    let capacity = view.state().shape.capacity();
    match view.step() {
        Some(
            Step::BufferFull
            | Step::Padded { .. }
            | Step::Swap
            | Step::Minimum { .. }
            | Step::MaxDistance { .. },
        ) => true,
        Some(Step::Layer { pass: SortPass::Resort, .. }) => true,
        Some(Step::Layer { pass: SortPass::Sort, layer, .. }) => layer.size == capacity && layer.stride == 1,
        _ => false,
    }
}
