//! The engines of a thread, kept open from one run to the next.

use std::sync::Arc;

use super::ask::ask;
use super::execute::execute_over;
use super::{EngineChoice, Resident, RunError, RunRecord, RunSpec};
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId, DeviceInfo, Engine, EngineError, EngineId};

/// An engine on a device.
pub(super) type EngineKey = (EngineId, DeviceId);

/// How an engine is opened; [`registry::open`] but in tests.
type Open = Box<dyn FnMut(EngineId, Option<DeviceId>) -> Result<Box<dyn Engine>, EngineError> + Send>;

/// Opens engines when they are first asked for and keeps them: a CUDA context takes longer to make than most runs. So are
/// the points of the last problem kept, and what engines made of them.
pub struct Engines {
    open: Open,
    opened: Vec<Box<dyn Engine>>,
    /// What each opened engine runs on, as asks note it: what changes from run to run is not looked up for them.
    devices: Vec<(EngineKey, DeviceInfo)>,
    resident: Resident,
}

impl Default for Engines {
    fn default() -> Self {
        Self::with(Box::new(registry::open))
    }
}

impl Engines {
    /// Opens engines with `open`.
    pub(crate) fn with(open: Open) -> Self {
        Self { open, opened: Vec::new(), devices: Vec::new(), resident: Resident::default() }
    }

    /// These engines with points that other threads' engines share.
    pub fn sharing(self, resident: Resident) -> Self {
        Self { resident, ..self }
    }

    /// The points of the last problem.
    pub fn resident(&self) -> &Resident {
        &self.resident
    }

    /// An engine by name, on a device or where it runs when nobody says.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`], with what is missing and how to get it.
    pub fn named(&mut self, id: EngineId, device: Option<DeviceId>) -> Result<&mut dyn Engine, EngineError> {
        let wanted = device.or_else(|| registry::find(id).map(Descriptor::default_device));
        let at = match self.opened.iter().position(|engine| engine.id() == id && wanted.is_none_or(|device| engine.device_id() == device)) {
            Some(at) => at,
            None => {
                self.opened.push((self.open)(id, device)?);
                self.opened.len() - 1
            }
        };
        Ok(self.opened[at].as_mut())
    }

    /// Does something with an engine. One whose device failed is closed: after most such failures nothing works any more
    /// but to open it anew, as the next to ask for it does. Where memory is short, what engines made of points gives way,
    /// and it is tried once more.
    ///
    /// # Errors
    /// As [`Engines::named`], and those of `work`.
    pub(super) fn with_engine<T>(
        &mut self,
        id: EngineId,
        device: Option<DeviceId>,
        mut work: impl FnMut(&mut dyn Engine) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let mut result = work(self.named(id, device)?);
        let short = matches!(result, Err(RunError::Engine(EngineError::Memory { .. } | EngineError::HostMemory { .. })));
        if short && self.resident.release_made() {
            result = work(self.named(id, device)?);
        }
        if let Err(RunError::Engine(EngineError::Device { .. })) = result {
            self.opened.retain(|engine| engine.id() != id || device.is_some_and(|device| engine.device_id() != device));
            self.resident.release_made();
        }
        result
    }

    /// Closes all; they are opened again when they are asked for.
    pub fn close(&mut self) {
        self.opened.clear();
        self.resident.release_made();
    }

    /// Runs a spec on the engine that it chooses, as [`super::execute`] does. [`EngineChoice::Auto`] takes the first engine of
    /// the registry that counts and can run, and the record's `fallback` says why it is not the one before it.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn execute(
        &mut self,
        spec: &RunSpec,
        cloud: &Arc<PointCloud>,
        query_cloud: Option<&Arc<PointCloud>>,
        stage: &mut dyn FnMut(&str, f32) -> bool,
    ) -> Result<RunRecord, RunError> {
        let resident = self.resident.clone();
        self.choose(spec, |engine| execute_over(&resident, spec, cloud, query_cloud, engine, stage))
    }

    /// Answers the one or few queries of a spec at once, for somebody who waits: no warm-ups, repeats or chunks. An engine
    /// that counts runs its counted build alone, whose neighbours are the same bits. The engine is the one that
    /// [`Engines::execute`] takes.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn ask(&mut self, spec: &RunSpec, cloud: &Arc<PointCloud>) -> Result<RunRecord, RunError> {
        let resident = self.resident.clone();
        let mut devices = std::mem::take(&mut self.devices);
        let record = self.choose(spec, |engine| ask(&resident, spec, cloud, engine, &mut devices));
        self.devices = devices;
        record
    }

    /// Runs something on the engine that is chosen.
    fn choose(&mut self, spec: &RunSpec, mut run: impl FnMut(&mut dyn Engine) -> Result<RunRecord, RunError>) -> Result<RunRecord, RunError> {
        if let EngineChoice::Named(method) = &spec.engine {
            return self.with_engine(method.engine, spec.device, run);
        }
        let mut fallback = None;
        for engine in registry::ENGINES.iter().filter(|engine| engine.counts()) {
            match self.with_engine(engine.id, spec.device, &mut run) {
                // Opening it may succeed and loading fail: a driver, but no kernels for this device.
                Err(RunError::Engine(error @ EngineError::Unavailable { .. })) => fallback = fallback.or(Some(error)),
                result => {
                    let mut record = result?;
                    record.head.fallback = fallback.map(|error| error.to_string());
                    return Ok(record);
                }
            }
        }
        Err(RunError::Engine(fallback.expect("there are engines that count")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, Script, spec, squares};
    use super::*;

    const CUDA: EngineId = EngineId::new("cuda");
    const LOCKSTEP: EngineId = EngineId::new("lockstep");

    /// Engines of which `broken` cannot be opened, and what was opened.
    fn engines(broken: Vec<EngineId>, script: Script) -> Engines {
        Engines::with(Box::new(move |kind, _| match broken.contains(&kind) {
            true => Err(EngineError::Unavailable { engine: kind, why: "there is no driver".to_owned() }),
            false => Ok(Box::new(Plain { kind, script: script.clone() })),
        }))
    }

    fn run(engines: &mut Engines, engine: EngineChoice) -> Result<RunRecord, RunError> {
        engines.execute(&RunSpec { engine, ..spec() }, &squares(10), None, &mut |_, _| true)
    }

    #[test]
    fn auto_is_cuda_where_it_can_run() {
        let record = run(&mut engines(vec![], Script::default()), EngineChoice::Auto).unwrap();
        assert_eq!((record.engine, &record.fallback), (CUDA, &None));
    }

    #[test]
    fn auto_says_why_it_is_not_cuda() {
        let record = run(&mut engines(vec![CUDA], Script::default()), EngineChoice::Auto).unwrap();
        assert_eq!(record.engine, LOCKSTEP);
        assert_eq!(record.head.fallback.unwrap(), "the cuda engine cannot run here: there is no driver");
    }

    #[test]
    fn auto_falls_back_when_only_loading_says_so() {
        let broken = Script { unavailable: true, ..Script::default() };
        let mut engines = Engines::with(Box::new(move |kind, _| {
            let script = if kind == CUDA { broken.clone() } else { Script::default() };
            Ok(Box::new(Plain { kind, script }))
        }));
        let record = run(&mut engines, EngineChoice::Auto).unwrap();
        assert_eq!(record.engine, LOCKSTEP);
        assert_eq!(record.head.fallback.unwrap(), "the cuda engine cannot run here: the test says so");
    }

    #[test]
    fn a_named_engine_is_this_one_or_an_error() {
        let error = run(&mut engines(vec![CUDA], Script::default()), EngineChoice::named(CUDA)).unwrap_err();
        assert_eq!(error.to_string(), "the cuda engine cannot run here: there is no driver");
    }

    #[test]
    fn an_engine_whose_device_failed_is_opened_anew() {
        let opened = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let mut engines = Engines::with(Box::new(move |kind, _| {
            // Only the first one is broken.
            let device_fails = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
            Ok(Box::new(Plain { kind, script: Script { device_fails, ..Script::default() } }))
        }));
        let error = run(&mut engines, EngineChoice::Auto).unwrap_err();
        assert_eq!(error.to_string(), "a test: an illegal memory access");
        assert_eq!(run(&mut engines, EngineChoice::Auto).unwrap().engine, CUDA);
        run(&mut engines, EngineChoice::Auto).unwrap();
        assert_eq!(opened.load(std::sync::atomic::Ordering::Relaxed), 2);
    }

    #[test]
    fn engines_stay_open() {
        let opened = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let mut engines = Engines::with(Box::new(move |kind, _| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(Box::new(Plain { kind, script: Script::default() }))
        }));
        for _ in 0..3 {
            run(&mut engines, EngineChoice::Auto).unwrap();
        }
        assert_eq!(opened.load(std::sync::atomic::Ordering::Relaxed), 1);
    }
}
