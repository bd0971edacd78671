//! The unsaved state of the window: the cloud, its answer, the selection, activity.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::answer::{PickedPoint, QueryAnswer};
use super::answer_summary::AnswerSummary;
use super::camera::Scene;
use super::commands::CommandPalette;
use super::files::{FileState, Roles, SessionFile, UnusedColumn};
use super::log::{Activity, CurrentJob, LastFailures, Log};
use super::pane::PaneKind;
use super::picture::Picture;
use super::pictures::{ImageShape, RowImageChoice};
use super::table::TableView;
use super::views::TimelineView;
use crate::app::features::analysis::state::{AnalysisKind, AnalysisResults, FileComparison};
use crate::app::features::chooser::state::Chooser;
use crate::app::features::color::state::channel::ColoringState;
use crate::app::features::columns::state::ColumnsDialog;
use crate::app::features::datasets::state::DatasetsDialog;
use crate::app::features::engine_comparison::state::EngineComparison;
use crate::app::features::export::state::ExportDialog;
use crate::app::features::lesson::state::session::LessonSession;
use crate::app::features::live::state::LiveQueryState;
use crate::app::features::manual::state::Manual;
use crate::app::features::picking::state::{ExtraColumns, Tool};
use crate::app::features::points_table::state::PointsTable;
use crate::app::features::projection::state::CloudProjection;
use crate::app::features::quit::state::QuitStage;
use crate::app::features::row_names::state::{NameSearch, RowNames};
use crate::app::features::runs::state::RunList;
use crate::app::features::saved::state::SavedSession;
use crate::app::features::second::state::SecondCloud;
use crate::app::features::selection::state::facts::SelectionStats;
use crate::app::features::selection::state::{HoverTarget, NamedSets, RadiusInput, Selection};
use crate::app::features::unusable::state::UnusableDialog;
use crate::app::features::walk::state::WalkState;
use crate::app::features::why::state::WhyState;
use crate::cloud::formats::{ColumnInfo, ColumnKind};
use crate::cloud::{Fingerprint, PointCloud};
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId, DeviceInfo, DeviceKind, EngineId};
use crate::run::RunRecord;
use crate::run::analysis::{RunAnalysis, TheoryCurve};

/// Whether an engine can run on a device of this machine.
#[derive(Clone, Debug)]
pub struct EngineStatus {
    pub id: EngineId,
    pub device_id: DeviceId,
    /// The device, or why the engine cannot run on it; `None` while this is being determined.
    pub device: Option<Result<DeviceInfo, String>>,
}

impl EngineStatus {
    pub fn descriptor(&self) -> Option<&'static Descriptor> {
        registry::find(self.id)
    }

    /// The device as menus list it: `0: NVIDIA H200`.
    pub fn device_text(&self) -> String {
        match &self.device {
            Some(Ok(device)) => format!("{}: {}", self.device_id, device.name),
            _ => self.device_id.to_string(),
        }
    }

    /// Why the device is unavailable. The reason does not name the engine, since it is the same for all
    /// engines.
    pub fn unavailable_reason(&self) -> Option<&str> {
        let why = self.device.as_ref()?.as_ref().err()?;
        Some(why.split_once(" engine cannot run here: ").map_or(why, |(_, why)| why))
    }

    pub fn is_gpu(&self) -> bool {
        self.device_id.kind() == DeviceKind::Gpu
    }

    /// Whether the engine is known to run here.
    pub fn is_available(&self) -> bool {
        matches!(self.device, Some(Ok(_)))
    }

    /// Whether the engine is known not to run here.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.device, Some(Err(_)))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct FileColumns {
    pub path: PathBuf,
    pub columns: Vec<ColumnInfo>,
}

impl FileColumns {
    /// Whether this is the file of the cloud.
    pub fn is_of(&self, cloud: &PointCloud) -> bool {
        cloud.file() == Some(&self.path)
    }

    /// Keys of the columns red, green and blue, if the file has them and none is all zero.
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
    /// Columns of the cloud's file, once listed.
    pub columns: Option<FileColumns>,
    /// Whether to show the file's own colours, or the height of a scan, once its columns are listed: it was
    /// just opened, and nothing else colours its points.
    pub awaits_colors: bool,
    /// Whether the system asks for less motion; `None` if it does not say.
    pub system_reduces_motion: Option<bool>,
    /// Numeric columns that the file was opened without.
    pub left_out: Vec<UnusedColumn>,
    /// The columns for labels and names, and whether rows are images.
    pub roles: Roles,
    /// Names of the rows; loaded once letters are typed into the finder or the field of *Where does … rank?*.
    pub row_names: Option<Arc<RowNames>>,
    /// The search of row names for the finder's text.
    pub name_search: NameSearch,
    /// The image layout implied by the column names.
    pub inferred_image_shape: Option<ImageShape>,
    /// A note on how the file was read.
    pub note: Option<String>,
    /// The last complete run over [`Self::cloud`].
    pub record: Option<Arc<RunRecord>>,
    /// Histograms and timeline of [`Self::record`], once computed.
    pub derived: Option<Arc<RunAnalysis>>,
    /// The part of the record's time that Timeline shows.
    pub timeline: TimelineView,
    /// The state of the cloud's file when it was read.
    pub loaded_file: Option<(Fingerprint, FileState)>,
    /// Runs of this session and opened recordings.
    pub runs: RunList,
    /// The comparison of all engines on one problem.
    pub engine_comparison: EngineComparison,
    /// The session file, if this session was saved or opened.
    pub file: Option<SessionFile>,
    /// A restored session whose points are in another file, which is read when the user loads it.
    pub awaited: Option<Box<SavedSession>>,
    pub picked: Option<PickedPoint>,
    /// Its answer, once known.
    pub answered: Option<QueryAnswer>,
    /// The projection shown instead of the cloud's axes.
    pub projected: Option<Arc<CloudProjection>>,
    /// What the second view shows.
    pub second: SecondCloud,
    /// The analysis of all rows' neighbours, once computed.
    pub analysed: Option<Arc<AnalysisResults>>,
    /// Comparisons with other files: at most one overlap and one file of leaks.
    pub file_comparisons: Vec<Arc<FileComparison>>,
    /// The computed colours of the points.
    pub colored: ColoringState,
    /// Points seen, while the convergence replay is playing.
    pub playing: Option<f64>,
    /// The path of the query's search through an index, if shown.
    pub walked: WalkState,
    /// When the next step of the walk is due while playing, in seconds of egui's clock.
    pub walking: Option<f64>,
    /// The expected convergence of the answer.
    pub theory: Option<TheoryCurve>,
    /// Whether `theory` still belongs to the previous answer.
    pub theory_lags: bool,
    /// The query that is dragged or typed and answered at once.
    pub live: LiveQueryState,
    pub selection: Selection,
    /// Facts about the selection.
    pub selected: Arc<SelectionStats>,
    /// Named selections.
    pub sets: NamedSets,
    /// The item under the pointer.
    pub hovered: Option<HoverTarget>,
    /// The run's query under the pointer: hovered directly, or through its row.
    pub hovered_query: Option<usize>,
    /// What dragging in Plane and Space does.
    pub tool: Tool,
    /// The file's other columns for the listed neighbours or, while those are read, for the previous ones.
    pub other_columns: Option<ExtraColumns>,
    /// The picture of a pane that is drawn instead of the window.
    pub picture: Option<Arc<Picture>>,
    /// Whether to draw only the points: overlays are drawn as vector shapes on top of an image of them.
    pub only_points: bool,
    /// The row for which to explain why it is, or is not, among the neighbours.
    pub why: WhyState,
    /// The radius of the radius selection.
    pub nearby: RadiusInput,
    /// What was chosen for panes' tables.
    pub tables: BTreeMap<PaneKind, TableView>,
    /// The table of all points.
    pub points: PointsTable,
    /// The rank selected in the table of neighbours.
    pub rank: Option<usize>,
    pub running: Option<CurrentJob>,
    pub activity: Activity,
    /// How the last requests ended, if without a result.
    pub endings: LastFailures,
    /// The engines and whether they can run here.
    pub engines: Vec<EngineStatus>,
    pub lesson: LessonSession,
    pub log: Log,
    /// Whether the shortcut sheet is open.
    pub help: bool,
    /// The open document.
    pub manual: Option<Manual>,
    /// Whether the About window is open.
    pub about: bool,
    pub finder: Option<CommandPalette>,
    pub export: Option<ExportDialog>,
    /// The built-in file dialog.
    pub chooser: Option<Chooser>,
    /// The dialog that chooses one cloud of a file.
    pub datasets: Option<DatasetsDialog>,
    /// What the window waits for before closing.
    pub quitting: Option<QuitStage>,
    /// The dialog that offers to open a file without its unusable rows.
    pub unusable: Option<UnusableDialog>,
    pub columns_dialog: Option<ColumnsDialog>,
}

impl Session {
    /// Order, conditions and columns of a pane's table.
    pub fn table(&self, pane: PaneKind) -> &TableView {
        static AT_FIRST: TableView = TableView {
            sort: None,
            filters: BTreeMap::new(),
            filtering: false,
            toggled: BTreeSet::new(),
            search: String::new(),
        };
        self.tables.get(&pane).unwrap_or(&AT_FIRST)
    }

    /// The columns of the shown cloud's file, once listed.
    pub fn file_columns(&self) -> Option<&FileColumns> {
        self.columns.as_ref().filter(|known| self.cloud.as_ref().is_some_and(|cloud| known.is_of(cloud)))
    }

    /// Number of numeric columns of the cloud's file that are neither coordinates, label nor name.
    pub fn unused_columns(&self) -> usize {
        let (Some(known), Some(cloud)) = (self.file_columns(), &self.cloud) else { return 0 };
        let roles = [&self.roles.label, &self.roles.name].into_iter().filter_map(|choice| choice.column());
        let used: HashSet<&str> = (cloud.axes().iter().map(|axis| axis.name.as_str()))
            .chain(roles.map(|column| column.name.as_str()))
            .collect();
        let is_unused =
            |column: &&ColumnInfo| column.kind == ColumnKind::Numeric && !used.contains(column.name.as_str());
        known.columns.iter().filter(is_unused).count()
    }

    /// Keys of the colour columns of the cloud's file, once listed.
    pub fn file_colors(&self) -> Option<[String; 3]> {
        self.file_columns()?.colors()
    }

    /// Whether a dialog that captures all keys is open. The shortcut sheet is not one: its keys work while it
    /// is open.
    pub fn has_dialog(&self) -> bool {
        let files = self.export.is_some()
            || self.chooser.is_some()
            || self.datasets.is_some()
            || self.columns_dialog.is_some();
        files || self.finder.is_some() || self.unusable.is_some() || self.quitting == Some(QuitStage::Asking)
    }

    /// The session for a picture of the window, without dialogs.
    pub fn for_render(&self) -> Self {
        let live = LiveQueryState { known: true, ..self.live.clone() };
        Self {
            help: false,
            about: false,
            chooser: None,
            columns_dialog: None,
            export: None,
            finder: None,
            manual: None,
            datasets: None,
            quitting: None,
            tool: Tool::Move,
            activity: Activity::Idle,
            endings: LastFailures {
                load: self.endings.load.clone().filter(|_| self.cloud.is_none()),
                ..self.endings.clone()
            },
            running: None,
            hovered: None,
            live,
            ..self.clone()
        }
    }

    /// The same with only the points: no query, neighbours or notes.
    pub fn for_points_render(&self) -> Self {
        Self { only_points: true, walked: self.walked.without_marks(), ..self.for_render() }
    }

    pub fn answer_sentence(&self) -> Option<String> {
        self.answered.as_ref().map(|answered| {
            AnswerSummary::new(answered, self.picked, self.listed_columns(), &self.roles).sentence()
        })
    }

    /// The image layout of a cloud's rows. The cloud must be the shown one or have its axes.
    pub fn pictures(&self, cloud: &PointCloud) -> Option<ImageShape> {
        let pictures = match self.roles.pictures {
            RowImageChoice::Inferred => self.inferred_image_shape,
            RowImageChoice::Nothing => None,
            RowImageChoice::Images(pictures) => Some(pictures),
        };
        pictures.filter(|pictures| pictures.fits(cloud.dims()))
    }

    /// An image layout to suggest, if the user has not decided: square, at least 8 × 8, one channel,
    /// non-negative values.
    pub fn suggested_image_shape(&self) -> Option<ImageShape> {
        let cloud = self.cloud.as_ref().filter(|_| {
            self.roles.pictures == RowImageChoice::Inferred && self.inferred_image_shape.is_none()
        })?;
        let has_pixels = cloud.axes().iter().all(|axis| axis.min >= 0.0);
        ImageShape::possible(cloud.dims())
            .into_iter()
            .find(|pictures| has_pixels && pictures.channels == 1 && pictures.width >= 8)
    }

    /// Whether to draw a legend: always in the window, optional in a picture.
    pub fn has_legend(&self) -> bool {
        self.picture.as_ref().is_none_or(|picture| picture.legend)
    }

    /// Whether this cloud is shown, by identity.
    pub fn has_cloud(&self, cloud: &Arc<PointCloud>) -> bool {
        self.cloud.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, cloud))
    }

    /// Whether this run is shown, by identity.
    pub fn has_record(&self, record: &Arc<RunRecord>) -> bool {
        self.record.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, record))
    }

    /// The analysis, if it belongs to the shown cloud.
    pub fn analysed(&self) -> Option<&Arc<AnalysisResults>> {
        self.analysed.as_ref().filter(|analysed| self.has_cloud(&analysed.record.cloud))
    }

    /// The comparison of this kind with another file, if it belongs to the shown cloud.
    pub fn file_comparison(&self, kind: AnalysisKind) -> Option<&Arc<FileComparison>> {
        self.file_comparisons().find(|comparison| comparison.kind() == kind)
    }

    /// All comparisons that belong to the shown cloud.
    pub fn file_comparisons(&self) -> impl Iterator<Item = &Arc<FileComparison>> {
        self.file_comparisons.iter().filter(|comparison| self.has_cloud(&comparison.cloud))
    }

    /// Adds a comparison, replacing the one of the same kind.
    pub fn add_file_comparison(&mut self, comparison: FileComparison) {
        self.file_comparisons.retain(|known| known.kind() != comparison.kind());
        self.file_comparisons.push(Arc::new(comparison));
        self.file_comparisons.sort_by_key(|comparison| comparison.leaks.is_some());
    }

    /// The file's other columns for the picked query's neighbours, once read.
    pub fn listed_columns(&self) -> Option<&ExtraColumns> {
        let (columns, answered) = (self.other_columns.as_ref()?, self.answered.as_ref()?);
        columns.is_of(&answered.record.cloud, &answered.rows_to_look_up()).then_some(columns)
    }

    /// What Plane and Space draw; `None` without a cloud.
    pub fn scene(&self) -> Option<Scene> {
        let queries = self.record.as_ref().and_then(|record| record.query_cloud.clone());
        let answered = self.answered.as_ref().map(|answered| answered.query_cloud());
        let others = self.picked_point().map(|(cloud, _)| cloud).into_iter().chain(answered);
        Some(Scene::new(self.cloud.clone()?, queries, self.projected.as_deref(), others))
    }

    /// Whether an available GPU can record a lesson with this many lanes: its warps have 32.
    pub fn can_record_on_gpu(&self, width: u32) -> bool {
        width == 32
            && self.engines.iter().any(|status| {
                status.is_available()
                    && status.is_gpu()
                    && status.descriptor().is_some_and(|engine| engine.traces)
            })
    }

    /// The status of the first engine that runs on a GPU.
    pub fn gpu(&self) -> Option<&EngineStatus> {
        self.engines.iter().find(|status| status.is_gpu())
    }

    /// The status of an engine on a device, or on its first device.
    pub fn engine(&self, id: EngineId, device: Option<DeviceId>) -> Option<&EngineStatus> {
        self.engines
            .iter()
            .find(|status| status.id == id && device.is_none_or(|device| status.device_id == device))
    }

    /// Stores an engine's status, replacing the previous one. An engine's devices stay in the order in which
    /// they are reported.
    pub fn set_engine_status(&mut self, status: EngineStatus) {
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

    /// Number of queries for each value of a measure, ascending, once counted.
    pub fn histogram(&self, measure: &str) -> Option<&[(u32, u64)]> {
        self.derived.as_ref().map(|derived| derived.histogram(measure))
    }

    /// The run; without one, the record of the picked point's own answer.
    pub fn counted_record(&self) -> Option<Arc<RunRecord>> {
        self.record.clone().or_else(|| self.answered.as_ref().map(|answered| Arc::clone(&answered.record)))
    }

    /// The record's query for a row of the cloud.
    pub fn query_of_row(&self, row: u32) -> Option<usize> {
        let record = self.record.as_ref().filter(|record| record.query_cloud.is_none())?;
        // Fast path: all rows are queries, in order.
        let own = record.query_rows.get(row as usize).filter(|&&asked| asked == row).map(|_| row as usize);
        own.or_else(|| record.query_rows.iter().position(|&asked| asked == row))
    }

    /// The run to draw with the answer; `None` if it answers a different problem.
    pub fn compared_record(&self) -> Option<&Arc<RunRecord>> {
        let question = |record: &RunRecord| {
            (record.spec.k, record.spec.metric, record.spec.order, record.spec.exclude_self, record.engine)
        };
        let answered = self.answered.as_ref();
        self.record
            .as_ref()
            .filter(|record| answered.is_none_or(|answered| question(&answered.record) == question(record)))
    }

    pub fn picked_point(&self) -> Option<(&PointCloud, usize)> {
        self.point(self.picked?).map(|(cloud, row)| (&**cloud, row))
    }

    /// The cloud and row of a point.
    pub fn point(&self, what: PickedPoint) -> Option<(&Arc<PointCloud>, usize)> {
        match what {
            PickedPoint::Row(row) => self
                .cloud
                .as_ref()
                .filter(|cloud| (row as usize) < cloud.len())
                .map(|cloud| (cloud, row as usize)),
            PickedPoint::Query(query) => {
                let record = self.record.as_ref()?;
                let cloud = record.query_cloud.as_ref()?;
                record.query_rows.get(query).map(|&row| (cloud, row as usize))
            }
            PickedPoint::Coordinates => self.live.place().map(|place| (place, 0)),
        }
    }

    /// The cloud and row of the answered query, which lags behind a dragged one.
    pub fn answered_point(&self) -> Option<(&PointCloud, usize)> {
        self.answered.as_ref().map(|answered| (answered.query_cloud(), answered.row() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::projection::state::{ProjectionKind, ProjectionView};
    use crate::app::testing::{cloud, record};
    use crate::progress::NoProgress;

    fn pca(cloud: &Arc<PointCloud>, queries: Option<Arc<PointCloud>>) -> CloudProjection {
        let view = ProjectionView { kind: ProjectionKind::Pca, seed: 0 };
        CloudProjection::new(view, Arc::clone(cloud), queries, &NoProgress).expect("not cancelled")
    }

    fn cloud_of_one(of: &PointCloud) -> Arc<PointCloud> {
        let names = of.axes().iter().map(|axis| crate::cloud::Column { name: axis.name.clone() }).collect();
        let table = crate::cloud::Table { columns: names, values: vec![0.25; of.dims()] };
        Arc::new(PointCloud::from_table(table, of.source().clone(), Some(of), false).expect("a cloud"))
    }

    #[test]
    fn engines_are_listed_per_device() {
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
            session.set_engine_status(found);
        }
        assert_eq!(
            session.engines.iter().map(EngineStatus::device_text).collect::<Vec<_>>(),
            ["0: GPU 0", "1: GPU 1", "cpu"]
        );
        let first = session.engine(EngineId::new("a"), None).expect("it is there");
        assert!(first.device_id == DeviceId::Gpu(0) && first.is_available() && first.is_gpu());
        assert!(session.engine(EngineId::new("a"), Some(DeviceId::Cpu)).is_none());
        assert!(session.engine(EngineId::new("b"), None).expect("it is there").is_unavailable());
    }

    #[test]
    fn scenes_are_projected_after_data_and_queries() {
        let (cloud, queries) = (cloud(50, 3, 7), cloud(9, 3, 2));
        let mut run = RunRecord::clone(&record());
        (run.cloud, run.query_cloud) = (Arc::clone(&cloud), Some(Arc::clone(&queries)));
        let mut session =
            Session { cloud: Some(Arc::clone(&cloud)), record: Some(Arc::new(run)), ..Session::default() };
        session.projected = Some(Arc::new(pca(&cloud, None)));
        assert!(!session.scene().expect("a cloud").is_projected(), "the queries are not projected yet");
        session.projected = Some(Arc::new(pca(&cloud, Some(Arc::clone(&queries)))));
        let scene = session.scene().expect("a cloud");
        assert!(scene.is_projected() && scene.dims() == 3);
        assert_eq!(scene.drawn(&cloud).axes()[0].name, "PC1");
        assert_eq!((scene.drawn(&queries).len(), scene.queries().map(|queries| queries.len())), (9, Some(9)));
        // A query at arbitrary coordinates.
        let place = cloud_of_one(&cloud);
        let mut asked = RunRecord::clone(session.record.as_ref().expect("a run"));
        (asked.query_cloud, asked.query_rows) = (Some(Arc::clone(&place)), vec![0]);
        session.answered = Some(QueryAnswer { record: Arc::new(asked), query: 0 });
        let projected = session.projected.clone().expect("a projection");
        let drawn = session.scene().expect("a cloud").drawn(&place).point(0).to_vec();
        assert_eq!(drawn, projected.directions.project_point(place.point(0)));
        session.cloud = Some(Arc::clone(&queries));
        assert!(!session.scene().expect("a cloud").is_projected(), "the projection belongs to another cloud");
    }
}
