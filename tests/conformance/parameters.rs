//! Parameters never change the answer's bits.

use warpscope::engines::registry;
use warpscope::knn::{
    AllowedValues, EngineError, Group, KernelBuild, Method, Neighbors, Parameter, Parameters,
};

use crate::common::{Case, PointDistribution, answer, answer_with, build_problem};
use crate::subject::{Subject, assert_same_counts, assert_same_neighbors, check_declared, on_gpu};

/// Values of a parameter: every enumerated value; for numbers, both ends and the powers of two between them.
fn values(parameter: &Parameter) -> Vec<String> {
    match &parameter.values {
        AllowedValues::Words(words) => words.iter().map(|&word| word.to_owned()).collect(),
        AllowedValues::Numbers(range) => {
            let powers = (0..32).map(|power| 1u32 << power).filter(|number| range.contains(number));
            let mut numbers: Vec<u32> = powers.chain([*range.start(), *range.end()]).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers.iter().map(u32::to_string).collect()
        }
    }
}

/// With every point a query, a timed search may batch queries. Every enumerated value must give the same bits
/// as the counted build.
pub fn enumerated_values_give_the_same_bits(subjects: &[Subject]) {
    let grid = |side| PointDistribution::Grid { side };
    let cases = [
        (grid(16), 3, 7),
        (grid(16), 3, 17),
        (grid(20), 3, 40),
        (grid(60), 2, 12),
        (PointDistribution::Uniform { exponent: 0 }, 2, 8),
        (PointDistribution::Uniform { exponent: 0 }, 2, 50),
        (PointDistribution::Uniform { exponent: 0 }, 3, 100),
        (PointDistribution::Duplicates { places: 90 }, 3, 20),
        // Consecutive points far apart, so that a space-filling curve through them jumps.
        (PointDistribution::Descending, 2, 100),
    ];
    for subject in subjects.iter().filter(|subject| !subject.engine.parameters.is_empty()) {
        let mut engine = subject.open();
        for (shape, dims, k) in cases {
            // A selector treats queries independently, so a few are enough.
            let n = match (on_gpu(&[*subject]), subject.engine.group) {
                (true, _) => 40_000,
                (false, Group::Selection) => 400,
                (false, _) => 1500,
            };
            let problem = build_problem(&Case {
                shape,
                n,
                dims,
                k,
                query_rows: Some((0..n as u32).collect()),
                ..Case::default()
            })
            .unwrap();
            let expected = answer(engine.as_mut(), &problem);
            for parameter in subject
                .engine
                .parameters
                .iter()
                .filter(|parameter| matches!(parameter.values, AllowedValues::Words(_)))
            {
                for value in values(parameter) {
                    let parameters = Parameters::from_iter([(parameter.name, &value)]);
                    let Ok(mut search) = engine.load(&problem, &parameters, false) else { continue };
                    let mut found = Neighbors::default();
                    search.search(0..problem.q(), KernelBuild::Timed).unwrap();
                    search.download(&mut found).unwrap();
                    assert_same_neighbors(
                        &found,
                        &expected.neighbors,
                        &format!("{subject}: {parameters}, d = {dims}, k = {k}"),
                    );
                }
            }
        }
    }
}

/// Each allowed value alone gives the same answer as the defaults, or is refused as unsuitable for the
/// problem, the device or other parameters.
pub fn every_value_gives_the_same_bits(subjects: &[Subject]) {
    for subject in subjects.iter().filter(|subject| !subject.engine.parameters.is_empty()) {
        let mut engine = subject.open();
        // Few dimensions, and enough of them that other kernels are used.
        for dims in [2, 5] {
            let problem = build_problem(&Case {
                n: 5003,
                dims,
                k: 20,
                query_rows: Some((0..77).collect()),
                ..Case::default()
            })
            .unwrap();
            let expected = answer(engine.as_mut(), &problem);
            for parameter in subject.engine.parameters {
                let mut taken = 0;
                for value in values(parameter) {
                    let parameters = Parameters::from_iter([(parameter.name, &value)]);
                    let context = format!("{subject}: {parameters}, d = {dims}");
                    match engine.load(&problem, &parameters, false).map(drop) {
                        Ok(()) => taken += 1,
                        Err(EngineError::Parameter { why, .. } | EngineError::Unavailable { why, .. }) => {
                            println!("{context}: {why}");
                            continue;
                        }
                        Err(error) => panic!("{context}: {error}"),
                    }
                    let found = answer_with(engine.as_mut(), &problem, &parameters);
                    assert_same_neighbors(&found.neighbors, &expected.neighbors, &context);
                    if on_gpu(&[*subject]) {
                        // On a GPU the timed build is another kernel.
                        let (mut search, mut timed) =
                            (engine.load(&problem, &parameters, false).unwrap(), Neighbors::default());
                        search.search(0..problem.q(), KernelBuild::Timed).unwrap();
                        search.download(&mut timed).unwrap();
                        assert_same_neighbors(&timed, &expected.neighbors, &format!("{context}, timed"));
                    }
                    check_declared(subject.engine, &problem, &found, &context);
                    // If other engines share the algorithm, parameters must not change the counters.
                    if registry::ENGINES
                        .iter()
                        .filter(|engine| engine.algorithm() == subject.engine.algorithm())
                        .count()
                        > 1
                    {
                        assert_same_counts(&found, &expected, &context);
                    }
                }
                // Some values may apply only to other numbers of dimensions, but at least one must apply
                // here.
                assert!(taken > 0, "{subject}: no value of {} is accepted with d = {dims}", parameter.name);
            }
        }
    }
}

pub fn resolved_parameters_resolve_to_themselves(subjects: &[Subject]) {
    for subject in subjects {
        let mut engine = subject.open();
        for (dims, k, n) in [(2, 32, 5003), (3, 1000, 5003), (17, 40, 20_011), (5, 1, 300)] {
            let problem = build_problem(&Case { n, dims, k, ..Case::default() }).unwrap();
            if subject.engine.check(&problem, &Parameters::NONE).is_err() {
                continue;
            }
            let resolved = engine
                .load(&problem, &Parameters::NONE, false)
                .unwrap_or_else(|error| panic!("{subject}: {error}"))
                .parameters();
            let method = Method { engine: subject.engine.id, parameters: resolved.clone() };
            assert_eq!(method.to_string().parse(), Ok(method.clone()), "{subject}");
            let again = engine
                .load(&problem, &resolved, false)
                .unwrap_or_else(|error| panic!("{method}: {error}"))
                .parameters();
            assert_eq!(again, resolved, "{subject}, d = {dims}: a resolved method resolves to another");
            if subject.engine.parameters.is_empty() {
                assert!(resolved.is_empty(), "{subject} has nothing to resolve");
            }
        }
    }
}
