//! Two runs side by side, as the pane draws them: worked out on a thread.

use std::path::Path;

use crate::app::model::runs::list::{KeptRun, RunId};
use crate::knn::Setup;
use crate::run::analysis::{Band, band_of};
use crate::run::compare::{Comparison, Histogram, Quantity, SavedRun, compare};

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
            let queries: Vec<usize> = (0..all.min(BAND_QUERIES)).map(|at| at * all / all.min(BAND_QUERIES)).collect();
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
