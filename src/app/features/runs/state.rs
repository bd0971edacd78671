//! Runs of this session and of opened recordings: the list, the comparison of two, actions, and the choice of
//! runs to save.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cloud::PointCloud;
use crate::knn::{Measure, ProblemParameters};
use crate::run::analysis::{BandPoint, band_of};
use crate::run::compare::{Comparison, DurationStats, Histogram, Quantity, SavedRun, compare};
use crate::run::recording::free_name;
use crate::run::{LoadedRun, Run, RunRecord, stats};
use crate::text::sentence_case;

/// The chart below a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Figure {
    Histogram(Quantity),
    /// `max_distance` of all queries against points seen.
    Convergence,
}

impl Figure {
    pub fn text(&self) -> String {
        match self {
            Self::Histogram(Quantity::Repeats) => "Search, each repeat".to_owned(),
            Self::Histogram(Quantity::Chunks) => "Search, each chunk".to_owned(),
            Self::Histogram(Quantity::Measure(name)) => {
                format!("{} per query", sentence_case(&Measure::words(name)))
            }
            Self::Histogram(Quantity::LastDistance) => "k-th distances".to_owned(),
            Self::Convergence => "Convergence".to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunsView {
    /// Shown below the timings of a comparison.
    pub figure: Figure,
    /// Whether parameters that are equal in both runs are listed too.
    pub all_parameters: bool,
}

impl Default for RunsView {
    fn default() -> Self {
        Self { figure: Figure::Histogram(Quantity::Repeats), all_parameters: false }
    }
}

/// Which runs to save in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveScope {
    Shown,
    Compared,
    Pinned,
    All,
}

impl SaveScope {
    /// All choices, in menu order.
    pub const ALL: [Self; 4] = [Self::Shown, Self::Compared, Self::Pinned, Self::All];

    pub fn text(self) -> &'static str {
        match self {
            Self::Shown => "The shown run…",
            Self::Compared => "The two compared runs…",
            Self::Pinned => "All pinned runs…",
            Self::All => "All runs…",
        }
    }
}

#[derive(Clone, Debug)]
pub enum RunsAction {
    /// Show a run in all panes.
    Show(RunId),
    /// Pin or unpin a run: pinned runs stay when the list gets long.
    Pin(RunId, bool),
    /// Edit a name; `None` discards it.
    Rename(Option<(RunId, String)>),
    /// Apply the edited name.
    TakeName,
    Delete(RunId),
    /// Restore the run deleted last.
    Undelete,
    /// Add a run to the comparison, or remove it.
    Choose(RunId),
    /// Exchange A and B of the comparison.
    Swap,
    /// Clear the comparison.
    ChooseNone,
    SetView(RunsView),
}

// The list of runs with unique names; pinned ones stay as long as the window is open.

/// Identifies a run of the list; later ones have larger numbers.
pub type RunId = u64;

/// Memory limit for runs and their clouds, in bytes; the oldest unpinned runs are dropped beyond it.
const MAX_BYTES: usize = 2 << 30;

/// Limit on the number of runs; the oldest unpinned ones are dropped beyond it.
const MAX_RUNS: usize = 100;

#[derive(Clone, Debug)]
pub struct ListedRun {
    /// Unique within this session.
    pub id: RunId,
    /// Unique within the list.
    pub name: String,
    /// Whether the run stays when the list gets long.
    pub pinned: bool,
    pub run: LoadedRun,
    /// The spread of its total search times over repeats.
    pub search: DurationStats,
    /// The recording that the run was opened from.
    pub from: Option<PathBuf>,
    /// Whether the user started the run here and it is in no file.
    pub unsaved: bool,
}

impl ListedRun {
    fn clouds(&self) -> impl Iterator<Item = &Arc<PointCloud>> {
        self.run
            .record()
            .into_iter()
            .flat_map(|record| std::iter::once(&record.cloud).chain(&record.query_cloud))
    }
}

#[derive(Clone, Debug, Default)]
pub struct RunList {
    runs: Vec<ListedRun>,
    last: RunId,
    /// The run selected last.
    pub cursor: Option<RunId>,
    pub chosen: [Option<RunId>; 2],
    /// The comparison, once computed.
    pub compared: Option<Arc<RunComparison>>,
    /// The name being edited.
    pub renaming: Option<(RunId, String)>,
    deleted: Option<(usize, ListedRun)>,
}

impl RunList {
    /// All runs, oldest first.
    pub fn runs(&self) -> &[ListedRun] {
        &self.runs
    }

    pub fn get(&self, id: RunId) -> Option<&ListedRun> {
        self.runs.iter().find(|run| run.id == id)
    }

    pub fn of_record(&self, record: &Arc<RunRecord>) -> Option<&ListedRun> {
        self.runs.iter().find(|run| run.run.record().is_some_and(|known| Arc::ptr_eq(known, record)))
    }

    /// The run in the list that equals a run of a recording.
    pub fn same(&self, run: &LoadedRun) -> Option<RunId> {
        let same = |listed: &&ListedRun| {
            let known = &listed.run;
            known.head() == run.head()
                && known.samples() == run.samples()
                && known.query_rows() == run.query_rows()
                && known.record().is_some() >= run.record().is_some()
        };
        self.runs.iter().find(same).map(|listed| listed.id)
    }

    /// Adds a run as the newest.
    pub fn add(
        &mut self,
        name: Option<String>,
        pinned: bool,
        run: LoadedRun,
        from: Option<PathBuf>,
    ) -> RunId {
        self.last += 1;
        let name = self.free_name(&name.unwrap_or_else(|| run.head().title()), self.last);
        let repeats = stats::search_ms(run.samples());
        self.runs.push(ListedRun {
            id: self.last,
            name,
            pinned,
            search: DurationStats::new(&repeats),
            run,
            from,
            unsaved: false,
        });
        self.last
    }

    /// Attaches an opened cloud to the runs that searched it and whose recording lacks the points.
    pub fn complete(&mut self, cloud: &Arc<PointCloud>) {
        for listed in &mut self.runs {
            if let LoadedRun::WithoutClouds { run, .. } = &listed.run
                && run.query_cloud.is_none()
                && (&run.cloud.fingerprint, run.cloud.rows) == (cloud.fingerprint(), cloud.len() as u64)
            {
                let mut run = Run::clone(run);
                run.head.spec.data = cloud.source().clone();
                listed.run = LoadedRun::Whole(Arc::new(run.with_clouds(Arc::clone(cloud), None)));
            }
        }
    }

    /// Marks a run as unsaved: it is lost with the window until a file contains it.
    pub fn note_unsaved(&mut self, id: RunId) {
        self.runs.iter_mut().filter(|run| run.id == id).for_each(|run| run.unsaved = true);
    }

    pub fn note_saved(&mut self, ids: &[RunId]) {
        // Also the run that was deleted while the file was being written.
        let deleted = self.deleted.as_mut().map(|(_, run)| run);
        self.runs
            .iter_mut()
            .chain(deleted)
            .filter(|run| ids.contains(&run.id))
            .for_each(|run| run.unsaved = false);
    }

    pub fn unsaved(&self) -> usize {
        self.runs.iter().filter(|run| run.unsaved).count()
    }

    /// Drops the oldest runs that are neither pinned nor shown nor compared, while the list exceeds its
    /// limits; returns their names.
    pub fn trim(&mut self, shown: Option<&Arc<RunRecord>>) -> Vec<String> {
        self.trim_to(MAX_RUNS, MAX_BYTES, shown)
    }

    fn trim_to(
        &mut self,
        most_runs: usize,
        most_bytes: usize,
        shown: Option<&Arc<RunRecord>>,
    ) -> Vec<String> {
        let mut gone = Vec::new();
        while self.runs.len() > most_runs || self.bytes() > most_bytes {
            let is_shown = |run: &ListedRun| {
                shown.is_some_and(|shown| run.run.record().is_some_and(|record| Arc::ptr_eq(record, shown)))
            };
            let may_go =
                |run: &ListedRun| !run.pinned && !self.chosen.contains(&Some(run.id)) && !is_shown(run);
            let Some(oldest) = self.runs.iter().position(may_go) else { break };
            gone.push(self.runs.remove(oldest).name);
        }
        gone
    }

    /// Memory of all runs in bytes, counting each cloud once.
    fn bytes(&self) -> usize {
        let mut seen = HashSet::new();
        let clouds =
            self.runs.iter().flat_map(ListedRun::clouds).filter(|cloud| seen.insert(Arc::as_ptr(cloud)));
        let points: usize =
            clouds.map(|cloud| size_of_val(cloud.points()) * if cloud.is_faithful() { 1 } else { 2 }).sum();
        points + self.runs.iter().map(|run| run.run.bytes()).sum::<usize>()
    }

    /// Renames a run; an empty name is ignored.
    pub fn rename(&mut self, id: RunId, name: &str) {
        let name = name.trim();
        if name.is_empty() {
            return;
        }
        let name = self.free_name(name, id);
        if let Some(run) = self.runs.iter_mut().find(|run| run.id == id) {
            run.name = name;
        }
    }

    pub fn pin(&mut self, id: RunId, pinned: bool) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.id == id) {
            run.pinned = pinned;
        }
    }

    /// Removes a run; [`Self::restore`] undoes it.
    pub fn delete(&mut self, id: RunId) {
        let Some(at) = self.runs.iter().position(|run| run.id == id) else { return };
        let run = self.runs.remove(at);
        for chosen in &mut self.chosen {
            *chosen = chosen.filter(|&chosen| chosen != id);
        }
        self.deleted = Some((at, run));
    }

    /// Name of the run deleted last.
    pub fn deleted(&self) -> Option<&str> {
        self.deleted.as_ref().map(|(_, run)| run.name.as_str())
    }

    /// Restores the run deleted last.
    pub fn restore(&mut self) {
        if let Some((at, mut run)) = self.deleted.take() {
            run.name = self.free_name(&run.name, run.id);
            self.runs.insert(at.min(self.runs.len()), run);
        }
    }

    /// Adds a run to the comparison, or removes it: the first is A, the second B, and a third replaces B.
    pub fn choose(&mut self, id: RunId) {
        let [a, b] = &mut self.chosen;
        if *a == Some(id) {
            *a = None;
        } else if *b == Some(id) {
            *b = None;
        } else if a.is_none() {
            *a = Some(id);
        } else {
            *b = Some(id);
        }
    }

    /// The runs A and B, once both are chosen.
    pub fn pair(&self) -> Option<[&ListedRun; 2]> {
        let [a, b] = self.chosen;
        Some([self.get(a?)?, self.get(b?)?])
    }

    /// The name, with a number appended if another run has it.
    fn free_name(&self, name: &str, id: RunId) -> String {
        free_name(name, |name| self.runs.iter().any(|run| run.id != id && run.name == name))
    }
}

/// Number of queries that a band is computed from, sampled evenly if there are more.
const BAND_QUERIES: usize = 20_000;

#[derive(Clone, Debug)]
pub struct RunComparison {
    /// Runs A and B.
    pub ids: [RunId; 2],
    pub comparison: Comparison,
    /// Available quantities, in the order of the chooser.
    pub quantities: Vec<Quantity>,
    pub histograms: Vec<(Quantity, Histogram)>,
    /// Convergence of each run; empty for engines that do not record it.
    pub bands: [Vec<BandPoint>; 2],
}

impl RunComparison {
    /// Computes the comparison, the histograms and the bands of two runs.
    pub fn new(a: &ListedRun, b: &ListedRun) -> Self {
        let quantities = Quantity::of_runs([&a.run, &b.run]);
        let saved = |run: &ListedRun| SavedRun::from_run(run.run.clone(), Path::new(&run.name));
        let histogram = |quantity: Quantity| {
            let values = |run: &ListedRun| quantity.values(&run.run);
            let histogram = Histogram::new(&values(a), &values(b), matches!(quantity, Quantity::Measure(_)))?;
            Some((quantity, histogram))
        };
        let band = |run: &ListedRun| {
            let (head, convergence) = (run.run.head(), run.run.convergence());
            let all = convergence.queries();
            let queries: Vec<usize> =
                (0..all.min(BAND_QUERIES)).map(|at| at * all / all.min(BAND_QUERIES)).collect();
            band_of(convergence, head.summary.n, ProblemParameters::from(&head.spec).found_k(), &queries)
        };
        Self {
            ids: [a.id, b.id],
            comparison: compare(&saved(a), &saved(b)),
            histograms: quantities.iter().cloned().filter_map(histogram).collect(),
            quantities,
            bands: [band(a), band(b)],
        }
    }

    /// The histogram of a quantity, if a run has it.
    pub fn histogram(&self, quantity: &Quantity) -> Option<&Histogram> {
        self.histograms.iter().find(|(known, _)| known == quantity).map(|(_, histogram)| histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    fn list(count: usize) -> (RunList, Vec<Arc<RunRecord>>) {
        let mut list = RunList::default();
        let records: Vec<_> = (0..count).map(|_| record()).collect();
        for record in &records {
            list.add(None, false, LoadedRun::Whole(Arc::clone(record)), None);
        }
        (list, records)
    }

    fn ids(list: &RunList) -> Vec<RunId> {
        list.runs().iter().map(|run| run.id).collect()
    }

    #[test]
    fn run_names_are_unique() {
        let (mut list, records) = list(3);
        let names: Vec<&str> = list.runs().iter().map(|run| run.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "test, 3 × 50, k = 4, lockstep",
                "test, 3 × 50, k = 4, lockstep (2)",
                "test, 3 × 50, k = 4, lockstep (3)"
            ]
        );
        list.rename(3, " baseline ");
        list.rename(2, "baseline");
        list.rename(1, "  ");
        assert_eq!(
            list.runs().iter().map(|run| run.name.as_str()).collect::<Vec<_>>(),
            [names_of(1), "baseline (2)", "baseline"]
        );
        assert_eq!(list.of_record(&records[2]).map(|run| run.id), Some(3));
    }

    fn names_of(_: usize) -> &'static str {
        "test, 3 × 50, k = 4, lockstep"
    }

    #[test]
    fn trimming_removes_the_oldest_unprotected_runs() {
        let (mut list, records) = list(6);
        list.pin(1, true);
        list.choose(3);
        assert_eq!(list.trim_to(4, usize::MAX, Some(&records[1])).len(), 2);
        assert_eq!(ids(&list), [1, 2, 3, 6]);
        assert!(list.trim_to(1, usize::MAX, Some(&records[1])).len() == 1 && ids(&list) == [1, 2, 3]);
        assert!(list.trim_to(1, 0, Some(&records[1])).is_empty(), "protected runs stay regardless of size");
    }

    #[test]
    fn a_shared_cloud_is_counted_once() {
        let mut list = RunList::default();
        let record = record();
        list.add(None, false, LoadedRun::Whole(Arc::clone(&record)), None);
        let one = list.bytes();
        list.add(None, false, LoadedRun::Whole(Arc::new(RunRecord::clone(&record))), None);
        assert_eq!(list.bytes() - one, one - size_of_val(record.cloud.points()));
        assert_eq!(list.trim_to(usize::MAX, one, None).len(), 1);
    }

    #[test]
    fn deleted_runs_are_restored_in_place() {
        let (mut list, _) = list(3);
        list.choose(2);
        list.delete(2);
        assert_eq!((ids(&list), list.chosen, list.deleted().is_some()), (vec![1, 3], [None, None], true));
        list.restore();
        assert_eq!((ids(&list), list.deleted()), (vec![1, 2, 3], None));
        list.restore();
        assert_eq!(ids(&list).len(), 3);
    }

    #[test]
    fn runs_are_unsaved_until_written() {
        let (mut list, _) = list(3);
        assert_eq!(list.unsaved(), 0, "the user did not start them");
        list.note_unsaved(1);
        list.note_unsaved(3);
        assert_eq!(list.unsaved(), 2);
        list.delete(3);
        assert_eq!(list.unsaved(), 1, "deleted runs do not count");
        list.note_saved(&[2, 3]);
        list.restore();
        assert_eq!(list.unsaved(), 1);
        list.note_saved(&[1]);
        assert_eq!(list.unsaved(), 0);
    }

    #[test]
    fn at_most_two_runs_are_compared() {
        let (mut list, _) = list(4);
        list.choose(1);
        assert!(list.pair().is_none());
        list.choose(2);
        list.choose(4);
        assert_eq!(list.pair().map(|pair| pair.map(|run| run.id)), Some([1, 4]));
        list.choose(1);
        assert_eq!(list.chosen, [None, Some(4)]);
    }

    #[test]
    fn identical_runs_are_recognised() {
        let (list, records) = list(1);
        assert_eq!(list.same(&LoadedRun::Whole(Arc::new(RunRecord::clone(&records[0])))), Some(1));
        let mut other = RunRecord::clone(&records[0]);
        other.samples[0].duration_ms += 1.0;
        assert_eq!(list.same(&LoadedRun::Whole(Arc::new(other))), None);
    }
}
