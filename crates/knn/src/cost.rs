//! The cost model that engines declare for the planner.

/// The share, from 0 to 1, of work on `bytes` bytes of points that waits for memory. It is 0 while the points
/// fit in a core's own cache, 1 once they exceed every cache, and logarithmic in between. An engine declares
/// cached and uncached work as separate terms, so that the planner scales each by its own measurements.
pub fn out_of_cache(bytes: f64) -> f64 {
    const CACHED: f64 = (512u32 << 10) as f64;
    const UNCACHED: f64 = (64u32 << 20) as f64;
    ((bytes / CACHED).max(1.0).ln() / (UNCACHED / CACHED).ln()).min(1.0)
}

/// Whether work is done once or in every pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Once per set of points: upload, index.
    Setup,
    /// In every pass over the queries.
    Search,
}

/// Work of one kind: an amount times the engine's built-in rate. The planner scales each kind by its own
/// measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The kind of work, such as `distances`; the key of the planner's scale.
    pub name: &'static str,
    pub stage: Stage,
    /// Predicted time at the built-in rate, in milliseconds.
    pub ms: f64,
}

/// The predicted work of a problem, as a sum of terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    terms: Vec<Term>,
}

impl Cost {
    /// Adds work that is done once: `amount` units at `rate` milliseconds each.
    pub fn setup(self, name: &'static str, amount: f64, rate: f64) -> Self {
        self.with(Term { name, stage: Stage::Setup, ms: amount * rate })
    }

    /// Adds work that is done in every pass: `amount` units at `rate` milliseconds each.
    pub fn search(self, name: &'static str, amount: f64, rate: f64) -> Self {
        self.with(Term { name, stage: Stage::Search, ms: amount * rate })
    }

    fn with(mut self, term: Term) -> Self {
        self.terms.push(term);
        self
    }

    pub fn terms(&self, stage: Stage) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(move |term| term.stage == stage)
    }

    /// Total milliseconds of a stage, with each term multiplied by the `scale` of its name.
    pub fn ms(&self, stage: Stage, scale: impl Fn(&str) -> f64) -> f64 {
        self.terms(stage).map(|term| term.ms * scale(term.name)).sum()
    }
}
