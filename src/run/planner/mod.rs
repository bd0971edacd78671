//! What `auto` takes: predictions of how long each engine needs for a problem, and the choice between them.
//!
//! | file | holds |
//! |---|---|
//! | `rates.rs` | what is known of an engine on a device: scales of its declared costs, corrections from runs |
//! | `calibrate.rs` | the short measurement that finds the scales |
//! | `store.rs` | what is known, on disk |
//! | `choice.rs` | the rule that chooses |
//! | `plan.rs` | a job's predictions with the choice, in words and as data |
//!
//! An engine declares its costs ([`crate::knn::Descriptor::cost`]) at rates of one machine. Without anything better these serve.
//! Nothing here fails a run: what cannot be read, written or measured is done without.

mod calibrate;
mod choice;
mod plan;
mod rates;
mod resident;
mod store;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub use plan::{Candidate, Job, Plan, Purpose, engines};
pub use rates::Forecast;
pub(super) use resident::{is_taken_in, taken_in};

use super::{Phase, RunRecord};
use crate::knn::{Descriptor, DeviceInfo, Engine, EngineError, Shape};
use rates::Rates;
use store::Known;

/// What is known of engines on devices. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Planner {
    known: Arc<Mutex<Known>>,
    /// Where it is kept; nowhere in tests.
    file: Option<PathBuf>,
}

impl Planner {
    /// The one of this process, kept in the user's cache folder. What an unoptimised program measures is of no use to the next
    /// start, so a debug build keeps nothing.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Planner> = OnceLock::new();
        let file = store::path().filter(|_| !cfg!(debug_assertions));
        SHARED.get_or_init(|| file.map_or_else(Self::default, Self::at)).clone()
    }

    /// Kept in a file, which need not be there.
    pub fn at(file: PathBuf) -> Self {
        Self { known: Arc::new(Mutex::new(store::read(&file))), file: Some(file) }
    }

    /// How long an engine takes; at its built-in rates where the device is not known.
    pub fn forecast(&self, engine: &Descriptor, device: Option<&DeviceInfo>, shape: &Shape) -> Forecast {
        let cost = (engine.cost)(shape);
        match device.and_then(|device| self.lock().rates.get(&key(engine, device)).cloned()) {
            Some(rates) => rates.forecast(&cost, shape),
            None => Rates::default().forecast(&cost, shape),
        }
    }

    /// Whether an engine was measured on a device.
    pub fn is_calibrated(&self, engine: &Descriptor, device: &DeviceInfo) -> bool {
        self.lock().rates.get(&key(engine, device)).is_some_and(|rates| rates.calibrated)
    }

    /// Measures an opened engine for about half a second, and keeps what was found. `go_on` is asked before every trial; an engine
    /// of which nothing was measured is measured again another time.
    ///
    /// # Errors
    /// The engine's, but for refusals.
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

    /// Corrects what is known by a run of the engine's own choice of parameters.
    pub fn learn(&self, engine: &Descriptor, shape: &Shape, record: &RunRecord) {
        if !record.spec.engine.parameters().is_empty() {
            return;
        }
        let of = |phases: &[Phase]| record.samples.iter().filter(|sample| phases.contains(&sample.phase)).map(|sample| sample.duration_ms).sum();
        let setup_ms = if record.resident { 0.0 } else { of(&[Phase::Upload, Phase::BuildIndex]) };
        let measured = Forecast { setup_ms, search_ms: record.summary.search_ms_median };
        let cost = (engine.cost)(shape);
        self.change(|known| known.rates.entry(key(engine, &record.device)).or_default().correct(&cost, shape, measured));
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        let mut known = self.lock();
        let before = known.clone();
        change(&mut known);
        let after = known.clone();
        // Written without the lock: a frame of the window must not wait for a slow disk.
        drop(known);
        if let Some(file) = self.file.as_ref().filter(|_| after != before) {
            // Without it the next start predicts worse, nothing else.
            let _ = store::write(file, &after);
        }
    }

    /// A panic in another thread leaves whole numbers.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An engine and its device, as what is known of them is kept: what changes from run to run (clocks, load) is not in it.
fn key(engine: &Descriptor, device: &DeviceInfo) -> String {
    const STEADY: [&str; 3] = ["processor", "threads", "instructions"];
    let details = device.details.iter().filter(|(name, _)| STEADY.contains(&name.as_str()));
    let details: String = details.map(|(name, value)| format!(", {name} {value}")).collect();
    format!("{} on {}{details}", engine.id, device.name)
}

#[cfg(test)]
mod tests;
