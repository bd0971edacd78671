//! An engine on a device, and the checks of its answers.

use warpscope::engines::registry;
use warpscope::knn::reference::{Report, judge};
use warpscope::knn::{
    Answer, CONVERGENCE_ENTRIES, Descriptor, DeviceId, DeviceKind, Engine, EngineId, KernelBuild, NONE,
    Neighbors, Parameters, Problem, ProfilePhase,
};
use warpscope::progress::NoProgress;

use crate::common::{Case, answer_with, build_problem};
use crate::rules::{self, Simulation};

/// The engine that all others must equal bit for bit. It is itself checked against the oracle and the
/// restated rules.
pub const REFERENCE: EngineId = EngineId::new("lockstep");

/// Up to this many points, the restated rules are fast enough to check.
const RESTATED: usize = 6000;

/// An engine on a device.
#[derive(Clone, Copy)]
pub struct Subject {
    pub engine: &'static Descriptor,
    pub device: DeviceId,
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on device {}", self.engine.id, self.device)
    }
}

/// All engines that run on a kind of device, on the first such device; only those in `WARPSCOPE_ENGINES` if
/// it is set.
pub fn on_devices(kind: DeviceKind) -> Vec<Subject> {
    let wanted = std::env::var("WARPSCOPE_ENGINES").ok();
    let is_wanted = |engine: &Descriptor| {
        wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|name| name == engine.id.as_str()))
    };
    let there = registry::ENGINES.iter().filter(|engine| engine.runs_on.contains(&kind) && is_wanted(engine));
    there.map(|engine| Subject { engine, device: kind.first() }).collect()
}

/// Whether some run on a GPU, which needs larger problems.
pub fn on_gpu(subjects: &[Subject]) -> bool {
    subjects.iter().any(|subject| subject.device.kind() == DeviceKind::Gpu)
}

impl Subject {
    pub fn open(&self) -> Box<dyn Engine> {
        self.engine.open_on(self.device).unwrap_or_else(|error| panic!("{self}: {error}"))
    }
}

/// Engines kept open between problems, and the reference.
pub struct EngineFixture {
    subjects: Vec<(Subject, Box<dyn Engine>)>,
    /// CPU twins of GPU engines, opened on demand.
    twins: Vec<(EngineId, Box<dyn Engine>)>,
}

impl EngineFixture {
    pub fn new(subjects: &[Subject]) -> Self {
        Self {
            subjects: subjects.iter().map(|&subject| (subject, subject.open())).collect(),
            twins: Vec::new(),
        }
    }

    /// Checks every engine's answer to a case.
    pub fn check(&mut self, case: &Case) -> Report {
        let problem = build_problem(case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        self.check_problem(&problem, &format!("{case:?}"))
    }

    pub fn check_problem(&mut self, problem: &Problem, context: &str) -> Report {
        let reference = registry::find(REFERENCE).expect("the registry has it");
        let expected = answer_with(
            reference.open_on(DeviceId::Cpu).expect("it runs on every machine").as_mut(),
            problem,
            &Parameters::NONE,
        );
        let report = judge(problem, &expected.neighbors, &NoProgress)
            .unwrap_or_else(|mismatch| panic!("{context}: {REFERENCE}: {mismatch}"));
        assert_eq!(report.queries, problem.q());
        check_declared(reference, problem, &expected, context);
        if problem.n() <= RESTATED {
            check_restated(problem, &expected, context);
        }
        let mut counted = vec![(reference.algorithm(), expected)];
        for at in 0..self.subjects.len() {
            let subject = self.subjects[at].0;
            let at_subject = format!("{subject}: {context}");
            if let Err(limit) =
                subject.engine.limits.check(subject.engine.id, &problem.shape(), problem.metric())
            {
                let Err(refused) = self.subjects[at].1.load(problem, &Parameters::NONE, false).map(drop)
                else {
                    panic!("{at_subject}: {limit}")
                };
                assert_eq!(refused.to_string(), limit.to_string(), "{at_subject}");
                continue;
            }
            let found = answer_with(self.subjects[at].1.as_mut(), problem, &Parameters::NONE);
            assert_same_neighbors(&found.neighbors, &counted[0].1.neighbors, &at_subject);
            check_declared(subject.engine, problem, &found, &at_subject);
            if subject.device.kind() == DeviceKind::Gpu {
                check_repeated(self.subjects[at].1.as_mut(), problem, &found.neighbors, &at_subject);
            }
            if !subject.engine.counts() {
                continue;
            }
            let algorithm = subject.engine.algorithm();
            if !counted.iter().any(|(of, _)| *of == algorithm)
                && let Some(twin) = self.twin(subject)
            {
                let answer = answer_with(twin, problem, &Parameters::NONE);
                counted.push((algorithm, answer));
            }
            match counted.iter().find(|(of, _)| *of == algorithm) {
                Some((_, first)) => assert_same_counts(&found, first, &at_subject),
                None => counted.push((algorithm, found)),
            }
        }
        report
    }

    /// The CPU engine with the same algorithm, if there is one.
    fn twin(&mut self, subject: Subject) -> Option<&mut (dyn Engine + 'static)> {
        let algorithm = subject.engine.algorithm();
        let on_cpu = |engine: &&&Descriptor| {
            engine.algorithm() == algorithm && engine.runs_on.contains(&DeviceKind::Cpu)
        };
        let engine =
            registry::ENGINES.iter().find(on_cpu).filter(|_| subject.device.kind() != DeviceKind::Cpu)?;
        if !self.twins.iter().any(|(of, _)| *of == algorithm) {
            self.twins.push((algorithm, engine.open_on(DeviceId::Cpu).expect("a CPU is there")));
        }
        self.twins.iter_mut().find(|(of, _)| *of == algorithm).map(|(_, engine)| engine.as_mut())
    }
}

/// Searches all queries repeatedly, which an engine may record and replay.
fn check_repeated(engine: &mut dyn Engine, problem: &Problem, expected: &Neighbors, context: &str) {
    let mut search =
        engine.load(problem, &Parameters::NONE, false).unwrap_or_else(|error| panic!("{context}: {error}"));
    for repeat in 0..3 {
        let mut found = Neighbors::default();
        assert!(
            search
                .search(0..problem.q(), KernelBuild::Timed)
                .unwrap_or_else(|error| panic!("{context}: {error}"))
                > 0.0
        );
        search.download(&mut found).unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_same_neighbors(&found, expected, &format!("{context}, repeat {repeat}"));
    }
}

pub fn assert_same_neighbors(found: &Neighbors, expected: &Neighbors, context: &str) {
    assert_eq!((found.queries(), found.k), (expected.queries(), expected.k), "{context}");
    for query in 0..expected.queries() {
        assert_eq!(
            found.for_query(query).0,
            expected.for_query(query).0,
            "{context}: positions of query {query}"
        );
        let bits = |neighbors: &Neighbors| {
            neighbors.for_query(query).1.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(found), bits(expected), "{context}: distances of query {query}");
    }
}

/// Measures and convergence must be equal bit for bit.
pub fn assert_same_counts(found: &Answer, expected: &Answer, context: &str) {
    assert!(
        found.measured.columns().map(|(name, _)| name).eq(expected.measured.columns().map(|(name, _)| name)),
        "{context}"
    );
    for query in 0..expected.measured.queries() {
        assert!(
            found.measured.for_query(query).eq(expected.measured.for_query(query)),
            "{context}: measures of query {query}: {:?}",
            {
                let values = |answer: &Answer| {
                    answer
                        .measured
                        .for_query(query)
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect::<Vec<_>>()
                };
                (values(found), values(expected))
            }
        );
    }
    assert_eq!(found.convergence.queries(), expected.convergence.queries(), "{context}");
    for query in 0..expected.convergence.queries() {
        assert_eq!(
            history(found, query),
            history(expected, query),
            "{context}: convergence of query {query}"
        );
    }
}

/// A query's convergence: points seen, and the bits of the bound.
pub fn history(answer: &Answer, query: usize) -> Vec<(u32, u32)> {
    let (points_seen, bounds) = answer.convergence.for_query(query);
    points_seen.iter().zip(bounds).map(|(&seen, bound)| (seen, bound.to_bits())).collect()
}

/// Counters must be those that the engine declares.
pub fn check_declared(engine: &Descriptor, problem: &Problem, found: &Answer, context: &str) {
    assert!(found.profile.is_none(), "{context}: unrequested profile");
    let (declared, counted) =
        (engine.measures.iter().map(|measure| measure.name), found.measured.columns().map(|(name, _)| name));
    assert!(declared.eq(counted), "{context}: {:?}", found.measured);
    assert_eq!(found.measured.queries(), if engine.counts() { problem.q() } else { 0 }, "{context}");
    for measure in engine.measures {
        let values = found.measured.column(measure.name).expect("it was just found");
        assert_eq!(values.len(), problem.q(), "{context}: {}", measure.name);
        let most = measure.worst_case.map_or(f64::INFINITY, |most| most(&problem.shape()));
        assert!(
            values.iter().all(|&value| f64::from(value) <= most),
            "{context}: more {} than {most}",
            measure.name
        );
    }
    let Some(name) = engine.convergence else {
        return assert_eq!(found.convergence.queries(), 0, "{context}");
    };
    assert_eq!(
        (found.convergence.counted_by.as_str(), found.convergence.queries()),
        (name, problem.q()),
        "{context}"
    );
    let steps = found.measured.column(name).expect("the registry's tests say that it is declared");
    for (query, &steps) in steps.iter().enumerate() {
        let (points_seen, bounds) = found.convergence.for_query(query);
        assert_eq!(
            points_seen.len(),
            (steps as usize).min(CONVERGENCE_ENTRIES),
            "{context}: entries of query {query}"
        );
        assert!(
            points_seen.is_sorted() && bounds.iter().rev().is_sorted(),
            "{context}: query {query} does not converge"
        );
        // The last merge comes after every neighbour, and its bound is the distance of the last one.
        let (positions, distances) = found.neighbors.for_query(query);
        let behind =
            positions.iter().filter(|&&position| position != NONE).max().map_or(0, |position| position + 1);
        assert!(
            points_seen.last().is_some_and(|seen| (behind..=problem.n() as u32).contains(seen)),
            "{context}: query {query}, {points_seen:?}"
        );
        assert_eq!(
            bounds.last().map(|bound| bound.to_bits()),
            distances.last().map(|last| last.to_bits()),
            "{context}: query {query}"
        );
    }
}

/// A profile must be as the engine declares it.
pub fn check_profile(phases: &[ProfilePhase], queries: usize, found: &Answer, context: &str) {
    let Some(profile) = &found.profile else {
        return assert!(phases.is_empty(), "{context}: no times of phases");
    };
    assert!(
        profile.phases.iter().map(String::as_str).eq(phases.iter().map(|phase| phase.name)),
        "{context}: {:?}",
        profile.phases
    );
    assert_eq!((profile.cycles.len(), profile.spans.len()), (queries * phases.len(), queries), "{context}");
    assert!(profile.spans.iter().all(|span| span.stop_ns >= span.start_ns), "{context}");
}

/// Checks the reference against the restated rules.
fn check_restated(problem: &Problem, found: &Answer, context: &str) {
    for query in 0..problem.q() {
        let expected = Simulation::run(problem, query);
        assert_eq!(rules::counters_of(found, query), expected.counters, "{context}, query {query}");
        assert_eq!(history(found, query), expected.kept_history(), "{context}, query {query}");
        let (positions, distances) = found.neighbors.for_query(query);
        for rank in 0..problem.k() {
            assert_eq!(
                (distances[rank].to_bits(), positions[rank]),
                expected.neighbour(rank),
                "{context}, query {query}, rank {rank}"
            );
        }
    }
}
