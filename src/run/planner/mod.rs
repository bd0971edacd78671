//! The choice behind `auto`: predicts how long each engine needs for a problem, and picks one.
//!
//! | file | holds |
//! |---|---|
//! | `rates.rs` | the rates of an engine on a device: scales of its declared costs, corrections from runs |
//! | `calibrate.rs` | the short measurement that finds the scales |
//! | `resident.rs` | which engines have loaded a set of points |
//! | `store.rs` | the rates on disk, and the peaks of devices |
//! | `choice.rs` | the rule that picks an engine |
//! | `plan.rs` | a job's predictions and the choice, as data and in words |
//!
//! An engine declares its costs ([`crate::knn::Descriptor::cost`]) at rates measured on one machine, which are used until better
//! ones are known. Nothing here makes a run fail: rates that cannot be read, written or measured are ignored.

mod calibrate;
mod choice;
mod plan;
mod rates;
mod resident;
mod store;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub use plan::{Candidate, Job, Plan, Purpose, about, engines};
pub use rates::Forecast;
pub(super) use resident::{is_taken_in, release_made, taken_in, waited, waited_ms};

use super::{Phase, RunRecord};
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId, DeviceInfo, DeviceKind, Engine, EngineError, Peaks, Shape, Stage};
use rates::Rates;
use store::Known;

/// The rates of engines on devices, as measured and corrected so far. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Planner {
    known: Arc<Mutex<Known>>,
    /// Where the rates are saved; `None` keeps them in memory only.
    file: Option<PathBuf>,
}

impl Planner {
    /// The planner of this process, saved in the user's cache folder. A debug build saves nothing, since the measurements of an
    /// unoptimised program are of no use to the next start.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Planner> = OnceLock::new();
        let file = store::path().filter(|_| !cfg!(debug_assertions));
        SHARED.get_or_init(|| file.map_or_else(Self::default, Self::at)).clone()
    }

    /// A planner that is saved in a file, which need not exist yet.
    pub fn at(file: PathBuf) -> Self {
        Self { known: Arc::new(Mutex::new(store::read(&file))), file: Some(file) }
    }

    /// Predicts an engine's times for a problem, at its built-in rates if it has none for the device.
    pub fn forecast(&self, engine: &Descriptor, device: Option<&DeviceInfo>, shape: &Shape) -> Forecast {
        let cost = (engine.cost)(shape, kind(engine, device));
        match device.and_then(|device| self.lock().rates.get(&key(engine, device)).cloned()) {
            Some(rates) => rates.forecast(&cost, shape),
            None => Rates::default().forecast(&cost, shape),
        }
    }

    /// By what factor a search takes longer for one problem than for another. What was learnt of single sizes is left aside: it would tell of
    /// one of the two only.
    pub fn growth(&self, engine: &Descriptor, device: Option<&DeviceInfo>, stage: Stage, from: &Shape, to: &Shape) -> f64 {
        let rates = device.and_then(|device| self.lock().rates.get(&key(engine, device)).cloned()).unwrap_or_default();
        let declared = |shape: &Shape| rates.declared_ms(stage, &(engine.cost)(shape, kind(engine, device)));
        declared(to) / declared(from)
    }

    /// Whether an engine was measured on a device.
    pub fn is_calibrated(&self, engine: &Descriptor, device: &DeviceInfo) -> bool {
        self.lock().rates.get(&key(engine, device)).is_some_and(|rates| rates.calibrated)
    }

    /// Measures an opened engine for about a second and saves its rates. `go_on` is called before every trial; an engine for
    /// which no trial succeeded remains uncalibrated and is measured again another time.
    ///
    /// # Errors
    /// The engine's, except refusals ([`EngineError::is_refusal`]).
    pub fn calibrate(&self, engine: &mut dyn Engine, device: &DeviceInfo, go_on: &mut dyn FnMut() -> bool) -> Result<(), EngineError> {
        let (descriptor, trials) = (engine.descriptor(), calibrate::measure(engine, go_on)?);
        if !trials.is_empty() {
            self.change(|known| {
                let rates = known.rates.entry(key(descriptor, device)).or_default();
                rates.fit(&trials);
                rates.calibrated = true;
            });
        }
        Ok(())
    }

    /// Corrects the rates by a run, unless its parameters were given: predictions are for the engine's own choice of parameters.
    pub fn learn(&self, engine: &Descriptor, shape: &Shape, record: &RunRecord) {
        if !record.spec.engine.parameters().is_empty() {
            return;
        }
        let of = |phases: &[Phase]| record.samples.iter().filter(|sample| phases.contains(&sample.phase)).map(|sample| sample.duration_ms).sum();
        let setup_ms = if record.resident { 0.0 } else { of(&[Phase::Upload, Phase::BuildIndex]) };
        let measured = Forecast { setup_ms, search_ms: record.summary.search_ms_median };
        let cost = (engine.cost)(shape, kind(engine, Some(&record.device)));
        self.change(|known| known.rates.entry(key(engine, &record.device)).or_default().correct(&cost, shape, measured));
    }

    /// What a device does at most, where that was measured.
    pub fn peaks(&self, device: &DeviceInfo) -> Option<Peaks> {
        self.lock().peaks.get(&device_key(device)).copied()
    }

    /// Keeps what a device does at most.
    pub fn keep_peaks(&self, device: &DeviceInfo, peaks: Peaks) {
        if peaks.are_sensible() {
            // Other programs had their part of the device in the slower of two measurements.
            self.change(|known| {
                let key = device_key(device);
                let best = known.peaks.get(&key).map_or(peaks, |before| before.best_of(peaks));
                known.peaks.insert(key, best);
            });
        }
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        let mut known = self.lock();
        let before = known.clone();
        change(&mut known);
        let after = known.clone();
        // Written after unlocking: a frame of the window must not wait for a slow disk.
        drop(known);
        if let Some(file) = self.file.as_ref().filter(|_| after != before) {
            // Failing to save only makes the next start's predictions worse.
            let _ = store::write(file, &after);
        }
    }

    /// Ignores poisoning: a panic in another thread leaves no number half written.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kind of device that an engine is predicted on; where none is known, or an old record names none, the one that it prefers.
fn kind(engine: &Descriptor, device: Option<&DeviceInfo>) -> DeviceKind {
    device.and_then(|device| device.id).map_or_else(|| registry::default_device(engine).kind(), DeviceId::kind)
}

/// The name under which an engine's rates on a device are saved. It leaves out what varies from run to run: clocks, load.
fn key(engine: &Descriptor, device: &DeviceInfo) -> String {
    format!("{} on {}{}", engine.id, device.name, details(device, &["processor", "threads", "instructions"]))
}

/// The same of a device's peaks, which all its engines have: on a CPU each gives it a name of its own.
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
