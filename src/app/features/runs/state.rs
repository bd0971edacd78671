//! The runs of this session and of recordings: the list of them, with the comparison of two ([`list`]); what
//! is asked of them, and which go into a recording.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cloud::PointCloud;
use crate::knn::{Measure, Setup};
use crate::run::analysis::{Band, band_of};
use crate::run::compare::{Comparison, Histogram, Quantity, SavedRun, Spread, compare};
use crate::run::recording::free_name;
use crate::run::{Run, RunRecord, SomeRun, stats};
use crate::text::sentence_case;

/// The chart below a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Figure {
    Histogram(Quantity),
    /// `max_distance` of all queries against points seen.
    Convergence,
}

impl Figure {
    /// The label in the chooser.
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

/// Which runs go into a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    Shown,
    Compared,
    Pinned,
    All,
}

impl Saved {
    /// All, as the menu lists them.
    pub const ALL: [Self; 4] = [Self::Shown, Self::Compared, Self::Pinned, Self::All];

    /// As the menu says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Shown => "The shown run…",
            Self::Compared => "The two compared runs…",
            Self::Pinned => "All pinned runs…",
            Self::All => "All runs…",
        }
    }
}

/// What the pane asks for.
#[derive(Clone, Debug)]
pub enum RunsAction {
    /// A run is to be shown in all panes.
    Show(RunId),
    /// It stays when the list gets long, or not.
    Pin(RunId, bool),
    /// A name is being typed; `None` leaves the old one.
    Rename(Option<(RunId, String)>),
    /// The name is to be taken as it is typed.
    TakeName,
    /// It is to be taken out of the list.
    Delete(RunId),
    /// What was deleted last is to come back.
    Undelete,
    /// It is to be compared, or no more.
    Choose(RunId),
    /// Exchanges A and B of the comparison.
    Swap,
    /// Nothing is to be compared.
    ChooseNone,
    SetView(RunsView),
}

// The list: every run by a name of its own, the pinned ones for as long as the window is open.

/// Names a run of the list; later ones have larger numbers.
pub type RunId = u64;

/// Bytes of runs and their clouds, beyond which the oldest that are not pinned go.
const MOST_BYTES: usize = 2 << 30;

/// Runs, beyond which the oldest that are not pinned go.
const MOST_RUNS: usize = 100;

/// A run of the list.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// Unique within this session.
    pub id: RunId,
    /// What people call it; no other run of the list is called so.
    pub name: String,
    /// Whether it stays when the list gets long.
    pub pinned: bool,
    pub run: SomeRun,
    /// Its search, all chunks together, repeat by repeat.
    pub search: Spread,
    /// The recording that it was opened from.
    pub from: Option<PathBuf>,
    /// Whether the user had it run here, and no file has it.
    pub unsaved: bool,
}

impl KeptRun {
    fn clouds(&self) -> impl Iterator<Item = &Arc<PointCloud>> {
        self.run
            .record()
            .into_iter()
            .flat_map(|record| std::iter::once(&record.cloud).chain(&record.query_cloud))
    }
}

#[derive(Clone, Debug, Default)]
pub struct RunList {
    runs: Vec<KeptRun>,
    last: RunId,
    /// The run that was chosen last.
    pub cursor: Option<RunId>,
    /// The two that are compared, A and B.
    pub chosen: [Option<RunId>; 2],
    /// Their comparison, once it is there.
    pub compared: Option<Arc<Compared>>,
    /// The name that is being typed.
    pub renaming: Option<(RunId, String)>,
    deleted: Option<(usize, KeptRun)>,
}

impl RunList {
    /// All runs, oldest first.
    pub fn runs(&self) -> &[KeptRun] {
        &self.runs
    }

    pub fn get(&self, id: RunId) -> Option<&KeptRun> {
        self.runs.iter().find(|run| run.id == id)
    }

    /// The run of a record.
    pub fn of_record(&self, record: &Arc<RunRecord>) -> Option<&KeptRun> {
        self.runs.iter().find(|run| run.run.record().is_some_and(|known| Arc::ptr_eq(known, record)))
    }

    /// The run that is the same as one of a recording.
    pub fn same(&self, run: &SomeRun) -> Option<RunId> {
        let same = |kept: &&KeptRun| {
            let known = &kept.run;
            known.head() == run.head()
                && known.samples() == run.samples()
                && known.query_rows() == run.query_rows()
                && known.record().is_some() >= run.record().is_some()
        };
        self.runs.iter().find(same).map(|kept| kept.id)
    }

    /// Adds a run, as the newest.
    pub fn add(&mut self, name: Option<String>, pinned: bool, run: SomeRun, from: Option<PathBuf>) -> RunId {
        self.last += 1;
        let name = self.free_name(&name.unwrap_or_else(|| run.head().title()), self.last);
        let repeats = stats::search_ms(run.samples());
        self.runs.push(KeptRun {
            id: self.last,
            name,
            pinned,
            search: Spread::of(&repeats),
            run,
            from,
            unsaved: false,
        });
        self.last
    }

    /// Gives a cloud that was opened to the runs that searched it, and whose recording has no points.
    pub fn complete(&mut self, cloud: &Arc<PointCloud>) {
        for kept in &mut self.runs {
            if let SomeRun::WithoutClouds { run, .. } = &kept.run
                && run.query_cloud.is_none()
                && (&run.cloud.fingerprint, run.cloud.rows) == (cloud.fingerprint(), cloud.len() as u64)
            {
                let mut run = Run::clone(run);
                run.head.spec.data = cloud.source().clone();
                kept.run = SomeRun::Whole(Arc::new(run.with_clouds(Arc::clone(cloud), None)));
            }
        }
    }

    /// The user had a run done here: it is lost with the window until a file has it.
    pub fn note_unsaved(&mut self, id: RunId) {
        self.runs.iter_mut().filter(|run| run.id == id).for_each(|run| run.unsaved = true);
    }

    /// A file has these runs.
    pub fn note_saved(&mut self, ids: &[RunId]) {
        // Also the one that was deleted while the file was being written.
        let deleted = self.deleted.as_mut().map(|(_, run)| run);
        self.runs
            .iter_mut()
            .chain(deleted)
            .filter(|run| ids.contains(&run.id))
            .for_each(|run| run.unsaved = false);
    }

    /// Runs that are lost with the window.
    pub fn unsaved(&self) -> usize {
        self.runs.iter().filter(|run| run.unsaved).count()
    }

    /// Lets the oldest runs go that are not pinned, shown or compared, while there are too many; their names.
    pub fn trim(&mut self, shown: Option<&Arc<RunRecord>>) -> Vec<String> {
        self.trim_to(MOST_RUNS, MOST_BYTES, shown)
    }

    fn trim_to(
        &mut self,
        most_runs: usize,
        most_bytes: usize,
        shown: Option<&Arc<RunRecord>>,
    ) -> Vec<String> {
        let mut gone = Vec::new();
        while self.runs.len() > most_runs || self.bytes() > most_bytes {
            let is_shown = |run: &KeptRun| {
                shown.is_some_and(|shown| run.run.record().is_some_and(|record| Arc::ptr_eq(record, shown)))
            };
            let may_go =
                |run: &KeptRun| !run.pinned && !self.chosen.contains(&Some(run.id)) && !is_shown(run);
            let Some(oldest) = self.runs.iter().position(may_go) else { break };
            gone.push(self.runs.remove(oldest).name);
        }
        gone
    }

    /// Bytes of all runs, each cloud once.
    fn bytes(&self) -> usize {
        let mut seen = HashSet::new();
        let clouds =
            self.runs.iter().flat_map(KeptRun::clouds).filter(|cloud| seen.insert(Arc::as_ptr(cloud)));
        let points: usize =
            clouds.map(|cloud| size_of_val(cloud.points()) * if cloud.is_faithful() { 1 } else { 2 }).sum();
        points + self.runs.iter().map(|run| run.run.bytes()).sum::<usize>()
    }

    /// Calls a run something else; an empty name is none.
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

    /// Keeps a run for good, or not.
    pub fn pin(&mut self, id: RunId, pinned: bool) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.id == id) {
            run.pinned = pinned;
        }
    }

    /// Takes a run out; [`Self::restore`] puts it back.
    pub fn delete(&mut self, id: RunId) {
        let Some(at) = self.runs.iter().position(|run| run.id == id) else { return };
        let run = self.runs.remove(at);
        for chosen in &mut self.chosen {
            *chosen = chosen.filter(|&chosen| chosen != id);
        }
        self.deleted = Some((at, run));
    }

    /// What was deleted last.
    pub fn deleted(&self) -> Option<&str> {
        self.deleted.as_ref().map(|(_, run)| run.name.as_str())
    }

    /// Puts back what was deleted last.
    pub fn restore(&mut self) {
        if let Some((at, mut run)) = self.deleted.take() {
            run.name = self.free_name(&run.name, run.id);
            self.runs.insert(at.min(self.runs.len()), run);
        }
    }

    /// Chooses a run for the comparison, or leaves it out again: the first is A, the second B, and a third
    /// takes B's place.
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

    /// The two runs that are compared, once both are chosen.
    pub fn pair(&self) -> Option<[&KeptRun; 2]> {
        let [a, b] = self.chosen;
        Some([self.get(a?)?, self.get(b?)?])
    }

    /// The name, or with a number where another run has it.
    fn free_name(&self, name: &str, id: RunId) -> String {
        free_name(name, |name| self.runs.iter().any(|run| run.id != id && run.name == name))
    }
}

/// Queries that a band looks at, evenly chosen when there are more.
const BAND_QUERIES: usize = 20_000;

#[derive(Clone, Debug)]
pub struct Compared {
    /// Runs A and B.
    pub ids: [RunId; 2],
    pub comparison: Comparison,
    /// What can be counted, in the order in which it is offered.
    pub quantities: Vec<Quantity>,
    /// Of every quantity that a run has.
    pub histograms: Vec<(Quantity, Histogram)>,
    /// Convergence of each; empty for engines without a history.
    pub bands: [Vec<Band>; 2],
}

impl Compared {
    /// Computes the comparison, the histograms and the bands of two runs.
    pub fn of(a: &KeptRun, b: &KeptRun) -> Self {
        let quantities = Quantity::of_runs([&a.run, &b.run]);
        let saved = |run: &KeptRun| SavedRun::of(run.run.clone(), Path::new(&run.name));
        let histogram = |quantity: Quantity| {
            let values = |run: &KeptRun| quantity.values(&run.run);
            let histogram = Histogram::of(&values(a), &values(b), matches!(quantity, Quantity::Measure(_)))?;
            Some((quantity, histogram))
        };
        let band = |run: &KeptRun| {
            let (head, convergence) = (run.run.head(), run.run.convergence());
            let all = convergence.queries();
            let queries: Vec<usize> =
                (0..all.min(BAND_QUERIES)).map(|at| at * all / all.min(BAND_QUERIES)).collect();
            band_of(convergence, head.summary.n, Setup::from(&head.spec).found_k(), &queries)
        };
        Self {
            ids: [a.id, b.id],
            comparison: compare(&saved(a), &saved(b)),
            histograms: quantities.iter().cloned().filter_map(histogram).collect(),
            quantities,
            bands: [band(a), band(b)],
        }
    }

    /// A quantity's histogram, where a run has it.
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
            list.add(None, false, SomeRun::Whole(Arc::clone(record)), None);
        }
        (list, records)
    }

    fn ids(list: &RunList) -> Vec<RunId> {
        list.runs().iter().map(|run| run.id).collect()
    }

    #[test]
    fn every_run_has_a_name_of_its_own() {
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
    fn the_oldest_go_first_and_pinned_shown_and_compared_ones_stay() {
        let (mut list, records) = list(6);
        list.pin(1, true);
        list.choose(3);
        assert_eq!(list.trim_to(4, usize::MAX, Some(&records[1])).len(), 2);
        assert_eq!(ids(&list), [1, 2, 3, 6]);
        assert!(list.trim_to(1, usize::MAX, Some(&records[1])).len() == 1 && ids(&list) == [1, 2, 3]);
        assert!(list.trim_to(1, 0, Some(&records[1])).is_empty(), "what must stay stays, however large");
    }

    #[test]
    fn a_shared_cloud_is_counted_once() {
        let mut list = RunList::default();
        let record = record();
        list.add(None, false, SomeRun::Whole(Arc::clone(&record)), None);
        let one = list.bytes();
        list.add(None, false, SomeRun::Whole(Arc::new(RunRecord::clone(&record))), None);
        assert_eq!(list.bytes() - one, one - size_of_val(record.cloud.points()));
        assert_eq!(list.trim_to(usize::MAX, one, None).len(), 1);
    }

    #[test]
    fn a_deleted_run_comes_back_where_it_was() {
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
    fn runs_are_unsaved_until_a_file_has_them() {
        let (mut list, _) = list(3);
        assert_eq!(list.unsaved(), 0, "nobody asked for them");
        list.note_unsaved(1);
        list.note_unsaved(3);
        assert_eq!(list.unsaved(), 2);
        list.delete(3);
        assert_eq!(list.unsaved(), 1, "what was deleted is not missed");
        list.note_saved(&[2, 3]);
        list.restore();
        assert_eq!(list.unsaved(), 1);
        list.note_saved(&[1]);
        assert_eq!(list.unsaved(), 0);
    }

    #[test]
    fn two_are_compared() {
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
    fn the_same_run_is_known_again() {
        let (list, records) = list(1);
        assert_eq!(list.same(&SomeRun::Whole(Arc::new(RunRecord::clone(&records[0])))), Some(1));
        let mut other = RunRecord::clone(&records[0]);
        other.samples[0].duration_ms += 1.0;
        assert_eq!(list.same(&SomeRun::Whole(Arc::new(other))), None);
    }
}
