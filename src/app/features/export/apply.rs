//! Exports: set up in a dialog, written in the background, and retried in the dialog after a failure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::controls::{export_ui, offer_name};
use super::state::{ExportDialog, ExportKind};
use super::{ExportedFiles, PaneData, SelectionExport};
use crate::app::context::app::{App, EXPORT, ExportContent, ExportTask, Exported, Feature};
use crate::app::context::offscreen_render::{OffscreenRender, OutputFormat};
use crate::app::features::analysis::state::AnalysisKind;
use crate::app::features::chooser::state::FilePurpose;
use crate::app::features::lesson::state::files::{LessonFile, RangeDraft};
use crate::app::features::picking::state::ExtraColumns;
use crate::app::jobs::table::{ExitPolicy, TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{Layout, Level, Picture, PictureDraft, title_of};
use crate::app::panes;
use crate::app::prelude::*;
use crate::cloud::Source;
use crate::cloud::formats::file_of;
use crate::export::graph::GraphFormat;
use crate::run::recording;
use crate::text;

/// How long the dialog stays open while its file is written, so that immediate failures appear there. Longer
/// exports continue in the background.
const WAIT: Duration = Duration::from_millis(400);

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::StartExport(kind) => app.start_export(kind),
            Action::SetExport(dialog) => app.session.export = dialog,
            Action::BrowseExport => app.browse_export(),
            Action::SaveExport => app.save_export(),
            Action::CopyTable(pane) => app.copy_table(pane),
            Action::Command(Command::ExportGraph) => app.start_export(ExportKind::Graph(GraphFormat::Edges)),
            Action::Command(Command::SaveWindow) => app.start_export(ExportKind::Window),
            Action::Command(Command::ExportSelection) => app.start_export(ExportKind::Selection),
            other => return Some(other),
        }
        None
    },
    update: App::close_written,
    dialogs: |app, ui, palette| export_ui(ui, &app.session, &app.pane_rects, palette, &mut app.actions),
    ..Feature::NONE
};

/// Writes a table or a picture, as set up in a dialog.
pub static SAVE: TaskKind<App, Box<ExportDialog>, Result<ExportedFiles, String>> = TaskKind {
    concurrent: true,
    at_exit: |_| ExitPolicy::Finish,
    ..TaskKind::new(TaskPurpose::Save, "save", App::saved)
};

impl App {
    pub(in crate::app) fn start_export(&mut self, kind: ExportKind) {
        let plain = self.default_path(kind);
        let path = kind.free_path(&plain).display().to_string();
        let range = match (kind, &self.session.lesson.player) {
            (ExportKind::Lesson(file, _), Some(player)) if file.has_range() => Some(RangeDraft::new(player)),
            _ => None,
        };
        let points = self.session.file.as_ref().is_none_or(|file| file.points);
        let offered = path.clone();
        let note = if let ExportKind::Graph(_) = kind { self.graph_note() } else { None };
        let picture = kind.picture().flatten().map(|pane| {
            let names =
                [(PaneKind::Plane, self.state.plane.names), (PaneKind::Space, self.state.space.names)];
            let names = names.iter().any(|&(of, names)| of == pane && names);
            PictureDraft {
                choice: self.state.picture,
                title: title_of(pane, &self.state, &self.session),
                names,
            }
        });
        offer_name(&self.handles.ctx, &path);
        self.session.export = Some(ExportDialog {
            kind,
            path,
            plain,
            offered,
            error: None,
            overwrite: false,
            writing: None,
            picture,
            times: 1,
            points,
            range,
            note,
        });
    }

    fn browse_export(&mut self) {
        let Some(dialog) = &self.session.export else { return };
        self.browse(FilePurpose::Export, PathBuf::from(dialog.path.trim()));
    }

    /// Sets the target file; `overwrite` says whether the dialog has already asked about overwriting.
    pub(in crate::app) fn take_export_path(&mut self, path: &Path, overwrite: bool) {
        if let Some(dialog) = &mut self.session.export {
            let named = dialog.with_ending(path);
            *dialog = ExportDialog {
                // The question was about the name without an ending.
                overwrite: overwrite && named == path,
                path: named.display().to_string(),
                error: None,
                writing: None,
                ..dialog.clone()
            };
        }
    }

    /// The default target, which may exist.
    fn default_path(&self, kind: ExportKind) -> PathBuf {
        let mut name = PathBuf::from(kind.default_name());
        if kind == ExportKind::Session {
            if let Some(file) =
                self.session.file.as_ref().filter(|file| file.is_of(self.session.cloud.as_deref()))
            {
                return file.path.clone();
            }
            // Named after the data.
            if let Some(Source::File { path, .. }) = self.session.cloud.as_ref().map(|cloud| cloud.source()) {
                let file = file_of(path);
                name = Path::new(file.file_stem().unwrap_or(name.as_os_str()))
                    .with_added_extension(recording::EXTENSION);
            }
        }
        self.current_folder().join(name)
    }

    /// Starts the export, or shows in the dialog why it is impossible.
    fn save_export(&mut self) {
        // Saving twice writes once.
        let Some(mut dialog) = self.session.export.clone().filter(|dialog| dialog.writing.is_none()) else {
            return;
        };
        let path = dialog.with_ending(Path::new(dialog.path.trim()));
        dialog.path = path.display().to_string();
        let refuse = |app: &mut Self, error: &str| {
            app.session.export = Some(ExportDialog { error: Some(error.to_owned()), ..dialog.clone() });
        };
        if path.file_name().is_none() {
            return refuse(self, "Type the path of a file.");
        }
        let folder = matches!(dialog.kind, ExportKind::Lesson(LessonFile::Frames, _));
        if let Some(sentence) = dialog.kind.refuses(&path) {
            return refuse(self, &sentence);
        }
        let there =
            if folder { path.exists() } else { dialog.kind.files(&path).iter().any(|path| path.is_file()) };
        if there && !dialog.overwrite {
            let sentence = if folder {
                "This folder exists already. Save again to replace the pictures in it, or type another name."
            } else {
                "This file exists already. Save again to overwrite it, or type another name."
            };
            self.session.export =
                Some(ExportDialog { error: Some(sentence.to_owned()), overwrite: true, ..dialog });
            return;
        }
        let data = match dialog.kind {
            ExportKind::Data(pane) => Some((panes::pane(pane).data)(&self.session)),
            ExportKind::AllNeighbors => Some(self.session.record.clone().map(PaneData::AllNeighbors)),
            ExportKind::Selection => {
                let rows = Arc::clone(self.session.selection.rows());
                Some(SelectionExport::new(&self.session, rows).map(|rows| PaneData::Rows(Box::new(rows))))
            }
            ExportKind::Leaks => {
                Some(self.session.file_comparison(AnalysisKind::Leaks).cloned().map(PaneData::Leaks))
            }
            ExportKind::Trace => Some(self.session.record.clone().map(PaneData::Trace)),
            _ => None,
        };
        if dialog.kind == ExportKind::Data(PaneKind::Neighbors)
            && let left_out = self.left_out()
            && !left_out.is_empty()
        {
            self.session.log.list(Level::Info, format!("neighbours written{left_out}"));
        }
        let begun = match (dialog.kind, data) {
            (ExportKind::Selection, Some(None)) => Err("No rows are selected.".to_owned()),
            (_, Some(None)) => Err("There is nothing to export yet; run first, or pick a query.".to_owned()),
            (_, Some(Some(data))) => {
                self.jobs.start(&SAVE, Box::new(dialog.clone()), move |progress| data.save(&path, progress));
                Ok(())
            }
            (ExportKind::Session, None) => self.save_session(&path, dialog.points),
            (ExportKind::Recording(which), None) => self.save_recording(which, dialog.points, &path),
            (ExportKind::Graph(form), None) => self.write_graph(form, &path),
            (ExportKind::Lesson(file, _), None) => self.write_lesson(file, dialog.range.as_ref(), &path),
            (kind, None) => self.save_render(kind.picture().flatten(), &dialog, path),
        };
        if let Err(sentence) = begun {
            return refuse(self, &sentence);
        }
        if let Some(exporting) = self.jobs.params_mut(&EXPORT).filter(|_| dialog.kind.is_cancellable()) {
            exporting.dialog = Some(Box::new(dialog.clone()));
        }
        self.session.export = Some(ExportDialog { error: None, writing: Some(Instant::now()), ..dialog });
    }

    /// Closes the dialog of an export that takes long.
    fn close_written(&mut self) {
        let Some(since) = self.session.export.as_ref().and_then(|dialog| dialog.writing) else { return };
        match WAIT.checked_sub(since.elapsed()).filter(|left| !left.is_zero()) {
            // Requested in every frame, because egui keeps only the earliest requested time.
            Some(left) => self.handles.ctx.request_repaint_after(left),
            None => self.session.export = None,
        }
    }

    pub(in crate::app) fn written(&mut self, message: String) {
        self.session.log.done(Subject::File, message);
        self.session.export = self.session.export.take().filter(|dialog| dialog.writing.is_none());
    }

    /// Reopens the dialog of a failed export with its choices, unless another dialog is open by now.
    pub(in crate::app) fn not_written(&mut self, why: String, dialog: Option<Box<ExportDialog>>) {
        let session = &mut self.session;
        let free = session.export.as_ref().is_none_or(|open| open.writing.is_some())
            && session.finder.is_none()
            && session.datasets.is_none();
        match dialog.filter(|_| free && !session.help && !session.live.is_held()) {
            Some(dialog) => {
                session.log.list(Level::Error, why.clone());
                session.export = Some(ExportDialog { error: Some(why), writing: None, ..*dialog });
            }
            None => session.log.error(Subject::File, why),
        }
    }

    /// Starts rendering a pane or the whole window into a file.
    fn save_render(
        &mut self,
        pane: Option<PaneKind>,
        dialog: &ExportDialog,
        path: PathBuf,
    ) -> Result<(), String> {
        let Some(render_state) = self.handles.render_state.clone() else {
            return Err("There is no graphics adapter to draw it with.".to_owned());
        };
        let ctx = &self.handles.ctx;
        let shown = match pane {
            Some(pane) => self.pane_rects.get(&pane).ok_or("The pane is not visible; show it first.")?.size(),
            None => ctx.content_rect().size(),
        };
        let draft = dialog.picture.clone().unwrap_or_default();
        if pane.is_some() {
            self.state.picture = draft.choice;
        }
        let layout = draft.choice.size.layout((shown.into(), ctx.pixels_per_point()), dialog.times);
        let render = self.offscreen_render(pane, &draft, &layout);
        let medium = OutputFormat::for_path(&layout, &path);
        self.jobs.start(&SAVE, Box::new(dialog.clone()), move |_| {
            render.save(medium, &render_state, &path).map(|path| vec![path].into())
        });
        Ok(())
    }

    /// The offscreen rendering of a pane or the window.
    pub(in crate::app) fn offscreen_render(
        &self,
        pane: Option<PaneKind>,
        draft: &PictureDraft,
        layout: &Layout,
    ) -> OffscreenRender {
        let (mut state, session) = (self.state.clone(), self.session.clone());
        let dark = self.handles.ctx.global_style().visuals.dark_mode;
        state.look = draft.choice.background.look(self.look(), dark);
        let picture = pane.map(|pane| {
            (state.plane.names, state.space.names) = (draft.names, draft.names);
            let extent = panes::plane::shown_extent(&self.handles.ctx);
            Picture {
                pane,
                title: draft.title.clone(),
                legend: draft.choice.legend,
                marks: panes::picture::marks_shown(pane, &state, &session),
                extent,
            }
        });
        OffscreenRender { state, session, size: layout.points.into(), picture }
    }

    fn copy_table(&mut self, pane: PaneKind) {
        /// More rows are unreasonable for a clipboard and would block the window.
        const MAX_ROWS: usize = 200_000;
        let data = (panes::pane(pane).data)(&self.session);
        match data.as_ref().and_then(PaneData::table) {
            None => self
                .session
                .log
                .error(Subject::File, "There is nothing to copy yet; run first, or pick a query."),
            Some(table) if table.rows() > MAX_ROWS => {
                let rows = text::thousands(table.rows() as u64);
                let why = format!(
                    "cannot copy {rows} rows: the clipboard holds at most {MAX_ROWS}; export them to a file"
                );
                self.session.log.error(Subject::File, why);
            }
            Some(table) => {
                self.handles.ctx.copy_text(table.tsv());
                let without = if pane == PaneKind::Neighbors { self.left_out() } else { String::new() };
                let message = format!(
                    "copied: {} of {}{without}",
                    text::count(table.rows() as u64, "row", "rows"),
                    pane.title()
                );
                self.session.log.done(Subject::File, message);
            }
        }
    }

    /// Describes columns of the file that are missing from the table of neighbours.
    fn left_out(&self) -> String {
        let Some(answered) = &self.session.answered else { return String::new() };
        let cloud = &answered.record.cloud;
        // Other rows of the file tell whether it has other columns.
        let known = self.session.other_columns.as_ref().filter(|known| Arc::ptr_eq(&known.cloud, cloud));
        let has_none = known.and_then(ExtraColumns::cells).is_some_and(|others| others.total == 0);
        let without = ", without the file's other columns";
        match self.session.listed_columns().map(|columns| &*columns.found) {
            Some(Ok(others)) if others.columns.len() < others.total => {
                format!(
                    ", with the first {} of the file's {} other columns",
                    others.columns.len(),
                    others.total
                )
            }
            Some(Err(why)) => format!("{without}: {why}"),
            None if matches!(cloud.source(), Source::File { .. }) && !has_none => {
                format!("{without}, which are still being read")
            }
            Some(Ok(others)) if others.total > 0 => {
                answered.lookup_note().map_or_else(String::new, |note| format!("; {note}"))
            }
            Some(Ok(_)) | None => String::new(),
        }
    }

    fn saved(&mut self, dialog: Box<ExportDialog>, outcome: Outcome<Result<ExportedFiles, String>>) {
        match outcome.unwrap_or_else(|stopped| Err(format!("cannot write: {stopped}"))) {
            Ok(ExportedFiles { paths, rows, left_out }) => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                let rows = rows.map(|rows| format!("{} ", text::count(rows as u64, "row", "rows")));
                self.written(format!("{}written: {}", rows.unwrap_or_default(), paths.join(", ")));
                if let Some(left_out) = left_out {
                    self.session.log.warn(Subject::File, left_out);
                }
            }
            Err(error) => self.not_written(error, Some(dialog)),
        }
    }

    /// Handles the end of writing a lesson file, a recording or a session.
    pub(in crate::app) fn exported(&mut self, exporting: ExportTask, outcome: Outcome<Exported>) {
        match outcome {
            Ok((Ok(messages), _)) => {
                self.session.runs.note_saved(&exporting.runs);
                if let ExportContent::Session(file) = exporting.what {
                    self.session_saved(file);
                }
                let mut messages = messages.into_iter();
                self.written(messages.next().unwrap_or_default());
                messages.for_each(|missing| self.session.log.warn(Subject::File, missing));
            }
            Ok((Err(_), true)) => {
                self.cancelled();
            }
            Ok((Err(error), false)) => self.not_written(error, exporting.dialog),
            Err(stopped) => self.not_written(format!("cannot write: {stopped}"), exporting.dialog),
        }
    }
}
