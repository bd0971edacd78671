//! What is open now and is not kept: the cloud, its answer, what is selected, what is going on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::answer::{Answered, Picked};
use super::camera::Scene;
use super::commands::Finder;
use super::files::{FileState, LeftOut, Roles, SessionFile};
use super::log::{Activity, Endings, Log, Running};
use super::pane::PaneKind;
use super::picture::Picture;
use super::pictures::{Pictured, Pictures};
use super::telling::Telling;
use super::views::{Sort, TimelineView};
use crate::app::features::analysis::state::{Against, Analysed, AnalysisKind};
use crate::app::features::chooser::state::Chooser;
use crate::app::features::color::state::channel::Colored;
use crate::app::features::columns::state::ColumnsDialog;
use crate::app::features::contest::state::Contest;
use crate::app::features::datasets::state::PartsDialog;
use crate::app::features::export::state::ExportDialog;
use crate::app::features::lesson::state::session::LessonSession;
use crate::app::features::live::state::Live;
use crate::app::features::manual::state::Manual;
use crate::app::features::picking::state::{Beside, Tool};
use crate::app::features::projection::state::Projected;
use crate::app::features::quit::state::Quitting;
use crate::app::features::row_names::state::{NameSearch, RowNames};
use crate::app::features::runs::state::RunList;
use crate::app::features::saved::state::SavedSession;
use crate::app::features::selection::state::facts::Facts;
use crate::app::features::selection::state::{Hovered, NamedSets, Nearby, Selection};
use crate::app::features::unusable::state::UnusableDialog;
use crate::app::features::walk::state::Walked;
use crate::app::features::why::state::Why;
use crate::cloud::formats::ColumnInfo;
use crate::cloud::{Fingerprint, PointCloud};
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId, DeviceInfo, DeviceKind, EngineId};
use crate::run::RunRecord;
use crate::run::analysis::{Derived, TheoryCurve};

/// Whether an engine can run on a device of this machine.
#[derive(Clone, Debug)]
pub struct EngineStatus {
    pub id: EngineId,
    pub device_id: DeviceId,
    /// What that device is, or why not; `None` while it is being found out.
    pub device: Option<Result<DeviceInfo, String>>,
}

impl EngineStatus {
    pub fn descriptor(&self) -> Option<&'static Descriptor> {
        registry::find(self.id)
    }

    /// The device as it is offered: `0: NVIDIA H200`.
    pub fn device_text(&self) -> String {
        match &self.device {
            Some(Ok(device)) => format!("{}: {}", self.device_id, device.name),
            _ => self.device_id.to_string(),
        }
    }

    /// Why there is no such device, without the engine's name, as all say the same of it.
    pub fn why_not(&self) -> Option<&str> {
        let why = self.device.as_ref()?.as_ref().err()?;
        Some(why.split_once(" engine cannot run here: ").map_or(why, |(_, why)| why))
    }

    /// Whether the device is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.device_id.kind() == DeviceKind::Gpu
    }

    /// Whether it is known to run here.
    pub fn is_there(&self) -> bool {
        matches!(self.device, Some(Ok(_)))
    }

    /// Whether it is known not to.
    pub fn is_missing(&self) -> bool {
        matches!(self.device, Some(Err(_)))
    }
}

/// What columns a file has.
#[derive(Clone, Debug, PartialEq)]
pub struct FileColumns {
    pub path: PathBuf,
    /// All of them, in the file's order.
    pub columns: Vec<ColumnInfo>,
}

impl FileColumns {
    /// Whether they are the columns of this cloud's file.
    pub fn is_of(&self, cloud: &PointCloud) -> bool {
        cloud.file() == Some(&self.path)
    }

    /// What stands for the columns red, green and blue, where the file has them and they are more than black.
    pub fn colors(&self) -> Option<[String; 3]> {
        let places = crate::cloud::roles::colors(self.columns.iter().map(|column| column.name.as_str()))?;
        let shows = |&place: &usize| self.columns[place].max.is_some_and(|most| most > 0.0);
        let name = |place: usize| self.columns[place].name.as_str();
        let is_own = |&place: &usize| {
            self.columns.iter().filter(|column| column.name.eq_ignore_ascii_case(name(place))).count() == 1
        };
        let key = |place: usize| if is_own(&place) { name(place).to_owned() } else { place.to_string() };
        places.iter().any(shows).then(|| places.map(key))
    }
}

#[derive(Clone, Default)]
pub struct Session {
    pub cloud: Option<Arc<PointCloud>>,
    /// What columns its file has, once they are listed.
    pub columns: Option<FileColumns>,
    /// Whether the file's own colours are shown once it is known that there are any: it was just opened, and
    /// nothing else colours its points.
    pub awaits_colors: bool,
    /// The numeric columns that its file was opened without.
    pub left_out: Vec<LeftOut>,
    /// Which of its columns say what a row is.
    pub roles: Roles,
    /// What its rows are called, once somebody has typed what may be a name.
    pub row_names: Option<Arc<RowNames>>,
    /// The search of these for what is typed into the finder.
    pub name_search: NameSearch,
    /// The pictures that the names of its columns say that rows are.
    pub pictures_named: Option<Pictures>,
    /// What is to be said of how its file was read.
    pub note: Option<String>,
    /// The last whole run over [`Self::cloud`].
    pub record: Option<Arc<RunRecord>>,
    /// Histogram and bands of [`Self::record`], once they are made.
    pub derived: Option<Arc<Derived>>,
    /// Which part of the record's time Timeline shows.
    pub timeline: TimelineView,
    /// What the file of a cloud was as the cloud was read from it.
    pub loaded_file: Option<(Fingerprint, FileState)>,
    /// What was run and opened.
    pub runs: RunList,
    /// The engines that are compared on one question.
    pub contest: Contest,
    /// Where the session was saved, or opened from.
    pub file: Option<SessionFile>,
    /// A session whose points lie in a file elsewhere, which is read when the user loads it.
    pub awaited: Option<Box<SavedSession>>,
    /// What the pointer chose.
    pub picked: Option<Picked>,
    /// Its answer, once it is there.
    pub answered: Option<Answered>,
    /// What is shown instead of the cloud's axes.
    pub projected: Option<Arc<Projected>>,
    /// What the neighbours of all rows say of them, once it was worked out.
    pub analysed: Option<Arc<Analysed>>,
    /// What another file says of them: at most one overlap and one file of leaks.
    pub against: Vec<Arc<Against>>,
    /// By what points are coloured, worked out.
    pub colored: Colored,
    /// Points seen, while the moment of the search moves on by itself.
    pub playing: Option<f64>,
    /// The way of its search through an index, where that is shown.
    pub walked: Walked,
    /// When the walk's next step is due, in seconds of the window's clock, while it plays.
    pub walking: Option<f64>,
    /// What theory expects of it.
    pub theory: Option<TheoryCurve>,
    /// Whether that is still what it expected of the answer before.
    pub theory_lags: bool,
    /// The query as it is dragged, typed and asked for at once.
    pub live: Live,
    /// What is selected beside the query.
    pub selection: Selection,
    /// What is shown of it.
    pub selected: Arc<Facts>,
    /// Selections that were given a name.
    pub sets: NamedSets,
    /// What the pointer rests on.
    pub hovered: Option<Hovered>,
    /// The query of the run that asks for it, or is it.
    pub hovered_query: Option<usize>,
    /// What a drag in Plane and Space does.
    pub tool: Tool,
    /// What the file has of the neighbours that are listed beside their coordinates; or of those that were
    /// listed before.
    pub beside: Option<Beside>,
    /// The picture of a pane that is drawn in place of the window.
    pub picture: Option<Arc<Picture>>,
    /// Whether what lies over the points is left out: it is drawn as shapes over a picture of them.
    pub only_points: bool,
    /// The row that is asked about: why it is, or is not, among the neighbours.
    pub why: Why,
    /// The distance within which rows are to be selected.
    pub nearby: Nearby,
    /// By what the tables of panes are sorted, where not in their own order.
    pub sorts: BTreeMap<PaneKind, Sort>,
    /// The rank that is selected in the table.
    pub rank: Option<usize>,
    pub running: Option<Running>,
    pub activity: Activity,
    /// What came to nothing.
    pub endings: Endings,
    /// What can run here.
    pub engines: Vec<EngineStatus>,
    pub lesson: LessonSession,
    pub log: Log,
    /// Whether the sheet of shortcuts is open.
    pub help: bool,
    /// The document that is read.
    pub manual: Option<Manual>,
    /// Whether it is shown what the program is and runs on.
    pub about: bool,
    pub finder: Option<Finder>,
    /// The export that is being set up.
    pub export: Option<ExportDialog>,
    /// Our own file dialog.
    pub chooser: Option<Chooser>,
    /// Which cloud of a file is meant, while it is asked.
    pub parts: Option<PartsDialog>,
    /// What is waited for before the window closes.
    pub quitting: Option<Quitting>,
    /// Whether a file is opened without some of its rows, while it is asked.
    pub unusable: Option<UnusableDialog>,
    /// What the columns of the file are, while it is chosen.
    pub columns_dialog: Option<ColumnsDialog>,
}

impl Session {
    /// The columns of the file of the cloud that is shown, once they are listed.
    pub fn file_columns(&self) -> Option<&FileColumns> {
        self.columns.as_ref().filter(|known| self.cloud.as_ref().is_some_and(|cloud| known.is_of(cloud)))
    }

    /// What stands for the columns of the cloud's file that are a colour, once they are listed.
    pub fn file_colors(&self) -> Option<[String; 3]> {
        self.file_columns()?.colors()
    }

    /// Whether a dialog is open, which has all keys to itself. The sheet of shortcuts is none: its keys are
    /// tried out beside it.
    pub fn has_dialog(&self) -> bool {
        let files = self.export.is_some()
            || self.chooser.is_some()
            || self.parts.is_some()
            || self.columns_dialog.is_some();
        files || self.finder.is_some() || self.unusable.is_some() || self.quitting == Some(Quitting::Asks)
    }

    /// What a picture of the window shows: everything but what lies over it.
    pub fn portrait(&self) -> Self {
        let live = Live { known: true, ..self.live.clone() };
        Self {
            help: false,
            about: false,
            chooser: None,
            columns_dialog: None,
            export: None,
            finder: None,
            manual: None,
            parts: None,
            quitting: None,
            tool: Tool::Move,
            activity: Activity::Idle,
            endings: Endings {
                load: self.endings.load.clone().filter(|_| self.cloud.is_none()),
                ..self.endings.clone()
            },
            running: None,
            hovered: None,
            live,
            ..self.clone()
        }
    }

    /// The same with no more over the points than they would be without: no query, no neighbours, no note.
    pub fn portrait_of_points(&self) -> Self {
        Self { only_points: true, walked: self.walked.without_marks(), ..self.portrait() }
    }

    /// The answer in a sentence.
    pub fn answer_sentence(&self) -> Option<String> {
        self.answered
            .as_ref()
            .map(|answered| Telling::of(answered, self.picked, self.listed_beside(), &self.roles).sentence())
    }

    /// The pictures that rows of a cloud are, which is the one shown or has its axes.
    pub fn pictures(&self, cloud: &PointCloud) -> Option<Pictures> {
        let pictures = match self.roles.pictures {
            Pictured::Named => self.pictures_named,
            Pictured::Nothing => None,
            Pictured::As(pictures) => Some(pictures),
        };
        pictures.filter(|pictures| pictures.fits(cloud.dims()))
    }

    /// The pictures that rows of the cloud that is shown may be, where nobody said whether they are: squares
    /// of at least 8 × 8 of numbers that are not negative.
    pub fn offered_pictures(&self) -> Option<Pictures> {
        let cloud = self
            .cloud
            .as_ref()
            .filter(|_| self.roles.pictures == Pictured::Named && self.pictures_named.is_none())?;
        let has_pixels = cloud.axes().iter().all(|axis| axis.min >= 0.0);
        Pictures::possible(cloud.dims())
            .into_iter()
            .find(|pictures| has_pixels && pictures.channels == 1 && pictures.width >= 8)
    }

    /// Whether a legend is drawn: in the window always, in a picture where it is asked for.
    pub fn has_legend(&self) -> bool {
        self.picture.as_ref().is_none_or(|picture| picture.legend)
    }

    /// Whether this very cloud is shown.
    pub fn has_cloud(&self, cloud: &Arc<PointCloud>) -> bool {
        self.cloud.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, cloud))
    }

    /// Whether this very run is shown.
    pub fn has_record(&self, record: &Arc<RunRecord>) -> bool {
        self.record.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, record))
    }

    /// What the neighbours of all rows of the cloud that is shown say of them.
    pub fn analysed(&self) -> Option<&Arc<Analysed>> {
        self.analysed.as_ref().filter(|analysed| self.has_cloud(&analysed.record.cloud))
    }

    /// What another file says of the rows of the cloud that is shown.
    pub fn against(&self, kind: AnalysisKind) -> Option<&Arc<Against>> {
        self.against_all().find(|against| against.kind() == kind)
    }

    /// All of that.
    pub fn against_all(&self) -> impl Iterator<Item = &Arc<Against>> {
        self.against.iter().filter(|against| self.has_cloud(&against.cloud))
    }

    /// Takes in what another file says, in place of what one said before.
    pub fn take_against(&mut self, against: Against) {
        self.against.retain(|known| known.kind() != against.kind());
        self.against.push(Arc::new(against));
        self.against.sort_by_key(|against| against.leaks.is_some());
    }

    /// What the file has of the picked query's neighbours beside their coordinates, once it was read.
    pub fn listed_beside(&self) -> Option<&Beside> {
        let (beside, answered) = (self.beside.as_ref()?, self.answered.as_ref()?);
        beside.is_of(&answered.record.cloud, &answered.rows_to_tell()).then_some(beside)
    }

    /// What Plane and Space draw; `None` without a cloud.
    pub fn scene(&self) -> Option<Scene> {
        let queries = self.record.as_ref().and_then(|record| record.query_cloud.clone());
        let answered = self.answered.as_ref().map(|answered| answered.query_cloud());
        let others = self.picked_point().map(|(cloud, _)| cloud).into_iter().chain(answered);
        Some(Scene::of(self.cloud.clone()?, queries, self.projected.as_deref(), others))
    }

    /// Whether a GPU is there to record a lesson with so many lanes: its warps have 32.
    pub fn can_record_on_gpu(&self, width: u32) -> bool {
        width == 32
            && self.engines.iter().any(|status| {
                status.is_there()
                    && status.is_gpu()
                    && status.descriptor().is_some_and(|engine| engine.traces)
            })
    }

    /// What is known of the best engine that runs on a GPU.
    pub fn gpu(&self) -> Option<&EngineStatus> {
        self.engines.iter().find(|status| status.is_gpu())
    }

    /// What is known of an engine, on a device or where it runs when nobody says.
    pub fn engine(&self, id: EngineId, device: Option<DeviceId>) -> Option<&EngineStatus> {
        self.engines
            .iter()
            .find(|status| status.id == id && device.is_none_or(|device| status.device_id == device))
    }

    /// Notes what was found out of an engine on a device. Devices of an engine come in their order.
    pub fn note_engine(&mut self, status: EngineStatus) {
        let key = |status: &EngineStatus| (status.id, status.device_id);
        match self.engines.iter().position(|known| key(known) == key(&status)) {
            Some(at) => self.engines[at] = status,
            None => {
                let after = self
                    .engines
                    .iter()
                    .rposition(|known| known.id == status.id)
                    .map_or(self.engines.len(), |at| at + 1);
                self.engines.insert(after, status);
            }
        }
    }

    /// Queries of the run per value of a measure, ascending, once they are counted.
    pub fn histogram(&self, measure: &str) -> Option<&[(u32, u64)]> {
        self.derived.as_ref().map(|derived| derived.histogram(measure))
    }

    /// The run, or else the answer of a picked point, which has a record of its own where no run asked it.
    pub fn counted_record(&self) -> Option<Arc<RunRecord>> {
        self.record.clone().or_else(|| self.answered.as_ref().map(|answered| Arc::clone(&answered.record)))
    }

    /// The query of the record that asks for a row of the cloud.
    pub fn query_of_row(&self, row: u32) -> Option<usize> {
        let record = self.record.as_ref().filter(|record| record.query_cloud.is_none())?;
        // Where all were asked for, in their order, it is found at once.
        let own = record.query_rows.get(row as usize).filter(|&&asked| asked == row).map(|_| row as usize);
        own.or_else(|| record.query_rows.iter().position(|&asked| asked == row))
    }

    /// The run to draw beside the answer: none where the answer is to another question.
    pub fn compared_record(&self) -> Option<&Arc<RunRecord>> {
        let question = |record: &RunRecord| {
            (record.spec.k, record.spec.metric, record.spec.order, record.spec.exclude_self, record.engine)
        };
        let answered = self.answered.as_ref();
        self.record
            .as_ref()
            .filter(|record| answered.is_none_or(|answered| question(&answered.record) == question(record)))
    }

    /// Local coordinates of what is picked, and the cloud that has them.
    pub fn picked_point(&self) -> Option<(&PointCloud, usize)> {
        self.point(self.picked?).map(|(cloud, row)| (&**cloud, row))
    }

    /// The cloud that has a point, and its row there.
    pub fn point(&self, what: Picked) -> Option<(&Arc<PointCloud>, usize)> {
        match what {
            Picked::Row(row) => self
                .cloud
                .as_ref()
                .filter(|cloud| (row as usize) < cloud.len())
                .map(|cloud| (cloud, row as usize)),
            Picked::Query(query) => {
                let record = self.record.as_ref()?;
                let cloud = record.query_cloud.as_ref()?;
                record.query_rows.get(query).map(|&row| (cloud, row as usize))
            }
            Picked::Coordinates => self.live.place().map(|place| (place, 0)),
        }
    }

    /// Local coordinates of the query that is answered, which lags behind a dragged one, and the cloud that
    /// has them.
    pub fn answered_point(&self) -> Option<(&PointCloud, usize)> {
        self.answered.as_ref().map(|answered| (answered.query_cloud(), answered.row() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::projection::state::{ProjectionKind, ProjectionView};
    use crate::app::testing::{cloud, record};
    use crate::progress::Silent;

    fn pca(cloud: &Arc<PointCloud>, queries: Option<Arc<PointCloud>>) -> Projected {
        let view = ProjectionView { kind: ProjectionKind::Pca, seed: 0 };
        Projected::new(view, Arc::clone(cloud), queries, &Silent).expect("nobody cancels")
    }

    fn cloud_of_one(of: &PointCloud) -> Arc<PointCloud> {
        let names = of.axes().iter().map(|axis| crate::cloud::Column { name: axis.name.clone() }).collect();
        let table = crate::cloud::Table { columns: names, values: vec![0.25; of.dims()] };
        Arc::new(PointCloud::from_table(table, of.source().clone(), Some(of), false).expect("a cloud"))
    }

    #[test]
    fn engines_are_known_by_device() {
        let status =
            |name: &str, device_id, device| EngineStatus { id: EngineId::new(name), device_id, device };
        let gpu = |ordinal| Some(Ok(DeviceInfo { name: format!("GPU {ordinal}"), ..DeviceInfo::default() }));
        let mut session = Session {
            engines: vec![status("a", DeviceId::Gpu(0), None), status("b", DeviceId::Cpu, None)],
            ..Session::default()
        };
        for found in [
            status("a", DeviceId::Gpu(0), gpu(0)),
            status("a", DeviceId::Gpu(1), gpu(1)),
            status("b", DeviceId::Cpu, Some(Err(String::new()))),
        ] {
            session.note_engine(found);
        }
        assert_eq!(
            session.engines.iter().map(EngineStatus::device_text).collect::<Vec<_>>(),
            ["0: GPU 0", "1: GPU 1", "cpu"]
        );
        let first = session.engine(EngineId::new("a"), None).expect("it is there");
        assert!(first.device_id == DeviceId::Gpu(0) && first.is_there() && first.is_gpu());
        assert!(session.engine(EngineId::new("a"), Some(DeviceId::Cpu)).is_none());
        assert!(session.engine(EngineId::new("b"), None).expect("it is there").is_missing());
    }

    #[test]
    fn a_scene_is_projected_when_all_of_it_is() {
        let (cloud, queries) = (cloud(50, 3, 7), cloud(9, 3, 2));
        let mut run = RunRecord::clone(&record());
        (run.cloud, run.query_cloud) = (Arc::clone(&cloud), Some(Arc::clone(&queries)));
        let mut session =
            Session { cloud: Some(Arc::clone(&cloud)), record: Some(Arc::new(run)), ..Session::default() };
        session.projected = Some(Arc::new(pca(&cloud, None)));
        assert!(!session.scene().expect("a cloud").is_projected(), "where queries lie is not known yet");
        session.projected = Some(Arc::new(pca(&cloud, Some(Arc::clone(&queries)))));
        let scene = session.scene().expect("a cloud");
        assert!(scene.is_projected() && scene.dims() == 3);
        assert_eq!(scene.drawn(&cloud).axes()[0].name, "PC1");
        assert_eq!((scene.drawn(&queries).len(), scene.queries().map(|queries| queries.len())), (9, Some(9)));
        // A query at a place of its own.
        let place = cloud_of_one(&cloud);
        let mut asked = RunRecord::clone(session.record.as_ref().expect("a run"));
        (asked.query_cloud, asked.query_rows) = (Some(Arc::clone(&place)), vec![0]);
        session.answered = Some(Answered { record: Arc::new(asked), query: 0 });
        let projected = session.projected.clone().expect("a projection");
        let drawn = session.scene().expect("a cloud").drawn(&place).point(0).to_vec();
        assert_eq!(drawn, projected.directions.project_point(place.point(0)));
        session.cloud = Some(Arc::clone(&queries));
        assert!(
            !session.scene().expect("a cloud").is_projected(),
            "a projection of another cloud is none of this one"
        );
    }
}
