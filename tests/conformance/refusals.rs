//! Refusals name the number, come before any work, and leave the engine usable.

use warpscope::knn::{DeviceKind, EngineError, Metric, Parameters, Problem};

use crate::common::{Case, build_problem};
use crate::subject::{EngineFixture, Subject};

fn refused(subject: &Subject, problem: &Problem, parameters: &Parameters) -> EngineError {
    match subject.open().load(problem, parameters, false) {
        Err(error) => error,
        Ok(_) => panic!("{subject}: the job was accepted"),
    }
}

pub fn limits_are_refused_by_number(subjects: &[Subject]) {
    for subject in subjects {
        let (id, limits) = (subject.engine.id, subject.engine.limits);
        // Skip limits that no test cloud reaches.
        let beyond = [
            (limits.k < 5000).then(|| ("k", limits.k, Case { k: limits.k + 1, ..Case::default() })),
            (limits.d < 5000).then(|| ("d", limits.d, Case { dims: limits.d + 1, k: 1, ..Case::default() })),
            (limits.n < 100_000).then(|| ("n", limits.n, Case { n: limits.n + 1, k: 1, ..Case::default() })),
        ];
        for (name, most, case) in beyond.into_iter().flatten() {
            let error = refused(subject, &build_problem(&case).unwrap(), &Parameters::NONE);
            assert!(
                matches!(
                    error,
                    EngineError::Limit { what, limit, value, .. }
                        if (what, limit + 1, limit) == (name, value, most as u64)
                ),
                "{error}"
            );
            assert_eq!(
                error.to_string(),
                format!("{name} = {}: the {id} engine supports at most {most}", most + 1)
            );
        }
        // The query's own row needs a slot.
        let own = build_problem(&Case { k: limits.k, exclude_self: true, ..Case::default() }).unwrap();
        assert!(
            matches!(refused(subject, &own, &Parameters::NONE), EngineError::Limit { what: "k", .. }),
            "{subject}"
        );
        for metric in Metric::ALL.into_iter().filter(|metric| !limits.metrics.contains(metric)) {
            let error = refused(
                subject,
                &build_problem(&Case { metric, ..Case::default() }).unwrap(),
                &Parameters::NONE,
            );
            assert!(matches!(error, EngineError::Metric { .. }), "{error}");
        }
    }
    EngineFixture::new(subjects).check(&Case::default());
}

pub fn wrong_parameters_are_refused_by_name(subjects: &[Subject]) {
    let problem = build_problem(&Case::default()).unwrap();
    for subject in subjects {
        let names = subject.engine.parameters.iter().map(|parameter| parameter.name);
        for (name, value) in
            names.map(|name| (name, "no value of anything")).chain([("no-such-parameter", "1")])
        {
            let error = refused(subject, &problem, &Parameters::from_iter([(name, value)]));
            let told = matches!(
                &error,
                EngineError::Parameter { engine, why } if *engine == subject.engine.id && why.contains(name)
            );
            assert!(told && !error.is_refusal(), "{subject}: {error}");
        }
    }
    EngineFixture::new(subjects).check(&Case::default());
}

/// Answers larger than any machine's memory.
pub fn memory_is_checked_before_the_start(subjects: &[Subject]) {
    for subject in subjects {
        let k = subject.engine.limits.k.min(1024);
        let gpu = subject.device.kind() == DeviceKind::Gpu;
        let queries = if gpu {
            // 313 GiB: more than any current GPU.
            (313 << 30) / (8 * k)
        } else {
            // These answers need all of the host's memory, which only Linux reports.
            let Ok(meminfo) = std::fs::read_to_string("/proc/meminfo") else { continue };
            let total = meminfo
                .split_whitespace()
                .nth(1)
                .and_then(|kib| kib.parse::<usize>().ok())
                .expect("MemTotal is first");
            (total << 10) / (8 * k)
        };
        let problem =
            build_problem(&Case { n: 2, k, dims: 1, query_rows: Some(vec![0; queries]), ..Case::default() })
                .unwrap();
        let error = refused(subject, &problem, &Parameters::NONE);
        // A host with less memory than the GPU's answers need refuses them first.
        let (EngineError::Memory { needed, free, .. }
        | EngineError::HostMemory { needed, free }
        | EngineError::Answers { needed, free, .. }) = &error
        else {
            panic!("{subject}: {error}")
        };
        assert!(needed > free && *needed >= ((queries * k * 8) >> 20) as u64, "{subject}: {error}");
        let way_out = if matches!(error, EngineError::Answers { .. }) {
            "use fewer queries"
        } else {
            "--engine lockstep"
        };
        assert!(!gpu || error.to_string().contains(way_out), "{error}");
    }
    EngineFixture::new(subjects).check(&Case::default());
}
