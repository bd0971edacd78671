//! Placeholders of panes without content: what is missing, the current activity or error, and what to do.

use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::picking::lookup::Lookup;
use crate::app::gpu::Gpu;
use crate::app::look::percent;
use crate::app::model::FailureReason;
use crate::app::prelude::*;

/// A title with one or two sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    title: String,
    next: String,
}

impl Placeholder {
    fn new(title: impl Into<String>, next: impl Into<String>) -> Self {
        Self { title: title.into(), next: next.into() }
    }

    /// Draws the placeholder centred in the pane.
    pub fn ui(&self, ui: &mut Ui, palette: &Palette) {
        empty_ui(ui, &self.title, &self.next, palette);
    }
}

/// For a pane that shows points.
pub fn without_cloud(session: &Session) -> Placeholder {
    match (&session.activity, &session.endings.load) {
        (Activity::Loading { what, fraction }, _) => Placeholder::new(
            format!("Loading {what}{}", percent(*fraction)),
            "Its points appear when they are loaded. Cancel stops it.",
        ),
        (_, Some(FailureReason::Cancelled)) => Placeholder::new(
            "Loading was cancelled",
            "Press Load or Generate on the left to start again, or open another file.",
        ),
        (_, Some(FailureReason::Failed(why))) => Placeholder::new("Loading failed", why),
        (_, None) => {
            Placeholder::new("No cloud yet", "Open a file, drop one here, or generate a cloud on the left.")
        }
    }
}

/// For a pane that shows a run. `what`: "timings"; `todo`: "Press Run to measure."
pub fn without_run(session: &Session, what: &str, todo: &str) -> Placeholder {
    let yet = format!("No {what} yet");
    match (&session.activity, &session.endings.run, &session.endings.load) {
        (Activity::Running { stage, fraction }, ..) => {
            Placeholder::new(yet, format!("Running: {stage}{}.", percent(Some(*fraction))))
        }
        (Activity::Loading { what, fraction }, ..) => {
            Placeholder::new(yet, format!("Loading {what}{}.", percent(*fraction)))
        }
        (_, Some(FailureReason::Cancelled), _) => Placeholder::new("The run was cancelled", todo),
        (_, Some(FailureReason::Failed(why)), _) => Placeholder::new("The run failed", why),
        (_, None, Some(FailureReason::Failed(why))) if session.cloud.is_none() => {
            Placeholder::new("Loading failed", why)
        }
        _ => Placeholder::new(yet, todo),
    }
}

/// For a pane that shows the picked query's answer.
pub fn without_answer(session: &Session) -> Placeholder {
    if session.cloud.is_none() {
        return without_cloud(session);
    }
    if session.picked.is_some() {
        return match &session.endings.ask {
            _ if session.live.is_waiting() => Placeholder::new(
                "The query is being answered…",
                "Its neighbours appear as soon as they are found.",
            ),
            Some(FailureReason::Cancelled) => Placeholder::new(
                "Cancelled",
                "The query was not answered. Click its point again, or another one.",
            ),
            Some(FailureReason::Failed(why)) => Placeholder::new("The query could not be answered", why),
            None => Placeholder::new("Not answered", "Click its point again, or another one."),
        };
    }
    let next = match (&session.activity, &session.endings.run) {
        (Activity::Running { .. }, _) => {
            "Click a point in Plane or Space for an answer now, or wait for the run's first query."
        }
        (_, Some(FailureReason::Cancelled)) => {
            "The run was cancelled. Click a point in Plane or Space, or press Run."
        }
        (_, Some(FailureReason::Failed(why))) => {
            return Placeholder::new("No query picked", format!("The run failed: {why}"));
        }
        (_, None) => "Click a point in Plane or Space, or press Run.",
    };
    Placeholder::new("No query picked", next)
}

// The interface of panes; each pane defines one value.

/// A pane. With [`PaneKind::info`], this is all that the rest of the window knows about it.
pub struct Pane {
    pub kind: PaneKind,
    pub draw: fn(&mut Ui, &mut PaneContext<'_>),
    /// The data to export; `None` without data.
    pub data: fn(&Session) -> Option<PaneData>,
    /// Further export entries, besides data and picture.
    pub exports: &'static [ExportEntry],
}

/// An entry of a pane's export menu.
pub struct ExportEntry {
    pub kind: ExportKind,
    pub text: &'static str,
    /// A tooltip, if the text is not self-explanatory.
    pub about: &'static str,
}

/// What a pane reads, and the queue for its actions.
pub struct PaneContext<'a> {
    pub state: &'a State,
    pub session: &'a Session,
    /// The points on the GPU; `None` if nothing is drawn.
    pub gpu: Option<&'a mut Gpu>,
    /// Other columns of the points' records.
    pub lookup: &'a Lookup,
    pub palette: &'static Palette,
    pub actions: &'a mut Actions,
}

impl PaneContext<'_> {
    /// What its controls show.
    pub fn controls(&mut self) -> UiContext<'_> {
        let Self { state, session, palette, actions, .. } = self;
        UiContext { state, session, palette, actions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::LastFailures;
    use crate::app::testing::cloud;

    const TODO: &str = "Press Run to measure.";

    fn with(activity: Activity, endings: LastFailures) -> Session {
        Session { activity, endings, ..Session::default() }
    }

    fn failed(why: &str) -> Option<FailureReason> {
        Some(FailureReason::Failed(why.to_owned()))
    }

    fn loading() -> Activity {
        Activity::Loading { what: "a.las".to_owned(), fraction: Some(0.25) }
    }

    #[test]
    fn without_a_cloud_the_load_status_is_shown() {
        let title = |session: &Session| without_cloud(session).title;
        assert_eq!(title(&with(Activity::Idle, LastFailures::default())), "No cloud yet");
        let cancelled = LastFailures { load: Some(FailureReason::Cancelled), ..LastFailures::default() };
        assert_eq!(
            title(&with(loading(), cancelled.clone())),
            "Loading a.las, 25 %",
            "current activity comes first"
        );
        assert_eq!(title(&with(Activity::Idle, cancelled)), "Loading was cancelled");
        let wrong = with(
            Activity::Idle,
            LastFailures { load: failed("no such file: a.las"), ..LastFailures::default() },
        );
        assert_eq!(without_cloud(&wrong), Placeholder::new("Loading failed", "no such file: a.las"));
        assert_eq!(without_run(&wrong, "timings", TODO), without_cloud(&wrong));
        assert_eq!(without_answer(&wrong), without_cloud(&wrong));
    }

    #[test]
    fn without_a_run_the_run_status_is_shown() {
        let of = |session: &Session| without_run(session, "timings", TODO);
        assert_eq!(
            of(&with(Activity::Idle, LastFailures::default())),
            Placeholder::new("No timings yet", TODO)
        );
        let running = Activity::Running { stage: "repeat 2 of 5".to_owned(), fraction: 0.4 };
        assert_eq!(of(&with(running, LastFailures::default())).next, "Running: repeat 2 of 5, 40 %.");
        assert_eq!(of(&with(loading(), LastFailures::default())).next, "Loading a.las, 25 %.");
        let cancelled = with(
            Activity::Idle,
            LastFailures { run: Some(FailureReason::Cancelled), ..LastFailures::default() },
        );
        assert_eq!(of(&cancelled), Placeholder::new("The run was cancelled", "Press Run to measure."));
        let broken = with(
            Activity::Idle,
            LastFailures { run: failed("k = 9 is too large"), ..LastFailures::default() },
        );
        assert_eq!(of(&broken), Placeholder::new("The run failed", "k = 9 is too large"));
    }

    #[test]
    fn without_an_answer_the_query_status_is_shown() {
        let with = |picked: Option<PickedPoint>, activity: Activity, endings: LastFailures| {
            let session = Session { cloud: Some(cloud(5, 2, 1)), picked, ..with(activity, endings) };
            without_answer(&session)
        };
        let run = |run: Option<FailureReason>| LastFailures { run, ..LastFailures::default() };
        let ask = |ask: Option<FailureReason>| LastFailures { ask, ..LastFailures::default() };
        let running = Activity::Running { stage: "counting".to_owned(), fraction: 0.0 };
        assert_eq!(
            with(None, Activity::Idle, run(None)).next,
            "Click a point in Plane or Space, or press Run."
        );
        assert!(with(None, running, run(None)).next.contains("wait for the run's first query"));
        assert!(
            with(None, Activity::Idle, run(Some(FailureReason::Cancelled)))
                .next
                .starts_with("The run was cancelled.")
        );
        assert_eq!(with(None, Activity::Idle, run(failed("why"))).next, "The run failed: why");
        let row = Some(PickedPoint::Row(1));
        assert_eq!(with(row, Activity::Idle, ask(None)).title, "Not answered");
        assert_eq!(with(row, Activity::Idle, ask(Some(FailureReason::Cancelled))).title, "Cancelled");
        assert_eq!(with(row, Activity::Idle, ask(failed("why"))).next, "why");
    }
}
