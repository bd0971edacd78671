//! Two saved runs side by side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Phase, RunFile, stats};
use crate::knn::EngineKind;

/// Why two runs are not compared. The path is last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The operating system's word.
    #[error("cannot read: {why}: {}", path.display())]
    Io {
        /// What the system says.
        why: std::io::Error,
        /// The file.
        path: PathBuf,
    },
    /// It is not a timings.csv or a run.json.
    #[error("not what a run writes: {why}: {}", path.display())]
    Content {
        /// Where it is not.
        why: String,
        /// The file.
        path: PathBuf,
    },
}

/// The timings of a saved run and, where it lies beside them, its run.json.
#[derive(Clone, Debug)]
pub struct SavedRun {
    /// As it was named.
    pub path: PathBuf,
    /// Milliseconds per repeat, all chunks together, of each phase.
    pub phases: BTreeMap<(EngineKind, Phase), Vec<f64>>,
    /// What was run.
    pub file: Option<RunFile>,
}

/// A row of timings.csv.
#[derive(Deserialize)]
struct TimingRow {
    engine: EngineKind,
    phase: Phase,
    repeat: u32,
    duration_ms: f64,
}

impl SavedRun {
    /// Reads a run's folder, or a timings.csv.
    ///
    /// # Errors
    /// [`CompareError`].
    pub fn read(path: &Path) -> Result<Self, CompareError> {
        let folder = path.is_dir();
        let timings = if folder { path.join("timings.csv") } else { path.to_owned() };
        let text = read(&timings)?;
        let content = |why: String, path: &Path| CompareError::Content { why, path: path.to_owned() };
        let mut repeats: BTreeMap<(EngineKind, Phase), BTreeMap<u32, f64>> = BTreeMap::new();
        for row in csv::Reader::from_reader(text.as_slice()).into_deserialize::<TimingRow>() {
            let row = row.map_err(|error| content(error.to_string(), &timings))?;
            if !row.duration_ms.is_finite() || row.duration_ms < 0.0 {
                return Err(content(format!("a duration of {} ms", row.duration_ms), &timings));
            }
            *repeats.entry((row.engine, row.phase)).or_default().entry(row.repeat).or_default() += row.duration_ms;
        }
        if repeats.is_empty() {
            return Err(content("there are no timings in it".to_owned(), &timings));
        }
        let json = path.join("run.json");
        let file = match folder && json.exists() {
            true => Some(serde_json::from_slice(&read(&json)?).map_err(|error| content(error.to_string(), &json))?),
            false => None,
        };
        let phases = repeats.into_iter().map(|(key, repeats)| (key, repeats.into_values().collect())).collect();
        Ok(Self { path: path.to_owned(), phases, file })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CompareError> {
    std::fs::read(path).map_err(|why| CompareError::Io { why, path: path.to_owned() })
}

/// Many durations in a few numbers, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many there are.
    pub repeats: usize,
    /// The middle one.
    pub median: f64,
    /// A quarter is below.
    pub lower_quartile: f64,
    /// A quarter is above.
    pub upper_quartile: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of at least one duration.
    pub fn of(values: &[f64]) -> Self {
        let quantile = |p| stats::quantile(values, p);
        Self {
            repeats: values.len(),
            median: quantile(0.5),
            lower_quartile: quantile(0.25),
            upper_quartile: quantile(0.75),
            min: quantile(0.0),
            max: quantile(1.0),
        }
    }
}

/// One phase in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedPhase {
    /// What was timed.
    pub phase: Phase,
    /// The first run's engine.
    pub engine_a: EngineKind,
    /// The second run's engine.
    pub engine_b: EngineKind,
    /// The first run.
    pub a: Spread,
    /// The second run.
    pub b: Spread,
    /// The second's median over the first's: below 1, the second is faster. Absent where the first took no time.
    pub ratio: Option<f64>,
    /// Whether the middle halves of both have a time in common: if so, the ratio may be chance.
    pub overlap: bool,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// In what the runs differ beside their times, one line each; only where both have a run.json.
    pub differences: Vec<String>,
    /// The phases that both have, in the order of a run.
    pub phases: Vec<ComparedPhase>,
}

/// Compares two runs, phase by phase; of a file with several engines, each engine with itself.
pub fn compare(a: &SavedRun, b: &SavedRun) -> Comparison {
    let mut phases: Vec<ComparedPhase> = Vec::new();
    let engines = |run: &SavedRun| run.phases.keys().map(|key| key.0).collect::<std::collections::BTreeSet<_>>();
    let (of_a, of_b) = (engines(a), engines(b));
    // Two runs of one engine each are compared whatever the engines are.
    let any = of_a.len() == 1 && of_b.len() == 1;
    for (&(engine_a, phase), times_a) in &a.phases {
        for (&(engine_b, phase_b), times_b) in &b.phases {
            if phase == phase_b && (any || engine_a == engine_b) {
                let (a, b) = (Spread::of(times_a), Spread::of(times_b));
                let overlap = a.lower_quartile <= b.upper_quartile && b.lower_quartile <= a.upper_quartile;
                phases.push(ComparedPhase { phase, engine_a, engine_b, a, b, ratio: (a.median > 0.0).then(|| b.median / a.median), overlap });
            }
        }
    }
    let differences = match (&a.file, &b.file) {
        (Some(a), Some(b)) => differences(a, b),
        _ => Vec::new(),
    };
    Comparison { differences, phases }
}

fn differences(a: &RunFile, b: &RunFile) -> Vec<String> {
    let text = |run: &RunFile| {
        let (spec, summary) = (&run.spec, &run.summary);
        [
            ("n", summary.n.to_string()),
            ("q", summary.q.to_string()),
            ("d", summary.d.to_string()),
            ("k", spec.k.to_string()),
            ("metric", spec.metric.to_string()),
            ("order", spec.order.name().to_owned()),
            ("exclude-self", spec.exclude_self.to_string()),
            ("seed", spec.seed.to_string()),
            ("cloud", run.fingerprint.to_string()),
            ("queries", run.query_fingerprint.as_ref().map_or_else(|| format!("{:?}", spec.queries), ToString::to_string)),
            ("engine", run.engine.to_string()),
            ("device", run.device.name.clone()),
            ("version", run.warpscope_version.clone()),
        ]
    };
    let pairs = text(a).into_iter().zip(text(b));
    pairs.filter(|(a, b)| a.1 != b.1).map(|((name, a), (_, b))| format!("{name}: {a} against {b}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(rows: &str) -> Result<SavedRun, CompareError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timings.csv");
        std::fs::write(&path, format!("engine,phase,repeat,chunk,start_ms,duration_ms\n{rows}")).unwrap();
        SavedRun::read(&path)
    }

    #[test]
    fn chunks_add_up_and_medians_are_compared() {
        let a = saved("cuda,search,0,0,0,4\ncuda,search,0,1,4,6\ncuda,search,1,0,10,20\ncuda,search,2,0,30,30\ncuda,upload,0,0,0,1\n").unwrap();
        let b = saved("lockstep,search,0,0,0,80\n").unwrap();
        let compared = compare(&a, &b);
        assert_eq!(compared.phases.len(), 1, "only the phases that both have: {compared:?}");
        let search = &compared.phases[0];
        assert_eq!((search.a.median, search.a.min, search.a.max, search.a.repeats), (20.0, 10.0, 30.0, 3));
        assert_eq!((search.ratio, search.overlap), (Some(4.0), false));
        assert!(compare(&a, &a).phases.iter().all(|phase| phase.ratio == Some(1.0) && phase.overlap));
    }

    #[test]
    fn several_engines_are_each_compared_with_themselves() {
        let both = saved("cuda,search,0,0,0,1\nkdtree,search,0,0,0,7\n").unwrap();
        let phases = compare(&both, &both).phases;
        assert_eq!(phases.len(), 2);
        assert!(phases.iter().all(|phase| phase.engine_a == phase.engine_b));
    }

    #[test]
    fn other_files_are_refused_with_their_name() {
        for (rows, expected) in [("", "there are no timings in it"), ("gpu,search,0,0,0,1\n", "gpu"), ("cuda,search,0,0,0,NaN\n", "NaN ms")] {
            let message = saved(rows).unwrap_err().to_string();
            assert!(message.contains(expected) && message.ends_with("timings.csv") && !message.contains('\n'), "{message}");
        }
        assert!(SavedRun::read(Path::new("/no/such/run")).unwrap_err().to_string().ends_with("/no/such/run"));
    }
}
