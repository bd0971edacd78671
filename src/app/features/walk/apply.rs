//! Handles actions of the walk through the picked query's search, and updates it each frame.

use std::sync::Arc;
use std::time::Duration;

use super::state::{WalkAction, WalkState, Walkthrough};
use super::wanted;
use crate::app::context::app::{App, Feature};
use crate::app::features::errors::run_error;
use crate::app::jobs::table::{CancelMethod, TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::SHOWN_AFTER;
use crate::app::prelude::*;
use crate::knn::Walk;
use crate::run::{RunError, analysis};

/// Maximum duration of a step, and of the whole walk, during playback, in seconds.
const STEP_SECS: f64 = 0.6;

const WALK_SECS: f64 = 30.0;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Walk(action) => app.walk_action(action),
            Action::Command(Command::ShowWalk) => app.walk_action(WalkAction::Show(!app.state.walk.shown)),
            Action::Command(Command::WalkForward) => app.step_walk(1),
            Action::Command(Command::WalkBack) => app.step_walk(-1),
            Action::Command(Command::PlayWalk) => app.play_walk(),
            other => return Some(other),
        }
        None
    },
    update: App::want_walk,
    leave_cloud: |app, _| {
        app.jobs.stop(&WALK);
        (app.session.walked, app.session.walking) = (WalkState::default(), None);
    },
    ..Feature::NONE
};

/// The walk of an answer's search through an index; `None` if there is none.
pub static WALK: TaskKind<App, QueryAnswer, Result<Option<Walk>, RunError>> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |_, fraction| {
        Some(Activity::Preparing { what: "Walking through the search".to_owned(), fraction })
    },
    cancel: CancelMethod::By(App::cancel_walk),
    ..TaskKind::new(TaskPurpose::Walk, "walk", App::walk_done)
};

impl App {
    fn walk_action(&mut self, action: WalkAction) {
        match action {
            WalkAction::Show(shown) => self.state.walk.shown = shown,
            WalkAction::Answer(draft) => {
                let before = std::mem::replace(&mut self.state.draft, *draft);
                self.metric_changed(before.metric);
                self.ask_if_changed();
            }
            WalkAction::Seek(at) => {
                self.session.walking = None;
                self.seek_walk(at);
            }
        }
    }

    /// Moves by this many steps.
    fn step_walk(&mut self, by: isize) {
        let WalkState::Ready(walked) = &self.session.walked else { return };
        let at = walked.at(self.state.walk).saturating_add_signed(by);
        self.walk_action(WalkAction::Seek(at));
    }

    /// Starts playback, at the end from the first step, or stops it.
    fn play_walk(&mut self) {
        let WalkState::Ready(walked) = &self.session.walked else { return };
        if self.session.walking.take().is_some() {
            return;
        }
        let (at, last, now) =
            (walked.at(self.state.walk), walked.last(), self.handles.ctx.input(|input| input.time));
        let secs = step_secs(last);
        if at == last {
            self.seek_walk(0);
        }
        self.session.walking = (last > 0).then_some(now + secs);
    }

    fn seek_walk(&mut self, at: usize) {
        let WalkState::Ready(walked) = &self.session.walked else { return };
        // At the end, stay at the end for following queries as well.
        self.state.walk.at = (at < walked.last()).then_some(at);
    }

    /// Starts computing the walk if it should be shown, and advances playback.
    fn want_walk(&mut self) {
        self.walk_on();
        if matches!(&self.session.walked, WalkState::Ready(walked) if !walked.drawn) {
            // A copy for a picture is not updated.
            return;
        }
        let wanted = match wanted(self.state.walk, &self.session) {
            Ok(Some(answered)) => answered,
            other => {
                self.jobs.stop(&WALK);
                self.session.walking = None;
                self.session.walked = match other {
                    Err(why) => WalkState::Missing(why),
                    // Until the next answer arrives, the previous walk stays, to avoid flicker.
                    Ok(_) if self.state.walk.shown && matches!(self.session.walked, WalkState::Ready(_)) => {
                        return;
                    }
                    Ok(_) => WalkState::Hidden,
                };
                return;
            }
        };
        let is_there = match &self.session.walked {
            WalkState::Ready(walked) => walked.answered == wanted,
            WalkState::Failed(answered, _) => *answered == wanted,
            WalkState::Hidden | WalkState::Missing(_) | WalkState::Working => false,
        };
        // During a drag, a walk in progress is finished first, so that boxes follow the query.
        if is_there || self.jobs.has(&WALK) {
            return;
        }
        if !matches!(self.session.walked, WalkState::Ready(_)) {
            self.session.walked = WalkState::Working;
        }
        let QueryAnswer { record, query } = wanted.clone();
        let resident = self.handles.worker.resident().clone();
        self.jobs.start(&WALK, wanted, move |progress| analysis::walk(&record, query, &resident, progress));
    }

    fn walk_done(&mut self, answered: QueryAnswer, walk: Outcome<Result<Option<Walk>, RunError>>) {
        let Some(walk) = self.done("walk", walk) else {
            self.session.walked =
                WalkState::Failed(answered, "The steps of the search were not recorded.".to_owned());
            return;
        };
        self.session.walked = match walk {
            Ok(Some(walk)) if !walk.steps.is_empty() => {
                WalkState::Ready(Walkthrough { answered, walk: Arc::new(walk), drawn: true })
            }
            Ok(_) => WalkState::Failed(answered, "The engine recorded no steps of its search.".to_owned()),
            Err(why) => WalkState::Failed(answered, run_error(&why)),
        };
    }

    fn cancel_walk(&mut self) {
        self.jobs.stop(&WALK);
        self.state.walk.shown = false;
        self.session.log.info("cancelled");
    }

    /// Whether the walk is being computed.
    pub fn is_walking(&self) -> bool {
        self.jobs.has(&WALK) || matches!(self.session.walked, WalkState::Working)
    }

    fn walk_on(&mut self) {
        let Some(due) = self.session.walking else { return };
        let WalkState::Ready(walked) = &self.session.walked else { return };
        let (now, last) = (self.handles.ctx.input(|input| input.time), walked.last());
        let next = if now >= due { walked.at(self.state.walk) + 1 } else { walked.at(self.state.walk) };
        let secs = step_secs(last);
        self.seek_walk(next);
        self.session.walking = match next {
            next if next >= last => None,
            _ if now >= due => Some(now + secs),
            _ => Some(due),
        };
        if let Some(due) = self.session.walking {
            self.handles.ctx.request_repaint_after(Duration::from_secs_f64((due - now).max(0.0)));
        }
    }
}

/// Duration of a step during playback, in seconds.
fn step_secs(last: usize) -> f64 {
    (WALK_SECS / last.max(1) as f64).min(STEP_SECS)
}
