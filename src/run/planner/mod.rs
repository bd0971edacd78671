//! The choice behind `auto`: predicts how long each engine needs for a problem, and picks one.
//!
//! | file | contents |
//! |---|---|
//! | here | learned rates: in memory, on disk, and along with the points that engines have loaded |
//! | `rates.rs` | the rates of an engine on a device, and the calibration that measures them |
//! | `plan.rs` | a job's predictions, the rule that picks an engine, and the choice as data and as text |
//!
//! An engine declares its costs ([`crate::knn::Descriptor::cost`]) at rates measured on one machine, which
//! are used until better ones are known. Nothing here makes a run fail: rates that cannot be read, written or
//! measured are ignored.

mod plan;
mod rates;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Phase, RunRecord};
use crate::engines::registry;
use crate::files;
use crate::knn::{
    Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, EngineId, Peaks, Points, Shape, Stage,
};
pub use plan::{Candidate, Job, Plan, Purpose, about, engines};
use rates::Rates;
pub use rates::StageTimes;

/// The rates of engines on devices, as measured and corrected so far. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Planner {
    learned: Arc<Mutex<LearnedRates>>,
    /// Where the rates are saved; `None` keeps them in memory only.
    file: Option<PathBuf>,
}

impl Planner {
    /// The planner of this process, saved in the user's cache folder. A debug build saves nothing, since
    /// measurements of an unoptimised program are useless for the next start.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Planner> = OnceLock::new();
        let file = path().filter(|_| !cfg!(debug_assertions));
        SHARED.get_or_init(|| file.map_or_else(Self::default, Self::at)).clone()
    }

    /// A planner that is saved in a file, which need not exist yet.
    pub fn at(file: PathBuf) -> Self {
        Self { learned: Arc::new(Mutex::new(read(&file))), file: Some(file) }
    }

    /// Predicts an engine's times for a problem, at its built-in rates if it has none for the device.
    pub fn forecast(&self, engine: &Descriptor, device: Option<&DeviceInfo>, shape: &Shape) -> StageTimes {
        let cost = (engine.cost)(shape, kind(engine, device));
        match device.and_then(|device| self.lock().rates.get(&key(engine, device)).cloned()) {
            Some(rates) => rates.forecast(&cost, shape),
            None => Rates::default().forecast(&cost, shape),
        }
    }

    /// The factor by which a stage takes longer for one problem than for another. Corrections for single
    /// sizes are ignored, as they would apply to only one of the two.
    pub fn growth(
        &self,
        engine: &Descriptor,
        device: Option<&DeviceInfo>,
        stage: Stage,
        from: &Shape,
        to: &Shape,
    ) -> f64 {
        let rates = device
            .and_then(|device| self.lock().rates.get(&key(engine, device)).cloned())
            .unwrap_or_default();
        let declared = |shape: &Shape| rates.declared_ms(stage, &(engine.cost)(shape, kind(engine, device)));
        declared(to) / declared(from)
    }

    /// Whether an engine was measured on a device.
    pub fn is_calibrated(&self, engine: &Descriptor, device: &DeviceInfo) -> bool {
        self.lock().rates.get(&key(engine, device)).is_some_and(|rates| rates.calibrated)
    }

    /// Measures an opened engine for about a second and saves its rates. `go_on` is called before every
    /// trial. An engine for which no trial succeeded remains uncalibrated and is measured again later.
    ///
    /// # Errors
    /// Errors of the engine, except refusals ([`EngineError::is_refusal`]).
    pub fn calibrate(
        &self,
        engine: &mut dyn Engine,
        device: &DeviceInfo,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), EngineError> {
        let (descriptor, trials) = (engine.descriptor(), rates::measure(engine, go_on)?);
        if !trials.is_empty() {
            self.change(|learned| {
                let rates = learned.rates.entry(key(descriptor, device)).or_default();
                rates.fit(&trials);
                rates.calibrated = true;
            });
        }
        Ok(())
    }

    /// Corrects the rates by a run, unless its parameters were given, since predictions are for the engine's
    /// own choice of parameters.
    pub fn learn(&self, engine: &Descriptor, shape: &Shape, record: &RunRecord) {
        if !record.spec.engine.parameters().is_empty() {
            return;
        }
        let of = |phases: &[Phase]| {
            record
                .samples
                .iter()
                .filter(|sample| phases.contains(&sample.phase))
                .map(|sample| sample.duration_ms)
                .sum()
        };
        let setup_ms = if record.resident { 0.0 } else { of(&[Phase::Upload, Phase::BuildIndex]) };
        let measured = StageTimes { setup_ms, search_ms: record.summary.search_ms_median };
        let cost = (engine.cost)(shape, kind(engine, Some(&record.device)));
        self.change(|learned| {
            learned.rates.entry(key(engine, &record.device)).or_default().correct(&cost, shape, measured)
        });
    }

    /// A device's peaks, if they were measured.
    pub fn peaks(&self, device: &DeviceInfo) -> Option<Peaks> {
        self.lock().peaks.get(&device_key(device)).copied()
    }

    /// Stores a device's peaks.
    pub fn store_peaks(&self, device: &DeviceInfo, peaks: Peaks) {
        if peaks.are_sensible() {
            // The slower of two measurements was disturbed by other programs.
            self.change(|learned| {
                let key = device_key(device);
                let best = learned.peaks.get(&key).map_or(peaks, |before| before.best_of(peaks));
                learned.peaks.insert(key, best);
            });
        }
    }

    fn change(&self, change: impl FnOnce(&mut LearnedRates)) {
        let mut learned = self.lock();
        let before = learned.clone();
        change(&mut learned);
        let after = learned.clone();
        // Written after unlocking: a frame of the window must not wait for a slow disk.
        drop(learned);
        if let Some(file) = self.file.as_ref().filter(|_| after != before) {
            // Failing to save only makes the next start's predictions worse.
            let _ = write(file, &after);
        }
    }

    /// Ignores poisoning: a panic in another thread leaves no number half written.
    fn lock(&self) -> MutexGuard<'_, LearnedRates> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kind of device of a prediction; the engine's default if the device is unknown.
fn kind(engine: &Descriptor, device: Option<&DeviceInfo>) -> DeviceKind {
    device
        .and_then(|device| device.id)
        .map_or_else(|| registry::default_device(engine).kind(), DeviceId::kind)
}

/// The key of an engine's rates on a device. It excludes details that vary from run to run, such as clocks
/// and load.
fn key(engine: &Descriptor, device: &DeviceInfo) -> String {
    format!("{} on {}{}", engine.id, device.name, details(device, &["processor", "threads", "instructions"]))
}

/// The key of a device's peaks, shared by all its engines. On a CPU, `DeviceInfo::name` differs by engine.
fn device_key(device: &DeviceInfo) -> String {
    match device.id {
        Some(DeviceId::Cpu) => format!("CPU{}", details(device, &["processor", "threads"])),
        _ => device.name.clone(),
    }
}

fn details(device: &DeviceInfo, names: &[&str]) -> String {
    let details = device.details.iter().filter(|(name, _)| names.contains(&name.as_str()));
    details.map(|(name, value)| format!(", {name} {value}")).collect()
}

#[cfg(test)]
mod tests;

struct LoadedEngines(Vec<EngineId>);

/// Whether an engine has loaded the points on a device.
pub fn is_loaded(points: &Points, engine: EngineId, device: DeviceId) -> bool {
    points.cache().get(device, |taken: &LoadedEngines| taken.0.contains(&engine)).is_some()
}

/// Records that an engine has loaded the points on a device.
pub fn mark_loaded(points: &Points, engine: EngineId, device: DeviceId) {
    let mut engines =
        points.cache().get(device, |_: &LoadedEngines| true).map_or_else(Vec::new, |taken| taken.0.clone());
    if !engines.contains(&engine) {
        engines.push(engine);
        points.cache().insert(device, Arc::new(LoadedEngines(engines)));
    }
}

/// Milliseconds spent on single queries.
struct SingleQueryTime(f64);

/// Total milliseconds spent so far on searching single queries of these points.
pub fn waited_ms(points: &Points) -> f64 {
    points.cache().get(DeviceId::Cpu, |_: &SingleQueryTime| true).map_or(0.0, |waited| waited.0)
}

/// Drops prepared data of the points, and the time recorded with it; returns whether there was any.
pub fn release_prepared(points: &Points) -> bool {
    points.cache().remove::<SingleQueryTime>(DeviceId::Cpu);
    points.cache().clear()
}

/// Adds the milliseconds of another query.
pub fn add_waiting(points: &Points, ms: f64) {
    points.cache().insert(DeviceId::Cpu, Arc::new(SingleQueryTime(waited_ms(points) + ms)));
}

/// Limit on the file's size; anything larger was not written by this module.
const MAX_BYTES: u64 = 4 << 20;

/// The learned rates, as stored in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedRates {
    /// Version of the program that measured the rates, as kernels of other versions may be faster.
    version: String,
    /// One entry per engine and device.
    pub rates: BTreeMap<String, Rates>,
    /// The peaks of each device.
    #[serde(default)]
    pub peaks: BTreeMap<String, Peaks>,
}

impl Default for LearnedRates {
    fn default() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), rates: BTreeMap::new(), peaks: BTreeMap::new() }
    }
}

/// Path of the file; `None` if the user has no cache folder.
pub fn path() -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "warpscope")?.cache_dir().join("planner.json"))
}

/// Reads the file; empty if it is missing, damaged or from another version.
pub fn read(path: &Path) -> LearnedRates {
    let learned = files::read_small(path, MAX_BYTES)
        .ok()
        .and_then(|text| serde_json::from_slice::<LearnedRates>(&text).ok());
    let is_sensible = |learned: &LearnedRates| {
        learned.rates.values().all(Rates::are_sensible) && learned.peaks.values().all(Peaks::are_sensible)
    };
    learned
        .filter(|learned| learned.version == LearnedRates::default().version && is_sensible(learned))
        .unwrap_or_default()
}

/// Replaces the file, for the next start.
///
/// # Errors
/// Errors of writing the file.
pub fn write(path: &Path, learned: &LearnedRates) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let text = serde_json::to_vec_pretty(learned)?;
    files::write_small(path, |out| out.write_all(&text))
}
