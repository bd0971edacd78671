//! Analyses all rows' neighbours, and writes their graph.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::state::{AnalysisAction, AnalysisKind, AnalysisResults, FileComparison};
use super::{
    AnalysisRequest, CloudSearch, ComparisonRequest, LabelColumn, NeighborSource, compare, label_column, work,
};
use crate::app::context::app::{App, EXPORT, ExportContent, ExportTask, Feature};
use crate::app::features::chooser::state::FilePurpose;
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{absolute, file_name};
use crate::app::prelude::*;
use crate::cloud::{ColumnChoice, Source};
use crate::export::graph::GraphFormat;
use crate::progress::Progress;
use crate::run::{EngineChoice, QuerySpec};
use crate::text;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Analysis(action) => app.analysis_action(action),
            Action::Command(Command::Analyse) => app.analyse_in_sight(AnalysisAction::Start),
            Action::Command(Command::CompareRows) => {
                app.analyse_in_sight(AnalysisAction::Browse(AnalysisKind::Overlap))
            }
            Action::Command(Command::FindLeaks) => {
                app.analyse_in_sight(AnalysisAction::Browse(AnalysisKind::Leaks))
            }
            other => return Some(other),
        }
        None
    },
    leave_cloud: |app, _| {
        app.jobs.stop(&ANALYSE);
        app.jobs.stop(&COMPARE_FILES);
        app.session.analysed = None;
        app.session.file_comparisons.clear();
    },
    ..Feature::NONE
};

/// The analysis of all rows; `None` if cancelled.
pub static ANALYSE: TaskKind<App, (), Result<Option<AnalysisResults>, String>> = TaskKind {
    purpose: |(), fraction| {
        Some(Activity::Preparing { what: "Analysing every row's neighbours".to_owned(), fraction })
    },
    ..TaskKind::new(TaskPurpose::Analyse, "analyse", App::analysed)
};

/// A comparison with another file; `None` if cancelled.
pub static COMPARE_FILES: TaskKind<App, (AnalysisKind, PathBuf), Result<Option<FileComparison>, String>> =
    TaskKind {
        purpose: |(kind, path), fraction| {
            let what = if *kind == AnalysisKind::Leaks { "Finding leaks in" } else { "Comparing with" };
            Some(Activity::Preparing { what: format!("{what} {}", file_name(path)), fraction })
        },
        ..TaskKind::new(TaskPurpose::CompareFiles, "against", App::compared_with)
    };

impl App {
    /// Handles a menu action and shows the pane for its result.
    fn analyse_in_sight(&mut self, action: AnalysisAction) {
        self.show(PaneKind::Analysis);
        self.analysis_action(action);
    }

    pub(in crate::app) fn analysis_action(&mut self, action: AnalysisAction) {
        match action {
            AnalysisAction::Set(view) => {
                self.state.analysis = view;
                self.count_leaks_again();
            }
            AnalysisAction::Start => self.analyse(),
            AnalysisAction::Browse(kind) => match self.comparison_of(kind, Path::new("")) {
                // Report errors before asking the user for a file.
                Err(why) => self.session.log.error(Subject::Analysis, why),
                Ok(_) => self.browse(FilePurpose::Comparison(kind), PathBuf::new()),
            },
            AnalysisAction::Compare(kind, path) => self.compare_with(kind, path),
        }
    }

    /// Every row of the shown cloud as a query, with k and metric of the left panel and engine `auto`; `None`
    /// without a cloud.
    fn rows_question(&self) -> Option<Result<CloudSearch, String>> {
        let cloud = self.session.cloud.clone()?;
        Some(self.question(&cloud, QuerySpec::All).map(|mut spec| {
            (spec.exclude_self, spec.engine, spec.device) = (true, EngineChoice::Auto, None);
            CloudSearch { cloud, spec }
        }))
    }

    fn analyse(&mut self) {
        let Some(question) = self.rows_question() else { return };
        let asked = question.and_then(|question| {
            let view = &self.state.analysis;
            let labels = question.cloud.file().zip(label_column(view, &self.session));
            let labels = labels.map(|(path, (key, title))| LabelColumn { path: path.to_owned(), key, title });
            Ok(AnalysisRequest { question, labels, eps: view.eps()? })
        });
        match asked {
            Err(why) => self.session.log.error(Subject::Analysis, why),
            Ok(asked) => {
                let resident = self.handles.worker.resident().clone();
                self.jobs.start(&ANALYSE, (), move |progress| work(&asked, &resident, progress));
            }
        }
    }

    fn analysed(&mut self, (): (), outcome: Outcome<Result<Option<AnalysisResults>, String>>) {
        let Some(analysed) = self.task_result("analyse", outcome) else { return };
        let (rows, k) = (analysed.record.query_rows.len() as u64, analysed.record.spec.k);
        let message = format!(
            "{} analysed with k = {k} on {}",
            text::count(rows, "row", "rows"),
            analysed.record.engine
        );
        self.session.log.done(Subject::Analysis, message);
        self.session.analysed = Some(Arc::new(analysed));
    }

    /// The result of a task; failures are logged as "cannot `what`".
    fn task_result<T>(&mut self, what: &str, outcome: Outcome<Result<Option<T>, String>>) -> Option<T> {
        match self.done("analysis", outcome)? {
            Ok(Some(done)) => return Some(done),
            Ok(None) => self.session.log.info("cancelled"),
            Err(why) => self.session.log.error(Subject::Analysis, format!("cannot {what}: {why}")),
        }
        None
    }

    /// The comparison requested for another file.
    fn comparison_of(&self, kind: AnalysisKind, path: &Path) -> Result<ComparisonRequest, String> {
        let question = self
            .rows_question()
            .unwrap_or_else(|| Err("There are no rows yet; open a file first.".to_owned()))?;
        if kind == AnalysisKind::Leaks {
            return Ok(ComparisonRequest::Leaks(question, self.state.analysis.leak_eps()?));
        }
        // Uses the columns chosen when that file was last opened.
        let source = Source::File { path: path.to_owned(), columns: ColumnChoice::Default };
        let kept = self.state.roles_of(&source).and_then(|kept| kept.columns.parse().ok());
        Ok(ComparisonRequest::Overlap(NeighborSource::new(question, &self.session), kept.unwrap_or_default()))
    }

    pub(in crate::app) fn compare_with(&mut self, kind: AnalysisKind, path: PathBuf) {
        let path = absolute(&path);
        match self.comparison_of(kind, &path) {
            Err(why) => self.session.log.error(Subject::Analysis, why),
            Ok(asked) => {
                let (resident, of) = (self.handles.worker.resident().clone(), path.clone());
                self.jobs.start(&COMPARE_FILES, (kind, path), move |progress| {
                    compare(&asked, &of, &resident, progress)
                });
            }
        }
    }

    fn compared_with(
        &mut self,
        (kind, _): (AnalysisKind, PathBuf),
        outcome: Outcome<Result<Option<FileComparison>, String>>,
    ) {
        let what = if kind == AnalysisKind::Leaks { "find leaks" } else { "compare" };
        let Some(comparison) = self.task_result(what, outcome) else { return };
        self.session.log.done(Subject::Analysis, comparison.sentence.clone());
        self.session.add_file_comparison(comparison);
        // The distance may have been edited meanwhile.
        self.count_leaks_again();
    }

    /// Recounts leaks for the edited distance; the distances to the other file's rows are already known.
    fn count_leaks_again(&mut self) {
        let (Ok(eps), Some(leaks)) =
            (self.state.analysis.leak_eps(), self.session.file_comparison(AnalysisKind::Leaks))
        else {
            return;
        };
        if leaks.eps() != Some(eps) {
            let counted = leaks.within(eps);
            self.session.add_file_comparison(counted);
        }
    }

    /// Which neighbours the graph would contain.
    pub(in crate::app) fn graph_note(&self) -> Option<String> {
        let question = self.rows_question()?.ok()?;
        Some(NeighborSource::new(question, &self.session).sentence())
    }

    /// Writes the graph of all rows' neighbours in the background, with progress and cancel.
    pub(in crate::app) fn write_graph(&mut self, form: GraphFormat, path: &Path) -> Result<(), String> {
        let question = self
            .rows_question()
            .unwrap_or_else(|| Err("There is nothing to export yet; open a file first.".to_owned()))?;
        if self.jobs.has(&EXPORT) {
            return Err("Another file is being written; wait for it, or cancel it.".to_owned());
        }
        let neighbours = NeighborSource::new(question, &self.session);
        let (resident, target) = (self.handles.worker.resident().clone(), path.to_owned());
        let exporting =
            ExportTask { what: ExportContent::Graph, path: path.to_owned(), runs: Vec::new(), dialog: None };
        self.jobs.start(&EXPORT, exporting, move |progress: &dyn Progress| {
            let written = neighbours.write(form, &target, &resident, progress);
            (written.map(|()| vec![format!("written: {}", target.display())]), progress.cancelled())
        });
        Ok(())
    }
}
