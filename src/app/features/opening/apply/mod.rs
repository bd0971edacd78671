//! The first view of an opened cloud: a suitable pane, and a query with its neighbours.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{LoadJob, Loaded};
use crate::app::context::app::{App, Feature};
use crate::app::features::analysis::state::AnalysisView;
use crate::app::features::projection::state::{ProjectionKind, ProjectionView};
use crate::app::features::saved::state::SavedSession;
use crate::app::features::selection::state::RadiusInput;
use crate::app::features::walk::state::WalkView;
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::model::files::{typed_columns, unused_columns_sentence};
use crate::app::model::{
    DataKind, FailureReason, FileColumn, FileState, Level, PostLoadAction, RoleChoice, Roles, Sample,
    SampleSource, UnusedColumn, file_name,
};
use crate::app::prelude::*;
use crate::cloud::roles::Role;
use crate::cloud::{ColumnChoice, GlobeAxes, PointCloud, Source};
use crate::files::{self, StagingDir};
use crate::knn::Metric;
use crate::run::recording::{self, Recording, RecordingError};

pub mod loading;

const ON_GLOBE: &str =
    "longitude and latitude: distances are in km on the globe; L2 searches them as a plane";

const AS_PLANE: &str = "longitude and latitude: searched as a plane, in degrees; Globe measures in km";

/// A note on how the metric interprets longitude and latitude.
fn globe_note(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::Haversine => Some(ON_GLOBE),
        Metric::L2 => Some(AS_PLANE),
        Metric::Angular | Metric::Cosine | Metric::Sky => None,
    }
}

/// A cloud being read or generated, and what to do with it.
pub struct LoadTask {
    pub job: LoadJob,
    pub then: PostLoadAction,
}

pub static LOAD: TaskKind<App, LoadTask, (Loaded, Option<FileState>)> = TaskKind {
    purpose: |loading, fraction| Some(Activity::Loading { what: loading.job.name(), fraction }),
    ..TaskKind::new(TaskPurpose::Load, "load", App::loaded)
};

/// A recording being read.
pub struct OpenTask {
    pub path: PathBuf,
    /// The run to show.
    pub run: Option<String>,
    pub began: SystemTime,
    /// The session to restore; otherwise the recording's own, or its first run.
    pub resume: Option<SavedSession>,
    /// Files to open next.
    pub next: Vec<PathBuf>,
}

/// The session saved with the runs, or why it cannot be restored.
pub type RecordedSession = Option<Result<SavedSession, String>>;

pub static OPEN: TaskKind<App, OpenTask, Result<(Recording, RecordedSession), RecordingError>> = TaskKind {
    purpose: |opening, fraction| Some(Activity::Loading { what: file_name(&opening.path), fraction }),
    ..TaskKind::new(TaskPurpose::Open, "open", App::opened)
};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Load => {
                app.restore_columns();
                match app.state.draft.source() {
                    Ok(Source::File { path, .. }) if recording::split_run(&path).is_some() => {
                        app.open_recording(&path)
                    }
                    Ok(source) => {
                        let then = app.after_load(&source);
                        app.load(source, then);
                    }
                    Err(error) => app.session.log.error(Subject::Data, error.sentence),
                }
            }
            Action::OpenPath(path) => app.open(&path),
            Action::OpenSample(sample) => app.open_sample(sample),
            Action::OpenPaths(paths) => app.open_dropped(paths),
            other => return Some(other),
        }
        None
    },
    ..Feature::NONE
};

impl App {
    /// Shows a loaded cloud in the most suitable view, and queries a row of it. If the same points were shown
    /// before (`again`), the view stays.
    pub(in crate::app) fn open_to_an_answer(&mut self, first: u32, again: bool) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        if !again {
            self.bring_forward(if cloud.dims() == 3 { PaneKind::Space } else { PaneKind::Plane });
            if cloud.dims() > 3 {
                self.choose_projection(ProjectionView { kind: ProjectionKind::Pca, ..self.state.projection });
            }
        }
        self.pick(PickedPoint::Row(first));
        // The starting point cannot be undone.
        self.history.clear();
    }

    /// Resets settings and errors for another file, unless the user keeps settings.
    pub(in crate::app) fn start_fresh(&mut self) {
        if self.state.keep_settings {
            return;
        }
        (self.state.draft, self.state.analysis, self.state.walk) =
            (self.state.draft.fresh(), AnalysisView::default(), WalkView::default());
        self.session.nearby = RadiusInput::default();
        self.session.log.dismiss();
        self.session.log.list(
            Level::Info,
            "settings reset to defaults for the new file; to preserve them, use File, Keep settings",
        );
    }

    pub(in crate::app) fn load_failed(&mut self, ended: FailureReason) {
        self.session.endings.load = Some(ended);
        self.name_shown_data();
    }

    pub(in crate::app) fn name_shown_data(&mut self) {
        if let Some(cloud) = &self.session.cloud {
            self.state.draft.set_source(cloud.source());
            self.state.draft.drop_nonfinite = cloud.dropped() > 0;
        }
    }

    /// Chooses the metric that the file declares, or the globe's for longitude and latitude.
    pub(in crate::app) fn choose_metric(&mut self, cloud: &PointCloud, declared: Option<Metric>) {
        let metric = &mut self.state.draft.metric;
        if let Some(declared) = declared.filter(|_| *metric == Metric::L2) {
            *metric = declared;
            return;
        }
        let on_globe = GlobeAxes::matches(cloud);
        if *metric == Metric::L2 && on_globe {
            *metric = if GlobeAxes::is_sky(cloud.axes()) { Metric::Sky } else { Metric::Haversine };
            self.session.log.info(ON_GLOBE);
        }
        self.check_metric(cloud);
    }

    /// Replaces a metric of the globe for other columns, and says how L2 searches longitude and latitude.
    fn check_metric(&mut self, cloud: &PointCloud) {
        match (&mut self.state.draft.metric, GlobeAxes::matches(cloud)) {
            (metric @ (Metric::Haversine | Metric::Sky), false) => *metric = Metric::L2,
            (Metric::L2, true) => self.session.log.info(AS_PLANE),
            _ => {}
        }
    }

    /// After a change of metric, updates a note about the globe in the status line.
    pub(in crate::app) fn metric_changed(&mut self, before: Metric) {
        let now = self.state.draft.metric;
        let log = &mut self.session.log;
        let Some(said) = globe_note(before)
            .filter(|said| now != before && log.note().is_some_and(|note| note.text == *said))
        else {
            return;
        };
        match globe_note(now) {
            Some(note) => log.info(note),
            None => log.remove_note(said),
        }
    }

    /// Brings a view to the front; a layout without it, or with both views visible, stays.
    fn bring_forward(&mut self, view: PaneKind) {
        let views = [PaneKind::Plane, PaneKind::Space];
        if views.contains(&self.state.pane) {
            self.state.pane = view;
        }
        self.state.tree.make_active(|_, tile| matches!(tile, egui_tiles::Tile::Pane(kind) if *kind == view));
    }

    /// Sets the column roles of an opened file. If columns were left out, roles are inferred from them. For
    /// points that were shown before, the roles in `before` are kept unless others are set.
    pub(in crate::app) fn set_roles(
        &mut self,
        left_out: Vec<UnusedColumn>,
        before: Option<(Vec<UnusedColumn>, Roles)>,
    ) {
        // Inferred columns appear in the field, as if they had been typed.
        if let Some(Source::File { columns: columns @ ColumnChoice::Named(_), .. }) =
            self.session.cloud.as_ref().map(|cloud| cloud.source())
        {
            self.state.draft.columns = typed_columns(columns);
        }
        if !left_out.is_empty() {
            return self.report_unused_columns(left_out);
        }
        match before {
            Some((left_out, roles)) if self.session.roles == Roles::default() => {
                (self.session.left_out, self.session.roles) = (left_out, roles)
            }
            Some(_) => {}
            None => self.color_at_first(),
        }
    }

    /// Reports the columns left out, and colours by their label column, if any.
    fn report_unused_columns(&mut self, left_out: Vec<UnusedColumn>) {
        self.session.log.info(format!("not used as coordinates: {}", unused_columns_sentence(&left_out)));
        if let Some(label) = left_out.iter().find(|column| column.role == Role::Label) {
            self.session.roles.label =
                RoleChoice::Column(FileColumn { name: label.name.clone(), key: label.key.clone() });
        }
        self.color_at_first();
        self.session.left_out = left_out;
    }

    /// The folder for samples: next to the settings, or in a window without settings a private temporary
    /// folder.
    fn samples_folder(&mut self) -> io::Result<PathBuf> {
        if let Some(settings) = &self.settings {
            let folder = settings.folder().join("samples");
            return std::fs::create_dir_all(&folder).map(|()| folder);
        }
        if self.samples.is_none() {
            self.samples = Some(StagingDir::private(&std::env::temp_dir())?);
        }
        Ok(self.samples.as_ref().map_or_else(PathBuf::new, |folder| folder.path().to_owned()))
    }

    /// Whether samples are written to this folder.
    pub(in crate::app) fn has_samples(&self, folder: &Path) -> bool {
        let settings = self.settings.as_ref().map(|settings| settings.folder().join("samples"));
        settings.as_deref() == Some(folder) || self.samples.as_ref().is_some_and(|own| own.path() == folder)
    }

    /// Opens a sample cloud; if it is a file, it is written to the samples folder first.
    pub(in crate::app) fn open_sample(&mut self, sample: &Sample) {
        match sample.material {
            SampleSource::Spec(spec) => {
                (self.state.draft.data, self.state.draft.generator) = (DataKind::Generate, spec.to_owned());
                self.apply(Action::Load);
            }
            SampleSource::File { name, text } => {
                let written = self.samples_folder().and_then(|folder| {
                    let path = folder.join(name);
                    files::write(&path, |file| file.write_all(text.as_bytes())).map(|()| path)
                });
                match written {
                    Ok(path) => self.open(&path),
                    Err(why) => {
                        let ended =
                            self.failed(Subject::Data, format!("cannot write the sample: {why}: {name}"));
                        self.load_failed(ended);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;

    use super::*;
    use crate::app::model::SAMPLES;

    #[test]
    fn samples_without_settings_use_a_private_folder() {
        let mut window = Harness::builder()
            .build_eframe(|cc| App::bare(cc, State::default()).expect("a thread for the worker"));
        let sample = SAMPLES
            .iter()
            .find(|sample| matches!(sample.material, SampleSource::File { .. }))
            .expect("a file");
        window.state_mut().open_sample(sample);
        let folder = window.state_mut().samples_folder().expect("a folder");
        assert_ne!(folder, std::env::temp_dir().join("samples"), "a predictable name");
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 1);
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&folder.metadata().expect("it is there").permissions())
                & 0o777,
            0o700
        );
        drop(window);
        assert!(!folder.exists());
    }
}
