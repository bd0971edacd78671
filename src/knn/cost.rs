//! What a search is made of, as an engine declares it for the planner.

/// When a piece of work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Once for the points: upload, index.
    Setup,
    /// In every pass over the queries.
    Search,
}

/// Work of one kind: its amount times the engine's built-in rate for it. The planner scales each kind by what it measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// What is done, such as `distances`; under this name its scale is kept.
    pub name: &'static str,
    /// When.
    pub stage: Stage,
    /// How long it takes at the built-in rate, in milliseconds.
    pub ms: f64,
}

/// The work of a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    terms: Vec<Term>,
}

impl Cost {
    /// Adds work that is done once: an amount, and milliseconds for each.
    pub fn setup(self, name: &'static str, amount: f64, rate: f64) -> Self {
        self.with(Term { name, stage: Stage::Setup, ms: amount * rate })
    }

    /// Adds work of every pass, likewise.
    pub fn search(self, name: &'static str, amount: f64, rate: f64) -> Self {
        self.with(Term { name, stage: Stage::Search, ms: amount * rate })
    }

    fn with(mut self, term: Term) -> Self {
        self.terms.push(term);
        self
    }

    /// The work of a stage.
    pub fn terms(&self, stage: Stage) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(move |term| term.stage == stage)
    }

    /// Milliseconds of a stage, each term scaled by what is known of it.
    pub fn ms(&self, stage: Stage, scale: impl Fn(&str) -> f64) -> f64 {
        self.terms(stage).map(|term| term.ms * scale(term.name)).sum()
    }
}
