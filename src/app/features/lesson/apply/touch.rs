//! Carries out moves of the query and of points in the lesson's map.

use super::RECORD;
use crate::app::context::app::App;
use crate::app::features::lesson::state::TouchAction;
use crate::app::features::lesson::state::session::{LessonDraft, lesson_of};
use crate::lesson::edits::Edits;
use crate::lesson::lessons::Lesson;
use crate::progress::Silent;

impl App {
    pub(in crate::app) fn touch(&mut self, action: TouchAction) {
        let lesson = lesson_of(self.state.lesson.number);
        let session = &mut self.session.lesson;
        // Moves refer to the recording shown, not to one that finishes meanwhile.
        let shown = session
            .player
            .as_mut()
            .filter(|player| player.lesson.number == lesson.number && session.quiz.is_none());
        let (Some(player), Some(_)) = (shown, &session.touch.recorded) else { return };
        let mut touched =
            session.drafts.get(&lesson.number).map(|draft| draft.touched.clone()).unwrap_or_default();
        match action {
            TouchAction::Hold => {
                player.pause();
                session.touch.begin(touched, player);
                session.touch.held = true;
            }
            // The drag began in another lesson, or before the quiz.
            TouchAction::Query(_) | TouchAction::Point(..) if !session.touch.held => {}
            TouchAction::Query(at) => {
                touched.query = Some(at);
                self.state.lesson.has_dragged = true;
                self.retouch(lesson, touched);
            }
            TouchAction::Point(row, at) => {
                touched.points.insert(row, at);
                self.state.lesson.has_dragged = true;
                self.retouch(lesson, touched);
            }
            TouchAction::Release => {
                session.touch.end(&touched);
                // During the drag only the twin recorded.
                if self.state.lesson.gpu {
                    self.record_lesson(lesson);
                }
            }
            TouchAction::Back => {
                let before = session.touch.take_back();
                if let Some(before) = before {
                    self.retouch(lesson, before);
                }
                self.session.lesson.touch.held = false;
            }
        }
    }

    pub(in crate::app) fn undo_touch(&mut self) {
        let lesson = lesson_of(self.state.lesson.number);
        let session = &mut self.session.lesson;
        let Some(player) = session.player.as_ref().filter(|_| session.quiz.is_none()) else { return };
        if let Some(before) = session.touch.take_back() {
            let draft = session.drafts.get(&lesson.number);
            session.touch.before = draft.map(|draft| (player.clone(), draft.touched.clone()));
            self.retouch(lesson, before);
        }
    }

    /// Records the lesson with the moved points: immediately if that fits in a frame, otherwise in the
    /// background, always with the latest position.
    fn retouch(&mut self, lesson: &'static Lesson, touched: Edits) {
        let session = &mut self.session.lesson;
        session.set_draft(lesson, LessonDraft { touched, ..session.draft(lesson) });
        self.record_touched(lesson);
    }

    /// Records with the current positions.
    pub(in crate::app) fn record_touched(&mut self, lesson: &'static Lesson) {
        let session = &mut self.session.lesson;
        session.touch.behind = self.jobs.has(&RECORD);
        // Settings come from the recording shown: fields may be half edited.
        let Some(recorded) = session.touch.recorded.clone().filter(|_| !session.touch.behind) else { return };
        let draft = LessonDraft { touched: session.draft(lesson).touched, ..recorded };
        let quick = session.touch.is_quick();
        let Ok(work) = self.work_of_lesson(lesson, draft, false) else { return };
        if quick {
            self.lesson_recorded(lesson, Ok(work(&Silent)));
        } else {
            self.jobs.start(&RECORD, lesson, work);
        }
    }
}
