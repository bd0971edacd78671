//! Files of the first version open: recordings, a session and run folders, stored in
//! `tests/data/first-version`.

use std::path::{Path, PathBuf};

use warpscope::knn::{EngineId, warp};
use warpscope::progress::NoProgress;
use warpscope::run::LoadedRun;
use warpscope::run::compare::{SavedRun, compare};
use warpscope::run::recording::{self, CloudLoadMode};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/first-version").join(name)
}

#[test]
fn recordings_open_with_their_counters_and_profile() {
    for (name, runs) in [
        ("lockstep.warpscope", 1),
        ("sweep.warpscope", 4),
        ("session.warpscope", 2),
        ("profiled.warpscope", 3),
    ] {
        let recording = recording::read(&file(name), CloudLoadMode::Restore, &NoProgress)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(recording.runs.len(), runs, "{name}");
        assert_eq!(recording.session.is_some(), name == "session.warpscope");
        for recorded in &recording.runs {
            let LoadedRun::Whole(record) = &recorded.run else { panic!("{name}: {recorded:?}") };
            let counts = record.engine == EngineId::new("lockstep");
            assert_eq!(record.measured.queries(), if counts { record.query_rows.len() } else { 0 }, "{name}");
            assert_eq!(record.summary.measure("merges").is_some(), counts, "{name}");
            if counts {
                assert!(
                    record
                        .measured
                        .columns()
                        .map(|(name, _)| name)
                        .eq(warp::MEASURES.iter().map(|measure| measure.name))
                );
                assert_eq!(record.convergence.queries(), record.query_rows.len());
                assert_eq!(
                    record.measured.column(&record.convergence.counted_by),
                    record.measured.column("merges")
                );
                let mean = record.summary.measure("merges").expect("it counts");
                assert_eq!(record.measured.mean("merges"), Some(mean.mean));
                assert!(mean.expected.is_some_and(|bound| bound > 0.0));
            }
            if let Some(profile) = &record.profile {
                assert!(
                    profile.phases.iter().map(String::as_str).eq(warp::PHASES.iter().map(|phase| phase.name))
                );
                assert_eq!(profile.cycles_of(1), Some(&[1, 2, 3, 4, 5, 6][..]));
            }
        }
    }
    let profiled = recording::read(&file("profiled.warpscope"), CloudLoadMode::Restore, &NoProgress)
        .expect("read above");
    assert!(
        profiled
            .runs
            .iter()
            .any(|recorded| recorded.run.record().is_some_and(|record| record.profile.is_some()))
    );
}

#[test]
fn first_version_run_folders_can_be_compared() {
    let [lockstep, kdtree] = ["lockstep", "kdtree"]
        .map(|name| SavedRun::read(&file(name)).unwrap_or_else(|error| panic!("{error}")));
    let head = lockstep.file.as_ref().expect("a folder has a run.json");
    assert_eq!(
        (head.engine, head.spec.engine.to_string()),
        (EngineId::new("lockstep"), "lockstep".to_owned())
    );
    assert_eq!(head.summary.measure("candidates").map(|measure| measure.mean), Some(64.25));
    assert!(kdtree.file.as_ref().is_some_and(|head| head.summary.measures.is_empty()));
    let compared = compare(&lockstep, &kdtree);
    assert!(compared.other_job.is_empty() && compared.answers.is_some(), "{compared:?}");
}
