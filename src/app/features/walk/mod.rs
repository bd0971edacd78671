//! The walk through the picked query's search: which boxes or clusters it visited, in which order, and which
//! it pruned.
//!
//! | module | role |
//! |---|---|
//! | `state` | the steps, the current step, actions |
//! | `apply` | computes, shows and plays it |
//! | `paint` | the boxes or spheres, and the points of the visited leaf or cluster |

use egui::text::LayoutJob;
use egui::{Slider, StrokeKind, TextStyle};

use crate::app::features::walk::paint::RegionStrokes;
use crate::app::features::walk::state::{WalkAction, WalkState, WalkView, Walkthrough};
use crate::app::look::any_of;
use crate::app::model::Draft;
use crate::app::prelude::*;
use crate::engines::registry;
use crate::knn::Descriptor;
use crate::knn::walk::{AXES, RegionKind};
use crate::run::RunSpec;
use crate::text;

pub mod apply;
pub mod globe;
pub mod paint;
pub mod state;

// Whether the picked query's answer has a walk.

/// The answer whose walk should be shown, if any.
///
/// # Errors
/// Why there is no walk, and a remedy, as a sentence.
pub fn wanted(view: WalkView, session: &Session) -> Result<Option<QueryAnswer>, String> {
    let Some(scene) = session.scene().filter(|_| view.shown) else { return Ok(None) };
    let Some(answered) = &session.answered else {
        // A reply is pending.
        return if session.live.is_waiting() {
            Ok(None)
        } else {
            Err("Click a point to walk through its search.".to_owned())
        };
    };
    let record = &answered.record;
    if record.descriptor().is_none_or(|engine| engine.walk.is_none()) {
        let looked = match record.descriptor() {
            Some(engine) if engine.is_exhaustive => {
                "compared the query with every point, without a walk to show"
            }
            _ => "does not record its steps",
        };
        return Err(format!("{} {looked}; {} records one.", record.engine, any_of(&registry::with_walk())));
    }
    match scene.dims() {
        dims if dims > AXES => Err("The walk can be drawn only in 2 or 3 dimensions.".to_owned()),
        _ if scene.is_projected() => {
            Err("The walk can be drawn only on the cloud's axes; show axes instead of a projection."
                .to_owned())
        }
        _ => Ok(Some(answered.clone())),
    }
}

/// The fields for answering the same problem with an engine that records a walk, and a button text; `None` if
/// no engine fits.
pub fn remedy(draft: &Draft, session: &Session) -> Option<(String, Draft)> {
    let record = &session.answered.as_ref()?.record;
    if session.scene()?.dims() > AXES {
        return None;
    }
    let walks = |engine: &&Descriptor| engine.walk.is_some();
    if record.descriptor().is_some_and(|engine| walks(&engine)) {
        return None;
    }
    let &RunSpec { k, metric, order, exclude_self, .. } = &record.spec;
    let mut fixed = Draft { k: k.to_string(), metric, order, exclude_self, ..draft.clone() };
    let engine = registry::grouped().flat_map(|(_, engines)| engines).find(walks)?;
    fixed.choose_engine(engine);
    Some((format!("Answer with {}", engine.id), fixed))
}

// Controls above Plane and Space: position, buttons, and the description of the step.

/// Below this height, a pane shows only the sentence, in at most two lines.
const LOW_PANE: f32 = 330.0;

/// Below this width, a pane reserves two lines for the sentence, so that the picture does not move between
/// steps.
const NARROW_PANE: f32 = 720.0;

/// The checkbox that shows the walk.
pub fn show_ui(ui: &mut Ui, state: &State, actions: &mut Actions) {
    let mut shown = state.walk.shown;
    let keys = Command::ShowWalk.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
    if ui
        .checkbox(&mut shown, "Walk")
        .on_hover_text(format!("{} {keys}", Command::ShowWalk.tooltip()))
        .changed()
    {
        actions.send(WalkAction::Show(shown));
    }
}

/// The scrubber and the description of the step, or why there is no walk. `numbered` says whether leaves show
/// the order of visits.
pub fn walk_ui(ui: &mut Ui, numbered: bool, context: &mut UiContext<'_>) {
    let (state, session, palette) = (context.state, context.session, context.palette);
    let low = ui.available_height() < LOW_PANE;
    let line = |ui: &mut Ui, text: &str, color: Color32| {
        let mut job = LayoutJob::simple(text.to_owned(), TextStyle::Body.resolve(ui.style()), color, 0.0);
        if low {
            job.wrap.max_rows = 2;
        }
        ui.add(Label::new(job).wrap()).on_hover_text(text);
    };
    match &session.walked {
        WalkState::Hidden => {}
        WalkState::Missing(why) => {
            line(ui, why, palette.text_weak);
            if let Some((words, draft)) = remedy(&state.draft, session)
                && ui
                    .button(words)
                    .on_hover_text("Choose this engine on the left and search again.")
                    .clicked()
            {
                context.actions.send(WalkAction::Answer(Box::new(draft)));
            }
        }
        WalkState::Working => line(ui, "Walking through the search…", palette.text_weak),
        WalkState::Failed(_, why) => line(ui, why, palette.error),
        WalkState::Ready(walked) => {
            scrubber_ui(ui, state.walk, session.walking.is_some(), walked, context);
            let at = walked.at(state.walk);
            let sentence = walked.sentence(at);
            let lines = if ui.available_width() >= NARROW_PANE { 1.0 } else { 2.0 };
            ui.scope(|ui| {
                ui.set_min_height(lines * ui.text_style_height(&TextStyle::Body));
                line(ui, &sentence, palette.text);
            });
            if !low {
                let facts = walked.facts(at).join(" · ");
                ui.add(Label::new(palette.small(&facts)).truncate()).on_hover_text(&facts);
                if walked.has_boxes() {
                    legend_ui(ui, walked, numbered && walked.globe().is_none(), palette);
                } else {
                    let [_, leaves] = walked.leaf();
                    let why = format!(
                        "The {leaves} enclose unit vectors and cannot be drawn here; the visited points are \
                         marked instead."
                    );
                    ui.add(Label::new(palette.small(&why)).truncate()).on_hover_text(&why);
                }
            }
        }
    }
}

fn scrubber_ui(
    ui: &mut Ui,
    view: WalkView,
    playing: bool,
    walked: &Walkthrough,
    context: &mut UiContext<'_>,
) {
    let palette = context.palette;
    let (at, count) = (walked.at(view), walked.last() + 1);
    ui.horizontal(|ui| {
        button_ui(ui, "◀", Command::WalkBack, at > 0, context.actions);
        button_ui(
            ui,
            if playing { "Pause" } else { "▶ Play" },
            Command::PlayWalk,
            count > 1,
            context.actions,
        );
        button_ui(ui, "▶", Command::WalkForward, at + 1 < count, context.actions);
        let label = ui.label(palette.weak("Step"));
        let of = format!("of {}", text::thousands(count as u64));
        ui.spacing_mut().slider_width =
            (ui.available_width() - 80.0 - 7.0 * of.len() as f32).clamp(40.0, 420.0);
        let mut step = at + 1;
        let slider = Slider::new(&mut step, 1..=count)
            .custom_formatter(|value, _| text::thousands(value as u64))
            .custom_parser(|text| text.replace(',', "").trim().parse().ok());
        if ui.add(slider).labelled_by(label.id).changed() {
            context.actions.send(WalkAction::Seek(step - 1));
        }
        ui.label(palette.weak(of));
    });
}

/// A command as a small button with an accessible name.
fn button_ui(ui: &mut Ui, text: &str, command: Command, enabled: bool, actions: &mut Actions) {
    let keys = command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
    let response =
        ui.add_enabled(enabled, Button::new(text)).on_hover_text(format!("{} {keys}", command.tooltip()));
    response.widget_info(|| egui::WidgetInfo::labeled(Role::Button, enabled, command.text()));
    if response.clicked() {
        actions.send(command);
    }
}

/// The legend of the boxes' colours.
fn legend_ui(ui: &mut Ui, walked: &Walkthrough, numbered: bool, palette: &Palette) {
    let colors = RegionStrokes::new(palette);
    let [leaf, _] = walked.leaf();
    let visited = format!("{leaf}, visited{}", if numbered { ", numbered" } else { "" });
    // Clusters have no nodes.
    let nodes = walked.walk.regions.iter().any(|region| matches!(region.kind, RegionKind::Node { .. }));
    ui.horizontal_wrapped(|ui| {
        for (stroke, name) in [
            (colors.now, "this step"),
            (colors.opened, "node, opened"),
            (colors.visited, &visited),
            (colors.waiting, "seen"),
            (colors.pruned, "pruned"),
        ] {
            if nodes || stroke != colors.opened {
                entry_ui(ui, stroke, name, palette);
            }
        }
    });
}

fn entry_ui(ui: &mut Ui, stroke: Stroke, name: &str, palette: &Palette) {
    // The width is computed first, so that the entry wraps as a whole.
    let (sample, gap) = (vec2(13.0, 10.0), 4.0);
    let text = ui.painter().layout_no_wrap(
        name.to_owned(),
        egui::TextStyle::Small.resolve(ui.style()),
        palette.text_weak,
    );
    let size = vec2(sample.x + gap + text.size().x, text.size().y.max(sample.y));
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let (rect, _) = ui.allocate_exact_size(sample, Sense::hover());
        ui.painter().rect_stroke(rect.shrink(1.0), 0.0, stroke, StrokeKind::Middle);
        ui.add(Label::new(palette.small(name)).extend());
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::testing::{cloud, record};
    use crate::knn::{EngineId, Metric};
    use crate::run::RunRecord;

    fn session(dims: usize, engine: &'static str, metric: Metric) -> Session {
        let mut run = RunRecord::clone(&record());
        run.cloud = cloud(50, dims, 1);
        run.head.engine = EngineId::new(engine);
        run.head.spec.metric = metric;
        let run = Arc::new(run);
        Session {
            cloud: Some(Arc::clone(&run.cloud)),
            answered: Some(QueryAnswer { record: run, query: 0 }),
            ..Session::default()
        }
    }

    #[test]
    fn answers_without_a_walk_explain_why() {
        let shown = WalkView { shown: true, at: None };
        let why = |session: &Session| wanted(shown, session).err().unwrap_or_default();
        assert_eq!(why(&session(2, "bvh", Metric::L2)), "");
        assert!(
            wanted(shown, &session(3, "bvh", Metric::L2))
                .expect("it can")
                .is_some_and(|answered| answered.query == 0)
        );
        assert_eq!(
            why(&session(2, "cuda", Metric::L2)),
            "cuda compared the query with every point, without a walk to show; bvh or step records one."
        );
        assert!(why(&session(2, "kdtree", Metric::L2)).starts_with("kdtree does not record its steps;"));
        // The remedy keeps the answer's k and metric, not those of the fields.
        let fields = Draft { k: "999".to_owned(), metric: Metric::Angular, ..Draft::default() };
        let fixed = |session: &Session| {
            remedy(&fields, session)
                .map(|(words, draft)| (words, draft.engine.to_string(), draft.metric, draft.k))
        };
        for metric in Metric::ALL {
            let asked = session(2, "cuda", metric);
            let k = asked.answered.as_ref().expect("an answer").record.spec.k.to_string();
            assert_eq!(fixed(&asked), Some(("Answer with bvh".to_owned(), "bvh".to_owned(), metric, k)));
            assert!(wanted(shown, &session(2, "bvh", metric)).expect("it can").is_some(), "{metric}");
        }
        assert_eq!(
            (fixed(&session(4, "cuda", Metric::L2)), fixed(&session(2, "bvh", Metric::Haversine))),
            (None, None)
        );
        assert!(why(&session(4, "bvh", Metric::L2)).contains("only in 2 or 3 dimensions"));
        let unanswered = Session { answered: None, ..session(2, "bvh", Metric::L2) };
        assert!(why(&unanswered).starts_with("Click a point"));
        assert!(
            wanted(WalkView::default(), &unanswered).is_ok_and(|walk| walk.is_none()),
            "the walk is not shown"
        );
    }
}
