//! Restores a saved session: shows its runs, loads its cloud again, then restores the views and the selection.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::app::context::app::App;
use crate::app::features::analysis::state::AnalysisAction;
use crate::app::features::color::state::view::ColorBy;
use crate::app::features::runs::state::list::RunId;
use crate::app::features::saved::apply::Last;
use crate::app::features::saved::state::ranges::Ranges;
use crate::app::features::saved::state::{SavedCloud, SavedQuery, SavedSession, SavedSet};
use crate::app::features::selection::state::named::{NamedSet, NamedSets};
use crate::app::model::{About, Action, Picked, Then, data_file, source_name};
use crate::cloud::formats::file_of;
use crate::cloud::{PointCloud, Source, query_point};
use crate::run::{EngineChoice, recording};

impl App {
    /// Goes on with what [`App::put_down`] gave. A text that it did not give only loads what the fields on the left name.
    pub fn pick_up(&mut self, text: &str) {
        self.last = Some(text.to_owned()).filter(|text| !text.is_empty());
        match serde_json::from_str::<Last>(text) {
            Ok(Last { file: Some(file), saved }) if file.exists() => self.open_recording_for(&file, Some(saved)),
            // The folder of a recording that is gone still limits what its session opens.
            Ok(Last { file, saved }) if saved.cloud.is_some() => self.resume(&saved, &[], None, None, file.as_deref().and_then(Path::parent)),
            _ => self.apply(Action::Load),
        }
    }

    /// Shows what a session showed. `runs` are those of its file that are in the list, by their names there, `held` is the
    /// cloud that the file has of what was shown, and `read` when the points began to be read, where that was just now and
    /// from where they come from. `home` is the folder of the file, which may name any file of this machine: outside, none is read until
    /// the user loads it.
    pub(in crate::app) fn resume(
        &mut self,
        saved: &SavedSession,
        runs: &[(String, RunId)],
        held: Option<Arc<PointCloud>>,
        read: Option<SystemTime>,
        home: Option<&Path>,
    ) {
        let is_near = |source: &Source| match (home, source) {
            (Some(home), Source::File { path, .. }) => recording::is_below(&file_of(path), home),
            _ => true,
        };
        let id_of = |name: &Option<String>| runs.iter().find(|(known, _)| Some(known) == name.as_ref()).map(|(_, id)| *id);
        let whole = |id: &RunId| self.session.runs.get(*id).is_some_and(|kept| kept.run.record().is_some());
        let shown = id_of(&saved.shown).filter(whole);
        let [a, b] = saved.compared.each_ref().map(&id_of);
        if a != b {
            self.session.runs.chosen = [a, b];
            self.compare_chosen();
        }
        saved.view.restore(&mut self.state);
        match (shown, &saved.cloud) {
            (Some(id), _) => {
                self.show_kept(id);
                self.settle(saved);
                self.compare_source(saved, read, is_near);
            }
            (None, Some(cloud)) => {
                self.state.draft = saved.view.draft();
                match self.known_cloud(cloud, runs, held) {
                    Some(known) => {
                        self.show_cloud(known);
                        self.settle(saved);
                        self.compare_source(saved, read, is_near);
                    }
                    None if is_near(&cloud.source) => {
                        self.load_as(cloud.source.clone(), cloud.drop_nonfinite, Then::Resume(Box::new(saved.clone())));
                    }
                    None => {
                        let said = format!(
                            "the session was saved without its points; load their file to continue, or put it beside the session: {}",
                            cloud.source
                        );
                        self.session.endings.load = Some(self.failed(About::Data, said));
                        self.session.awaited = Some(Box::new(saved.clone()));
                    }
                }
            }
            // Runs of which nothing was shown.
            (None, None) => {}
        }
    }

    /// What follows when the user loads a source: a session that waits for it.
    pub(in crate::app) fn after_load(&mut self, source: &Source) -> Then {
        let waits = |saved: &SavedSession| saved.cloud.as_ref().is_some_and(|cloud| data_file(&cloud.source) == data_file(source));
        self.session.awaited.take().filter(|saved| waits(saved)).map_or(Then::Show, Then::Resume)
    }

    /// The cloud of a session was read from where it came from.
    pub(in crate::app) fn resume_loaded(&mut self, saved: &SavedSession) {
        let Some(cloud) = &self.session.cloud else { return };
        if saved.cloud.as_ref().is_some_and(|known| known.fingerprint == *cloud.fingerprint()) {
            // The run that was shown has its points now.
            let shown = self.session.runs.runs().iter().find(|kept| saved.shown.as_deref() == Some(&*kept.name) && kept.run.record().is_some());
            if let Some(id) = shown.map(|kept| kept.id) {
                self.show_kept(id);
            }
            return self.settle(saved);
        }
        let said = format!("the data has changed since it was saved, so query, selection and views are left out: {}", cloud.source());
        self.session.log.warn(About::Data, said);
    }

    /// The cloud, where the session's file has it, a run of the session, or the window. The same points may have come from
    /// several files: those of the one that was shown are meant, or of one of its name, which was moved with the session.
    /// Others stand in for it only where it is gone; where it is there, it is read.
    fn known_cloud(&self, cloud: &SavedCloud, runs: &[(String, RunId)], held: Option<Arc<PointCloud>>) -> Option<Arc<PointCloud>> {
        let of_runs = runs.iter().filter_map(|(_, id)| Some(&self.session.runs.get(*id)?.run.record()?.cloud));
        let known = held.iter().chain(of_runs).chain(&self.session.cloud).filter(|known| *known.fingerprint() == cloud.fingerprint);
        let (far, nearest) = known.map(|known| (unlike(known.source(), &cloud.source), known)).min_by_key(|&(far, _)| far)?;
        let gone = || matches!(&cloud.source, Source::File { path, .. } if !file_of(path).exists());
        (far < OTHER || gone()).then(|| Arc::clone(nearest))
    }

    /// Views, query and selection as they were, of the cloud that is shown.
    fn settle(&mut self, saved: &SavedSession) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let view = &saved.view;
        self.state.draft = view.draft();
        if let (Source::File { path, .. }, Some(saved)) = (cloud.source(), &saved.cloud)
            && *cloud.source() != saved.source
        {
            // Moved with the session.
            self.state.draft.path = path.display().to_string();
        }
        self.state.draft.selected_rows = view.selected_records(&cloud).into();
        (self.state.color, self.state.projection, self.state.walk) = (view.color.clone(), view.projection, view.walk);
        (self.session.roles, self.session.left_out) = (view.roles.clone(), view.left_out.clone());
        self.session.note = view.note.clone().or(self.session.note.take());
        let (plane, space) = view.views(&cloud);
        self.set_views(plane, space);
        self.session.timeline = view.timeline.settled();
        match &saved.query {
            Some(SavedQuery::Row(row)) => self.pick(Picked::Row(*row)),
            Some(SavedQuery::Query(query)) => self.pick_query(*query),
            Some(SavedQuery::Coordinates(at)) => match query_point::cloud(at, &cloud) {
                Ok(place) => self.put_at(Some(Arc::new(place))),
                Err(why) => self.session.log.error(About::Query, why.to_string()),
            },
            None => self.pick_nothing(),
        }
        self.session.rank = saved.rank.filter(|&rank| rank < EngineChoice::Auto.k_limit());
        let numbers = |ranges: &Ranges, end: usize| -> Vec<u32> { ranges.below(end as u64).into_iter().map(|number| number as u32).collect() };
        let set = |set: &SavedSet| NamedSet { name: set.name.clone(), rows: numbers(&set.rows, cloud.len()).into() };
        self.session.sets = NamedSets::of(saved.sets.iter().map(set).filter(|set| !set.rows.is_empty()).collect());
        if let Some(selection) = &saved.selection {
            let queries = self.session.record.as_ref().map_or(0, |record| record.query_rows.len());
            self.select_these(numbers(&selection.rows, cloud.len()), numbers(&selection.queries, queries), selection.by.clone());
        }
        // The scores of another file are not computed again: the session does not hold that file.
        if matches!(view.color.by, ColorBy::Analysis(kind) if !kind.is_of_two()) && self.session.analysed().is_none() {
            self.analysis_action(AnalysisAction::Start);
        }
        // Restoring is not a step that undo should revert.
        self.history.clear();
    }

    pub(in crate::app) fn name_window(&self) {
        self.handles.ctx.send_viewport_cmd(egui::ViewportCommand::Title(self.title()));
    }

    /// The window's title: its data, the session's file and the program.
    pub fn title(&self) -> String {
        let cloud = self.session.cloud.as_deref();
        let file = self.session.file.as_ref().filter(|file| file.is_of(cloud)).and_then(|file| file.path.file_stem());
        let names = [cloud.map(source_name), file.map(|name| name.to_string_lossy().into_owned()), Some("Warpscope".to_owned())];
        names.into_iter().flatten().collect::<Vec<_>>().join(" – ")
    }
}

/// What [`unlike`] gives of sources that have nothing to do with each other.
const OTHER: u8 = 2;

/// 0 for the same source, 1 for a file of the same name elsewhere, else [`OTHER`].
fn unlike(a: &Source, b: &Source) -> u8 {
    match (a, b) {
        _ if a == b => 0,
        (Source::File { path: a, columns: of_a }, Source::File { path: b, columns: of_b }) if a.file_name() == b.file_name() && of_a == of_b => 1,
        _ => OTHER,
    }
}
