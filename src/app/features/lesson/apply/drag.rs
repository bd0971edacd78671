//! Carries out moves of the query and of points in the lesson's map.

use super::RECORD;
use crate::app::context::app::App;
use crate::app::features::lesson::state::DragAction;
use crate::app::features::lesson::state::session::{LessonDraft, lesson_of};
use crate::lesson::edits::Edits;
use crate::lesson::lessons::Lesson;
use crate::progress::NoProgress;

impl App {
    pub(in crate::app) fn drag_in_map(&mut self, action: DragAction) {
        let lesson = lesson_of(self.state.lesson.number);
        let session = &mut self.session.lesson;
        // Moves refer to the recording shown, not to one that finishes meanwhile.
        let shown = session
            .player
            .as_mut()
            .filter(|player| player.lesson.number == lesson.number && session.quiz.is_none());
        let (Some(player), Some(_)) = (shown, &session.drag.recorded) else { return };
        let mut touched =
            session.drafts.get(&lesson.number).map(|draft| draft.touched.clone()).unwrap_or_default();
        match action {
            DragAction::Hold => {
                player.pause();
                session.drag.begin(touched, player);
                session.drag.held = true;
            }
            // The drag began in another lesson, or before the quiz.
            DragAction::Query(_) | DragAction::Point(..) if !session.drag.held => {}
            DragAction::Query(at) => {
                touched.query = Some(at);
                self.state.lesson.has_dragged = true;
                self.apply_edits(lesson, touched);
            }
            DragAction::Point(row, at) => {
                touched.points.insert(row, at);
                self.state.lesson.has_dragged = true;
                self.apply_edits(lesson, touched);
            }
            DragAction::Release => {
                session.drag.end(&touched);
                // During the drag only the twin recorded.
                if self.state.lesson.gpu {
                    self.record_lesson(lesson);
                }
            }
            DragAction::Back => {
                let before = session.drag.take_back();
                if let Some(before) = before {
                    self.apply_edits(lesson, before);
                }
                self.session.lesson.drag.held = false;
            }
        }
    }

    pub(in crate::app) fn undo_drag(&mut self) {
        let lesson = lesson_of(self.state.lesson.number);
        let session = &mut self.session.lesson;
        let Some(player) = session.player.as_ref().filter(|_| session.quiz.is_none()) else { return };
        if let Some(before) = session.drag.take_back() {
            let draft = session.drafts.get(&lesson.number);
            session.drag.before = draft.map(|draft| (player.clone(), draft.touched.clone()));
            self.apply_edits(lesson, before);
        }
    }

    /// Records the lesson with the moved points: immediately if that fits in a frame, otherwise in the
    /// background, always with the latest position.
    fn apply_edits(&mut self, lesson: &'static Lesson, touched: Edits) {
        let session = &mut self.session.lesson;
        session.set_draft(lesson, LessonDraft { touched, ..session.draft(lesson) });
        self.record_edits(lesson);
    }

    /// Records with the current positions.
    pub(in crate::app) fn record_edits(&mut self, lesson: &'static Lesson) {
        let session = &mut self.session.lesson;
        session.drag.behind = self.jobs.has(&RECORD);
        // Settings come from the recording shown: fields may be half edited.
        let Some(recorded) = session.drag.recorded.clone().filter(|_| !session.drag.behind) else { return };
        let draft = LessonDraft { touched: session.draft(lesson).touched, ..recorded };
        let quick = session.drag.is_quick();
        let Ok(work) = self.work_of_lesson(lesson, draft, false) else { return };
        if quick {
            self.lesson_recorded(lesson, Ok(work(&NoProgress)));
        } else {
            self.jobs.start(&RECORD, lesson, work);
        }
    }
}
