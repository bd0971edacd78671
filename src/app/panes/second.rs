//! The second view of the rows, beside Plane: the same rows along other axes, otherwise projected, or from
//! another file. Row, selection and colours are shared; with another file, its neighbours are listed beside
//! those of the first.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use egui::{Frame, Margin, Panel};

use super::empty::{Pane, PaneContext};
use super::gallery::{GalleryRow, gallery_ui};
use super::plane::plane_ui;
use crate::app::features::answer_summary::answer_summary;
use crate::app::features::export::PaneData;
use crate::app::features::second::state::SecondAction;
use crate::app::features::second::{session_of, state_of};
use crate::app::model::answer_summary::MAX_NAMED;
use crate::app::model::source_name;
use crate::app::prelude::*;
use crate::run::RunRecord;
use crate::text;

/// Width of the lists of neighbours, in screen points.
const LISTS_WIDTH: f32 = 168.0;

/// Longest side of a neighbour's picture, in screen points.
const SIDE: f32 = 44.0;

pub const PANE: Pane = Pane {
    kind: PaneKind::Second,
    draw: second_ui,
    data: |session| session.second.cloud(session.cloud.as_ref()).cloned().map(PaneData::Points),
    exports: &[],
};

fn second_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let second = &context.session.second;
    let (session, state) = (session_of(context.session), state_of(context.state));
    if second.other.is_some() && ui.available_width() > 2.0 * LISTS_WIDTH {
        let frame = Frame::NONE.inner_margin(Margin { left: 6, ..Margin::ZERO });
        let panel = Panel::right("lists of neighbours").resizable(false).exact_size(LISTS_WIDTH).frame(frame);
        panel.show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| lists_ui(ui, context, &session));
        });
    }
    // The actions of Plane that belong to the second view are redirected.
    let mut actions = Actions::default();
    let mut own = PaneContext {
        state: &state,
        session: &session,
        gpu: context.gpu.as_deref_mut(),
        lookup: context.lookup,
        palette: context.palette,
        actions: &mut actions,
    };
    plane_ui(ui, &mut own, PaneKind::Second);
    for action in actions.take() {
        match action {
            Action::SetPlane(view) => context.actions.send(SecondAction::SetPlane(view)),
            Action::SetProjection(view) => context.actions.send(SecondAction::SetProjection(view)),
            other => context.actions.send(other),
        }
    }
}

/// The neighbours here and in the other file, one below the other, and how many are common. `own` is the
/// session of the second view.
fn lists_ui(ui: &mut Ui, context: &mut PaneContext<'_>, own: &Session) {
    let (session, palette) = (context.session, context.palette);
    let second = &session.second;
    let (Some(cloud), Some(other)) = (&session.cloud, &second.other) else { return };
    if let Some((_, Err(why))) = &second.answered {
        ui.add(Label::new(palette.weak(why)).wrap());
        return;
    }
    let asked = |of: &QueryAnswer| {
        let spec = &of.record.spec;
        (of.row(), spec.k, spec.metric, spec.exclude_self)
    };
    let answers = session.answered.as_ref().zip(second.answer_to(session.picked));
    let Some((here, there)) = answers.filter(|(here, there)| asked(here) == asked(there)) else {
        let said = match session.picked {
            Some(PickedPoint::Row(_)) => "Searching…",
            _ => "Pick a row: its neighbours in both files are listed here.",
        };
        ui.add(Label::new(palette.weak(said)).wrap());
        return;
    };
    let common = common_rows(ui, [here, &there]);
    let others = |of: &QueryAnswer| of.neighbor_rows().iter().filter(|&&row| row != of.row()).count();
    let [same, count] =
        [common.len(), others(here).max(others(&there))].map(|count| text::thousands(count as u64));
    ui.add(Label::new(format!("{same} of {count} neighbours are the same.")).wrap());
    for (session, of, answered) in [(session, cloud, here), (own, other, &there)] {
        let summary = answer_summary(ui, session, answered);
        ui.add_space(6.0);
        ui.add(Label::new(RichText::new(source_name(of)).strong()).truncate());
        let rows = summary.nearest.iter().cloned().map(|near| GalleryRow {
            row: near.row,
            detail: if common.contains(&near.row) {
                format!("both, {}", near.distance)
            } else {
                near.distance
            },
            name: near.name,
            caption: near.caption,
        });
        gallery_ui(ui, (cloud, context.session.pictures(cloud), SIDE), None, rows, palette, context.actions);
        let more = summary.found.saturating_sub(MAX_NAMED) as u64;
        if more > 0 {
            ui.label(palette.small(format!("and {} more", text::thousands(more))));
        }
    }
}

/// The neighbours of both answers without the query's own row, cached between frames.
fn common_rows(ui: &Ui, answers: [&QueryAnswer; 2]) -> Arc<HashSet<u32>> {
    /// Weak, so that a replaced record is freed, while its address cannot be reused.
    type Known = ([Weak<RunRecord>; 2], [usize; 2], Arc<HashSet<u32>>);
    let id = Id::unique("neighbours in both files");
    let (records, queries) = (answers.map(|of| Arc::downgrade(&of.record)), answers.map(|of| of.query));
    let is_same = |(known, of, _): &Known| *of == queries && (0..2).all(|at| known[at].ptr_eq(&records[at]));
    if let Some((.., rows)) = ui.data(|data| data.get_temp::<Known>(id)).filter(is_same) {
        return rows;
    }
    let [first, other] = answers.map(|of| -> HashSet<u32> {
        of.neighbor_rows().iter().copied().filter(|&row| row != of.row()).collect()
    });
    let rows: Arc<HashSet<u32>> = Arc::new(first.intersection(&other).copied().collect());
    ui.data_mut(|data| data.insert_temp(id, (records, queries, Arc::clone(&rows))));
    rows
}
