//! Checks engines against the float64 oracle and each other on the searched f32 points, and against the
//! file's own values ([`own_values`], [`file_order`]).

pub mod file_order;
pub mod own_values;

use serde::Serialize;

use super::execute::answer;
use super::{EnginePool, RunError};
use crate::engines::registry;
use crate::knn::reference::{Report, judge};
use crate::knn::{
    Answer, Descriptor, DeviceId, DeviceInfo, EngineError, EngineId, Method, Neighbors, Problem,
};
use crate::progress::Progress;
use crate::text::ExactFloat;

/// The verdict on an engine.
#[derive(Clone, Debug, Serialize)]
pub struct EngineVerdict {
    pub engine: EngineId,
    /// The method; absent with default parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// The device; absent if the engine cannot run.
    pub device: Option<DeviceInfo>,
    pub not_run: Option<String>,
    /// Queries that the oracle checked.
    pub queries: u64,
    /// The largest relative difference between a squared distance and the oracle's.
    pub largest_relative_error: f64,
    /// Ranks with another point than the oracle's at the same distance.
    pub ties: u64,
    /// An earlier engine whose answer is identical bit for bit; absent for the first engine.
    pub equal_to: Option<EngineId>,
    /// Whether counters and convergence were compared as well.
    pub counted: bool,
    /// The first wrong answer or difference.
    pub mismatch: Option<String>,
}

impl EngineVerdict {
    /// The method, or the engine with default parameters.
    pub fn name(&self) -> String {
        self.method.as_ref().map_or_else(|| self.engine.to_string(), ToString::to_string)
    }

    fn new(method: &Method) -> Self {
        let spelled = (!method.parameters.is_empty()).then(|| method.clone());
        Self {
            engine: method.engine,
            method: spelled,
            device: None,
            not_run: None,
            queries: 0,
            largest_relative_error: 0.0,
            ties: 0,
            equal_to: None,
            counted: false,
            mismatch: None,
        }
    }
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Verification {
    pub verdicts: Vec<EngineVerdict>,
    /// The answer of the first correct engine, as positions.
    pub correct: Option<Neighbors>,
}

/// Answers a problem with the named methods or, if none is named, with each engine that can run, on `device`
/// or on each engine's default one. Checks neighbours against the oracle and between engines and builds, bit
/// for bit; and measures and convergence between twins.
///
/// # Errors
/// When a named engine cannot run, when none can, and when an engine fails. A wrong answer is not an error
/// but an [`EngineVerdict::mismatch`].
pub fn verify(
    problem: &Problem,
    named: &[Method],
    device: Option<DeviceId>,
    engines: &mut EnginePool,
    progress: &dyn Progress,
) -> Result<Verification, RunError> {
    // In registry order and without duplicates, regardless of the order of the names.
    let mut methods: Vec<Method> = registry::ENGINES.iter().map(|engine| Method::new(engine.id)).collect();
    if !named.is_empty() {
        let ranks = methods;
        methods = Vec::new();
        for method in named {
            if !methods.contains(method) {
                methods.push(method.clone());
            }
        }
        methods.sort_by_key(|method| ranks.iter().position(|rank| rank.engine == method.engine));
    }
    let mut verdicts: Vec<EngineVerdict> = Vec::new();
    let mut answers: Vec<(usize, Answer)> = Vec::new();
    for method in methods {
        let mut verdict = EngineVerdict::new(&method);
        match run_method(problem, &method, device, engines, progress) {
            Ok((device, answer, mismatch)) => {
                (verdict.device, verdict.counted) = (Some(device), !answer.measured.is_empty());
                verdict.mismatch = mismatch;
                check(problem, &mut verdict, &answer, &answers, &verdicts, progress)?;
                answers.push((verdicts.len(), answer));
            }
            // An engine that cannot run, or does not support the problem, is an error only if it was named.
            Err(RunError::Engine(error)) if named.is_empty() && error.is_refusal() => {
                verdict.not_run = Some(match error {
                    EngineError::Unavailable { why, .. } => why,
                    error => error.to_string(),
                });
            }
            Err(error) => return Err(error),
        }
        verdicts.push(verdict);
    }
    let correct = answers
        .into_iter()
        .find(|(at, _)| verdicts[*at].mismatch.is_none())
        .map(|(_, answer)| answer.neighbors);
    Ok(Verification { verdicts, correct })
}

/// An engine's answer, and a difference between its builds, if any.
fn run_method(
    problem: &Problem,
    method: &Method,
    device: Option<DeviceId>,
    engines: &mut EnginePool,
    progress: &dyn Progress,
) -> Result<(DeviceInfo, Answer, Option<String>), RunError> {
    let mut stage = |_: &str, fraction: f32| {
        progress.update((fraction * 1000.0) as u64, 1000);
        !progress.cancelled()
    };
    let (device, answer, counted) = engines.with_engine(method.engine, device, |engine| {
        let (answer, counted) = answer(problem, engine, &method.parameters, &mut stage)?;
        Ok((engine.device(), answer, counted))
    })?;
    let mismatch = counted.and_then(|counted| {
        first_difference(problem, &answer.neighbors, &counted)
            .map(|at| format!("{method}, the timed build against the counted one: {at}"))
    });
    Ok((device, answer, mismatch))
}

/// Compares an answer with the previous ones, and with the oracle unless a previous one is identical.
fn check(
    problem: &Problem,
    verdict: &mut EngineVerdict,
    answer: &Answer,
    // Each answer with the index of its verdict, as one engine may have several methods.
    previous: &[(usize, Answer)],
    verdicts: &[EngineVerdict],
    progress: &dyn Progress,
) -> Result<(), RunError> {
    let (mut difference, mut equal) = (None, None);
    for (other, theirs) in previous.iter().map(|(at, theirs)| (&verdicts[*at], theirs)) {
        // A difference from a wrong answer is not an error.
        if other.mismatch.is_some() {
            continue;
        }
        match first_difference(problem, &theirs.neighbors, &answer.neighbors).or_else(|| {
            first_counted_difference(
                have_comparable_counters(other.engine, verdict.engine).then_some(theirs)?,
                answer,
            )
        }) {
            None => {
                equal.get_or_insert(other);
            }
            Some(at) => {
                difference
                    .get_or_insert_with(|| format!("{} against {}: {at}", other.name(), verdict.name()));
            }
        }
    }
    verdict.equal_to = equal.map(|other| other.engine);
    let oracle = match equal {
        Some(same) => Ok(Report {
            queries: same.queries as usize,
            largest_relative_error: same.largest_relative_error,
            ties: same.ties,
        }),
        None => judge(problem, &answer.neighbors, progress),
    };
    match oracle {
        Ok(report) if report.queries < problem.q() => return Err(RunError::Cancelled),
        Ok(report) => {
            (verdict.queries, verdict.largest_relative_error, verdict.ties) =
                (report.queries as u64, report.largest_relative_error, report.ties);
        }
        // The oracle's verdict takes precedence over differences between engines.
        Err(mismatch) => {
            verdict.mismatch = Some(format!("the oracle against {}: {mismatch}", verdict.name()))
        }
    }
    verdict.mismatch = verdict.mismatch.take().or(difference);
    Ok(())
}

/// The first bitwise difference between two answers.
fn first_difference(problem: &Problem, a: &Neighbors, b: &Neighbors) -> Option<String> {
    (0..problem.q()).find_map(|query| {
        let ((positions_a, distances_a), (positions_b, distances_b)) =
            (a.for_query(query), b.for_query(query));
        let rank = (0..problem.k()).find(|&rank| {
            positions_a[rank] != positions_b[rank]
                || distances_a[rank].to_bits() != distances_b[rank].to_bits()
        })?;
        let at = |positions: &[u32], distances: &[f32]| {
            format!("position {} at {}", positions[rank], ExactFloat(distances[rank]))
        };
        Some(format!(
            "query {query}, rank {rank}: {}, and {}",
            at(positions_a, distances_a),
            at(positions_b, distances_b)
        ))
    })
}

/// Whether the counters of two engines' methods are comparable: the engines implement one algorithm with a
/// twin, whose parameters are tuning only. Parameters of other engines change the counters: `warp-select`
/// with other queue lengths merges at other times.
pub fn have_comparable_counters(a: EngineId, b: EngineId) -> bool {
    let algorithm = |id| registry::find(id).map_or(id, Descriptor::algorithm);
    algorithm(a) == algorithm(b)
        && registry::ENGINES.iter().any(|engine| engine.twin_of == Some(algorithm(a)))
}

/// The first difference in counters or convergence, if both answers have them.
fn first_counted_difference(a: &Answer, b: &Answer) -> Option<String> {
    if a.measured.is_empty() || b.measured.is_empty() {
        return None;
    }
    (0..a.measured.queries()).find_map(|query| {
        let counted = |answer: &Answer| {
            answer
                .measured
                .for_query(query)
                .map(|(name, value)| format!("{name} {value}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if !a.measured.for_query(query).eq(b.measured.for_query(query)) {
            return Some(format!("query {query}: {}, and {}", counted(a), counted(b)));
        }
        // Engines without a history have no entries for any query.
        if a.convergence.queries() == 0 && b.convergence.queries() == 0 {
            return None;
        }
        let ((seen_a, distances_a), (seen_b, distances_b)) =
            (a.convergence.for_query(query), b.convergence.for_query(query));
        let bits =
            |distances: &[f32]| distances.iter().map(|distance| distance.to_bits()).collect::<Vec<_>>();
        (seen_a != seen_b || bits(distances_a) != bits(distances_b))
            .then(|| format!("query {query}: the convergence histories differ"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Script, spec, squares};
    use super::super::{RunSpec, build_problem};
    use super::*;
    use crate::progress::NoProgress;
    use crate::run::LoadedSpec;

    fn verify(
        problem: &Problem,
        named: &[Method],
        device: Option<DeviceId>,
        engines: &mut EnginePool,
        progress: &NoProgress,
    ) -> Result<Vec<EngineVerdict>, RunError> {
        super::verify(problem, named, device, engines, progress).map(|verified| verified.verdicts)
    }

    const CUDA: EngineId = EngineId::new("cuda");
    const LOCKSTEP: EngineId = EngineId::new("lockstep");
    const KDTREE: EngineId = EngineId::new("kdtree");

    fn engines(broken: impl Fn(EngineId) -> Script + Send + 'static) -> EnginePool {
        testing::engines(move |kind| Ok(broken(kind)))
    }

    fn problem() -> Problem {
        build_problem(LoadedSpec::new(&RunSpec { k: 5, ..spec() }, &squares(40), None)).unwrap()
    }

    #[test]
    fn matching_answers_pass() {
        let verdicts =
            verify(&problem(), &[], None, &mut engines(|_| Script::default()), &NoProgress).unwrap();
        assert_eq!(verdicts.len(), registry::ENGINES.len());
        for (verdict, equal_to) in
            verdicts.iter().zip(std::iter::once(None).chain(std::iter::repeat(Some(CUDA))))
        {
            assert_eq!((verdict.mismatch.as_ref(), verdict.queries, verdict.equal_to), (None, 40, equal_to));
            assert_eq!(verdict.counted, registry::find(verdict.engine).unwrap().counts());
        }
    }

    #[test]
    fn only_named_engines_run() {
        let named = [KDTREE, CUDA, KDTREE].map(Method::new);
        let verdicts =
            verify(&problem(), &named, None, &mut engines(|_| Script::default()), &NoProgress).unwrap();
        let ran: Vec<_> = verdicts.iter().map(|verdict| (verdict.engine, verdict.equal_to)).collect();
        assert_eq!(ran, [(CUDA, None), (KDTREE, Some(CUDA))]);
    }

    #[test]
    fn failed_devices_are_reopened() {
        let opened = std::sync::atomic::AtomicUsize::new(0);
        let mut engines = engines(move |_| {
            let first = opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
            Script { device_fails: first, ..Script::default() }
        });
        let error = verify(&problem(), &[CUDA.into()], None, &mut engines, &NoProgress).unwrap_err();
        assert_eq!(error.to_string(), "a test: an illegal memory access");
        assert!(
            verify(&problem(), &[CUDA.into()], None, &mut engines, &NoProgress).unwrap()[0]
                .mismatch
                .is_none()
        );
    }

    #[test]
    fn the_wrong_engine_is_named() {
        let broken = |kind| Script { wrong_query: (kind == LOCKSTEP).then_some(7), ..Script::default() };
        let verdicts = verify(&problem(), &[], None, &mut engines(broken), &NoProgress).unwrap();
        let wrong: Vec<_> = verdicts
            .iter()
            .filter_map(|verdict| verdict.mismatch.as_ref().map(|why| (verdict.engine, why)))
            .collect();
        // The k-d tree is correct and is not blamed for differing from the wrong twin.
        assert_eq!(wrong[0].0, LOCKSTEP);
        assert!(wrong[0].1.starts_with("the oracle against lockstep: query 7, rank 0"), "{wrong:?}");
        assert_eq!(wrong.len(), 1, "{wrong:?}");
    }

    #[test]
    fn counter_mismatches_are_reported() {
        let broken = |kind| Script { extra_merges: u32::from(kind == LOCKSTEP), ..Script::default() };
        let verdicts = verify(&problem(), &[], None, &mut engines(broken), &NoProgress).unwrap();
        let twin = verdicts.iter().find(|verdict| verdict.engine == LOCKSTEP).unwrap();
        let why = twin.mismatch.as_ref().unwrap();
        assert!(
            why.starts_with(
                "cuda against lockstep: query 0: merges 2, candidates 0, groups_hit 1, and merges 3,"
            ),
            "{why}"
        );
    }

    #[test]
    fn counters_of_different_parameters_are_not_compared() {
        let methods =
            ["warp-select:queue=2", "warp-select:queue=9"].map(|method| method.parse::<Method>().unwrap());
        let verdicts =
            verify(&problem(), &methods, Some(DeviceId::Cpu), &mut EnginePool::default(), &NoProgress)
                .unwrap();
        assert_eq!(
            verdicts.iter().map(|verdict| verdict.mismatch.as_deref()).collect::<Vec<_>>(),
            [None, None]
        );
        let warp_select = EngineId::new("warp-select");
        assert!(
            !have_comparable_counters(warp_select, warp_select)
                && have_comparable_counters(CUDA, CUDA)
                && have_comparable_counters(LOCKSTEP, CUDA)
        );
    }

    #[test]
    fn timed_and_counted_builds_are_compared() {
        let broken = |_| Script { wrong_when_counted: true, ..Script::default() };
        let verdicts = verify(&problem(), &[CUDA.into()], None, &mut engines(broken), &NoProgress).unwrap();
        let why = verdicts[0].mismatch.as_ref().unwrap();
        assert!(
            why.starts_with(
                "cuda, the timed build against the counted one: query 0, rank 0: position 0 at 0, and"
            ),
            "{why}"
        );
    }

    #[test]
    fn unavailable_engines_are_reported_without_a_mismatch() {
        let broken = |kind| Script { unavailable: kind == CUDA, ..Script::default() };
        let verdicts = verify(&problem(), &[], None, &mut engines(broken), &NoProgress).unwrap();
        assert_eq!(verdicts[0].not_run.as_deref(), Some("the test says so"));
        assert!(verdicts.iter().all(|verdict| verdict.mismatch.is_none()));
        assert_eq!(verdicts[1].equal_to, None);
        assert!(verify(&problem(), &[CUDA.into()], None, &mut engines(broken), &NoProgress).is_err());
    }
}
