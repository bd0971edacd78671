//! Carries out the actions of the lesson.

pub mod drag;
pub mod quiz;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::export::ExportJob;
use super::record::{RecordingResult, inject_fault, on_gpu, or_twin, own, record};
use super::state::LessonAction;
use super::state::files::{LessonFile, RangeDraft};
use super::state::player::{Player, SPEEDS};
use super::state::session::{
    DragState, ExplorerProblem, FaultChoice, FileQuery, LessonDraft, PresentationMode, lesson_of,
};
use crate::app::context::app::{App, EXPORT, ExportContent, ExportTask, Feature};
use crate::app::jobs::table::{CancelMethod, ExitPolicy, TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::look::tokens::Palette;
use crate::app::model::{Action, Activity, Command, Mode, PickedPoint, Subject, Theme};
use crate::knn::ProblemParameters;
use crate::lesson::edits::Edits;
use crate::lesson::lessons::{LESSONS, Lesson, OWN_DATA};
use crate::lesson::{LessonError, Level, Mark};
use crate::progress::Progress;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Lesson(action) => app.lesson_action(action),
            Action::Command(Command::Undo) if app.session.lesson.open => app.undo_drag(),
            Action::Command(Command::Cancel) if app.cancel_in_lesson() => {}
            Action::Command(command)
                if command.mode() == Mode::Lesson
                    || matches!(command, Command::Lesson | Command::LessonOfQuery) =>
            {
                app.lesson_command(command)
            }
            other => return Some(other),
        }
        None
    },
    update: App::play,
    enter_cloud: App::lesson_cloud_changed,
    ..Feature::NONE
};

pub static RECORD: TaskKind<App, &'static Lesson, Result<RecordingResult, LessonError>> = TaskKind {
    purpose: |lesson, fraction| {
        Some(Activity::Recording { what: format!("lesson {}", lesson.number), fraction })
    },
    cancel: CancelMethod::By(|app| {
        app.cancel_lesson();
    }),
    at_exit: |_| ExitPolicy::Stop,
    ..TaskKind::new(TaskPurpose::Record, "lesson", App::lesson_recorded)
};

impl App {
    fn lesson_command(&mut self, command: Command) {
        let held = self.session.lesson.is_held();
        match command {
            Command::Lesson if self.session.lesson.open => self.close_lesson(),
            Command::Lesson => self.open_lesson(self.state.lesson.number),
            Command::LessonOfQuery => self.lesson_of_query(),
            Command::NextLesson => self.open_lesson((self.state.lesson.number + 1).min(LESSONS.len() as u32)),
            Command::PreviousLesson => self.open_lesson(self.state.lesson.number.saturating_sub(1).max(1)),
            Command::Faster => self.change_speed(1),
            Command::Slower => self.change_speed(-1),
            Command::Predict => self.toggle_quiz(),
            Command::KernelLine => {
                let source = &mut self.session.lesson.source;
                *source = if source.is_some() { None } else { Some(None) };
            }
            Command::Zoom => self.zoom(),
            Command::ZoomNext => self.zoom_next(),
            Command::Presenter => self.present(PresentationMode::Presenter),
            Command::Bare => self.present(PresentationMode::Bare),
            // While a question is open, the player must not move on and show the answer.
            _ if held => {}
            command => self.move_player(command),
        }
    }

    fn move_player(&mut self, command: Command) {
        let now = self.handles.ctx.input(|input| input.time);
        let Some(player) = &mut self.session.lesson.player else { return };
        if command == Command::PlayPause {
            return if player.is_playing() { player.pause() } else { player.play(now) };
        }
        let level = Level::ALL.into_iter().find(|&level| Command::level(level) == command);
        if let Some(level) = level {
            if player.has_level(level) {
                player.level = level;
            }
            return;
        }
        player.pause();
        match command {
            Command::StepForward => {
                player.forward();
            }
            Command::StepBack => player.back(),
            Command::NextMerge => player.next_mark(Mark::Merge),
            Command::PreviousMerge => player.previous_mark(Mark::Merge),
            Command::NextHit => player.next_mark(Mark::BallotHit),
            Command::PreviousHit => player.previous_mark(Mark::BallotHit),
            Command::NextStage => player.next_mark(Mark::Stage),
            Command::PreviousStage => player.previous_mark(Mark::Stage),
            Command::NextBound => player.next_mark(Mark::MaxDistance),
            Command::PreviousBound => player.previous_mark(Mark::MaxDistance),
            Command::ToStart => player.seek(0),
            Command::ToEnd => player.seek(usize::MAX),
            _ => {}
        }
    }

    fn lesson_action(&mut self, action: LessonAction) {
        let lesson = lesson_of(self.state.lesson.number);
        let held = self.session.lesson.is_held();
        match action {
            LessonAction::Open(number) => self.open_lesson(number),
            LessonAction::Edit(draft) => {
                if draft.row != self.session.lesson.draft(lesson).row
                    && let Some(asked) = &mut self.session.lesson.asked
                {
                    // The same problem with another row as its query.
                    asked.query = None;
                }
                self.session.lesson.set_draft(lesson, draft);
            }
            LessonAction::Record => {
                self.change_data(lesson);
                self.record_lesson(lesson);
            }
            LessonAction::Reset => {
                self.session.lesson.asked = None;
                self.session.lesson.set_draft(lesson, LessonDraft::for_lesson(lesson));
                self.change_data(lesson);
                self.record_lesson(lesson);
            }
            LessonAction::SetFault(fault_choice) => {
                self.session.lesson.fault_choice = fault_choice;
                self.record_lesson(lesson);
            }
            LessonAction::Guess(fault) => {
                if let FaultChoice::Hunt { guess, .. } = &mut self.session.lesson.fault_choice {
                    *guess = Some(fault);
                }
            }
            LessonAction::Seek(position) if !held => {
                if let Some(player) = &mut self.session.lesson.player {
                    player.pause();
                    player.seek(position);
                }
            }
            LessonAction::Choose(take) if !held => {
                if let Some(player) = &mut self.session.lesson.player {
                    player.choose(take);
                }
            }
            LessonAction::SetWhole(whole) if !held => {
                if let Some(player) = &mut self.session.lesson.player {
                    player.set_whole(whole);
                }
            }
            LessonAction::Seek(_) | LessonAction::Choose(_) | LessonAction::SetWhole(_) => {}
            LessonAction::SetSpeed(speed) => self.state.lesson.speed = speed,
            LessonAction::SetSideBySide(on) => self.state.lesson.side_by_side = on,
            LessonAction::SetGpu(on) => {
                self.state.lesson.gpu = on;
                self.record_lesson(lesson);
            }
            LessonAction::Source(source) => self.session.lesson.source = source,
            LessonAction::Quiz(action) => self.quiz_action(action),
            LessonAction::Drag(action) => self.drag_in_map(action),
            LessonAction::Zoom(panel) => self.session.lesson.zoom = panel,
        }
    }

    /// Called before other data are recorded: drops moved points, which do not apply to them.
    fn change_data(&mut self, lesson: &'static Lesson) {
        let session = &mut self.session.lesson;
        let mut draft = session.draft(lesson);
        let Some(recorded) = session.drag.recorded.as_ref().filter(|recorded| **recorded != draft) else {
            return;
        };
        let touched = recorded.touched.clone();
        if !recorded.is_alike(&draft) || recorded.keys != draft.keys {
            draft.touched = Edits::default();
            session.set_draft(lesson, draft);
        }
        session.drag.forget_changes();
        session.drag.before = session.player.clone().map(|player| (player, touched));
    }

    /// Shows a lesson, and records it if necessary.
    pub(in crate::app) fn open_lesson(&mut self, number: u32) {
        let lesson = lesson_of(number);
        let there = self.session.lesson.player_of(lesson).is_some();
        self.show_lesson();
        self.state.lesson.number = lesson.number;
        if there || self.jobs.params(&RECORD).is_some_and(|recorded| recorded.number == lesson.number) {
            return;
        }
        (self.session.lesson.player, self.session.lesson.fault_choice, self.session.lesson.zoom) =
            (None, FaultChoice::None, None);
        self.session.lesson.drag = DragState::default();
        self.record_lesson(lesson);
    }

    /// Replaces the explorer, and hides its last message.
    fn show_lesson(&mut self) {
        if !self.session.lesson.open {
            self.session.lesson.before = self.session.log.note().cloned();
        }
        self.session.lesson.open = true;
    }

    fn close_lesson(&mut self) {
        self.session.lesson.open = false;
        self.present(PresentationMode::No);
        if let Some(player) = &mut self.session.lesson.player {
            player.pause();
        }
    }

    /// Opens the lesson on the user's own data with the picked query.
    fn lesson_of_query(&mut self) {
        let Some(cloud) = &self.session.cloud else {
            return self.session.log.error(Subject::Lesson, "no cloud is open: open one, and click a point");
        };
        let lesson = lesson_of(OWN_DATA);
        let mut draft = LessonDraft {
            width: lesson.width,
            touched: Edits::default(),
            ..self.session.lesson.draft(lesson)
        };
        let answered = self.session.answered.as_ref();
        let mut question = answered.map(|answered| ExplorerProblem::from_spec(&answered.record.spec));
        draft.k = answered.map_or(self.state.draft.k.clone(), |answered| answered.record.spec.k.to_string());
        match (self.session.picked, answered) {
            (Some(PickedPoint::Row(row)), _) if (row as usize) < cloud.len() => {
                draft.row = cloud.record(row as usize).to_string()
            }
            (Some(PickedPoint::Query(_) | PickedPoint::Coordinates), Some(answered))
                if let Some(queries) = &answered.record.query_cloud =>
            {
                draft.row.clear();
                let query =
                    FileQuery { queries: Arc::clone(queries), row: answered.row(), number: answered.query };
                question = question.map(|question| ExplorerProblem { query: Some(query), ..question });
            }
            _ => {
                return self
                    .session
                    .log
                    .error(Subject::Lesson, "no query is picked: click a point in Plane or Space");
            }
        }
        self.session.lesson.set_draft(lesson, draft);
        self.session.lesson.asked = question;
        self.show_lesson();
        self.state.lesson.number = OWN_DATA;
        (self.session.lesson.player, self.session.lesson.fault_choice) = (None, FaultChoice::None);
        self.session.lesson.drag = DragState::default();
        self.record_lesson(lesson);
    }

    /// Starts recording a lesson with the current settings; the previous recording stays until the new one is
    /// complete.
    pub(in crate::app) fn record_lesson(&mut self, lesson: &'static Lesson) {
        // The earlier recording is obsolete, even if this one is impossible.
        self.jobs.stop(&RECORD);
        let session = &mut self.session.lesson;
        (session.quiz, session.error, session.drag.behind) = (None, None, false);
        let draft = session.draft(lesson);
        match self.work_of_lesson(lesson, draft, self.state.lesson.gpu) {
            Ok(work) => self.jobs.start(&RECORD, lesson, work),
            // Field errors appear at their fields; others in the centre.
            Err(error) => self.session.lesson.error = error,
        }
    }

    /// The task that records a lesson with the current settings.
    ///
    /// # Errors
    /// The error of the first invalid field.
    pub(in crate::app) fn work_of_lesson(
        &self,
        lesson: &'static Lesson,
        draft: LessonDraft,
        gpu: bool,
    ) -> Result<
        impl FnOnce(&dyn Progress) -> Result<RecordingResult, LessonError> + Send + use<>,
        Option<String>,
    > {
        let cloud = self.session.cloud.clone().filter(|_| draft.takes_open_cloud(lesson));
        let session = &self.session.lesson;
        let read = draft.read(lesson, cloud.as_deref());
        let (choice, row) = read.map_err(|errors| errors.into_iter().next().map(|error| error.sentence))?;
        // The explorer's problem applies only to the lesson on the user's own data.
        let asked = session.asked.clone().filter(|_| lesson.number == OWN_DATA);
        let question = asked.unwrap_or_else(|| ExplorerProblem::from_draft(&self.state.draft));
        let setup = ProblemParameters {
            k: choice.k.unwrap_or(lesson.k),
            metric: question.metric,
            order: crate::cloud::Order::File,
            seed: question.seed,
            exclude_self: question.exclude_self,
            drop_zero_rows: question.drop_nonfinite,
        };
        let own = cloud.zip(row).map(|(cloud, row)| own(cloud, row, question));
        let fault_choice = self.session.lesson.fault_choice;
        // A fault may need data that differ from the lesson's.
        let with_data =
            if let FaultChoice::Chosen(fault) = fault_choice { lesson.with_data_for(fault) } else { *lesson };
        // Faults are injected only into the twin.
        let gpu = fault_choice == FaultChoice::None
            && gpu
            && self.session.can_record_on_gpu(choice.width.unwrap_or(lesson.width));
        Ok(move |progress: &dyn Progress| {
            let began = Instant::now();
            let recorded = record(&with_data, choice, own, setup, progress)?;
            let takes = inject_fault(lesson, recorded, fault_choice)?;
            let took = began.elapsed();
            let (takes, fallback_reason) =
                if gpu { or_twin(on_gpu(lesson, &takes), takes)? } else { (takes, None) };
            Ok(RecordingResult { takes, fallback_reason, draft, took })
        })
    }

    /// Another cloud is open: drops what lessons took from the previous one.
    fn lesson_cloud_changed(&mut self) {
        self.session.lesson.asked = None;
        for lesson in LESSONS.iter().filter(|lesson| lesson.own_data) {
            let session = &mut self.session.lesson;
            let draft =
                LessonDraft { row: String::new(), touched: Edits::default(), ..session.draft(lesson) };
            if !draft.takes_open_cloud(lesson) {
                continue;
            }
            session.set_draft(lesson, draft);
            if session.player_of(lesson).is_some() {
                (session.player, session.quiz, session.drag) = (None, None, DragState::default());
            }
            if self.jobs.params(&RECORD).is_some_and(|recorded| recorded.number == lesson.number) {
                self.jobs.stop(&RECORD);
            }
            if self.session.lesson.open && self.state.lesson.number == lesson.number {
                self.record_lesson(lesson);
            }
        }
    }

    pub(in crate::app) fn lesson_recorded(
        &mut self,
        lesson: &'static Lesson,
        outcome: Outcome<Result<RecordingResult, LessonError>>,
    ) {
        let session = &mut self.session.lesson;
        match outcome {
            // Another lesson is open by now.
            _ if lesson.number != self.state.lesson.number => {}
            Ok(Ok(RecordingResult { mut takes, fallback_reason, draft, took })) if !takes.is_empty() => {
                if let Some(why) = fallback_reason {
                    self.session.log.warn(Subject::Lesson, why);
                }
                let alike = session.drag.recorded.as_ref().is_some_and(|recorded| recorded.is_alike(&draft));
                if let Some(before) = session
                    .drag
                    .compared(&draft.touched)
                    .filter(|before| alike && before.takes.len() == takes.len())
                {
                    takes
                        .iter_mut()
                        .zip(&before.takes)
                        .for_each(|(take, before)| take.mark_changed_comparators(Some(&before.recording)));
                }
                let mut player = Player::new(lesson, takes);
                // Changing k keeps level and take; moving a point also keeps the position in the story.
                if let Some(before) = session.player_of(lesson) {
                    (player.level, player.whole) = (before.level, before.whole);
                    player.choose(before.active());
                    if alike {
                        // During a drag, relative to the position where the drag began, so that moving back
                        // shows the same step again.
                        let held = session.drag.before.as_ref().filter(|_| session.drag.held);
                        player.follow(held.map_or(before, |(taken, _)| taken));
                    } else {
                        player.seek(0);
                    }
                }
                // In a hunt, start from the beginning.
                if matches!(session.fault_choice, FaultChoice::Hunt { guess: None, .. }) {
                    player.seek(0);
                }
                (session.drag.recorded, session.drag.took) = (Some(draft), Some(took));
                // The quiz refers to steps of the previous recording.
                (session.player, session.quiz, session.error) = (Some(player), None, None);
                self.session.log.resolve(Subject::Lesson);
            }
            Ok(Err(LessonError::Cloud(crate::cloud::CloudError::Cancelled))) => {
                session.error = Some("Cancelled.".to_owned())
            }
            Ok(Err(error)) => session.error = Some(format!("The lesson cannot be recorded: {error}.")),
            Ok(Ok(_)) => session.error = Some("The lesson has nothing to show.".to_owned()),
            Err(stopped) => session.error = Some(format!("The lesson cannot be recorded: {stopped}.")),
        }
        if let Some(error) = self.session.lesson.error.clone() {
            self.session.log.error(Subject::Lesson, error);
        }
        if self.session.lesson.drag.behind {
            self.record_edits(lesson);
        }
    }

    /// Advances the player.
    fn play(&mut self) {
        let (now, speed) = (self.handles.ctx.input(|input| input.time), self.state.lesson.speed);
        if !self.session.lesson.open || self.session.lesson.is_held() {
            return;
        }
        if let Some(player) = &mut self.session.lesson.player
            && let Some(seconds) = player.advance(now, speed)
        {
            self.handles.ctx.request_repaint_after(std::time::Duration::from_secs_f64(seconds.max(0.0)));
        }
    }

    pub(in crate::app) fn write_lesson(
        &mut self,
        file: LessonFile,
        range: Option<&RangeDraft>,
        path: &Path,
    ) -> Result<(), String> {
        let Some(player) = &self.session.lesson.player else {
            return Err("There is nothing to export yet; open a lesson first.".to_owned());
        };
        if self.jobs.has(&EXPORT) {
            return Err("Another file is being written; wait for it, or cancel it.".to_owned());
        }
        let ctx = &self.handles.ctx;
        let palette = Palette::base(self.look(), &ctx.global_style().visuals);
        let job = ExportJob::new(file, player, self.state.lesson.side_by_side, palette.clone(), range)
            .map_err(|error| error.sentence)?;
        let (target, exporting) = (
            path.to_owned(),
            ExportTask { what: ExportContent::Lesson, path: path.to_owned(), runs: Vec::new(), dialog: None },
        );
        self.jobs.start(&EXPORT, exporting, move |progress| {
            (job.write(&target, progress).map(|said| vec![said]), progress.cancelled())
        });
        Ok(())
    }

    /// Handles Cancel in the open lesson; returns whether there was anything to cancel.
    fn cancel_in_lesson(&mut self) -> bool {
        // A window on top of the lesson is closed first.
        self.session.lesson.open && (self.session.lesson.source.take().is_some() || self.cancel_lesson())
    }

    /// Stops the recording, or else leaves a special view; returns whether there was anything to stop.
    pub(in crate::app) fn cancel_lesson(&mut self) -> bool {
        // Its result will be ignored.
        if self.jobs.stop(&RECORD) {
            self.session.lesson.error = Some("Cancelled.".to_owned());
            return true;
        }
        if let Some(player) = self.session.lesson.player.as_mut().filter(|player| player.has_marks()) {
            player.remove_marks();
            self.session.lesson.drag.before = None;
            return true;
        }
        if self.session.lesson.zoom.take().is_some() {
            return true;
        }
        if self.jobs.has(&EXPORT) {
            return false;
        }
        let less = match self.session.lesson.presenting {
            PresentationMode::No if self.session.lesson.quiz.is_some() => {
                self.toggle_quiz();
                return true;
            }
            PresentationMode::No => return false,
            PresentationMode::Presenter => PresentationMode::No,
            PresentationMode::Bare => PresentationMode::Presenter,
        };
        self.present(less);
        true
    }

    /// Zooms to the panel under the pointer, or shows all panels again.
    fn zoom(&mut self) {
        let picture = &self.handles.picture_of_lesson;
        let panel = picture.panel_under_pointer().or_else(|| picture.largest_panel());
        let zoom = &mut self.session.lesson.zoom;
        *zoom = if zoom.is_some() { None } else { panel };
    }

    fn zoom_next(&mut self) {
        let lesson = &mut self.session.lesson;
        let Some(panels) = lesson.player.as_ref().map(Player::panels).filter(|panels| !panels.is_empty())
        else {
            return;
        };
        let next = lesson
            .zoom
            .and_then(|zoom| panels.iter().position(|&panel| panel == zoom))
            .map_or(0, |at| (at + 1) % panels.len());
        lesson.zoom = Some(panels[next]);
    }

    /// Toggles a presenting mode.
    fn present(&mut self, how: PresentationMode) {
        let before = self.session.lesson.presenting;
        let how = if before == how { PresentationMode::No } else { how };
        self.session.lesson.presenting = how;
        if (before == PresentationMode::No) != (how == PresentationMode::No) {
            self.handles
                .ctx
                .send_viewport_cmd(egui::ViewportCommand::Fullscreen(how != PresentationMode::No));
        }
        self.look().apply(&self.handles.ctx);
    }

    /// The look of the window; the presenter has its own.
    pub(in crate::app) fn look(&self) -> Theme {
        if self.session.lesson.open && self.session.lesson.presenting != PresentationMode::No {
            self.state.lesson.presenter_look
        } else {
            self.state.look
        }
    }

    pub(in crate::app) fn set_look(&mut self, look: Theme) {
        let presenting = self.session.lesson.open && self.session.lesson.presenting != PresentationMode::No;
        *if presenting { &mut self.state.lesson.presenter_look } else { &mut self.state.look } = look;
        look.apply(&self.handles.ctx);
    }

    fn change_speed(&mut self, by: isize) {
        let now = self.state.lesson.speed;
        let at = SPEEDS.iter().position(|&speed| speed >= now).unwrap_or(SPEEDS.len() - 1);
        self.state.lesson.speed = SPEEDS[at.saturating_add_signed(by).min(SPEEDS.len() - 1)];
    }
}
