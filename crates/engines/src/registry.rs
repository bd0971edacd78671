//! Look-ups in the table of engines. Code outside the engines' folders tells engines apart only by their
//! descriptors.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};

use super::{cuda, several, streamed};
use crate::Result;
use crate::knn::{
    Descriptor, DeviceId, DeviceKind, Engine, EngineError, EngineId, Goal, GpuSet, Group, Measure,
};
use crate::memory;

pub use super::ENGINES;

/// Looks up an engine by id; `None` if this program does not have it.
pub fn find(id: EngineId) -> Option<&'static Descriptor> {
    ENGINES.iter().copied().find(|engine| engine.id == id)
}

/// Opens an engine on a device (`None`: its default device), loading drivers and libraries.
///
/// # Errors
/// [`EngineError::Unavailable`], which says what is missing and how to get it.
pub fn open(id: EngineId, device: Option<DeviceId>) -> Result<Box<dyn Engine>> {
    match on_device(id, device)? {
        (engine, DeviceId::Gpus(gpus)) => several::open(engine, gpus),
        (engine, device) => engine.open_on(device),
    }
}

/// As [`open`], for points that need not fit the device.
///
/// # Errors
/// As [`open`].
pub fn open_streamed(id: EngineId, device: Option<DeviceId>) -> Result<Box<dyn Engine>> {
    let (engine, device) = on_device(id, device)?;
    streamed::open(engine, device)
}

fn on_device(id: EngineId, device: Option<DeviceId>) -> Result<(&'static Descriptor, DeviceId)> {
    let unknown = || EngineError::Unavailable {
        engine: id,
        why: format!("this program has no such engine; it has {}", names().join(", ")),
    };
    let engine = find(id).ok_or_else(unknown)?;
    Ok((engine, device.map_or_else(|| default_device(engine), resolved)))
}

/// Limits the memory of every GPU, as the user demands.
pub fn limit_device_memory(bytes: u64) {
    cuda::limit_memory(bytes);
}

/// The number of the default GPU, modulo that of GPUs.
static PREFERRED: AtomicU32 = AtomicU32::new(0);

/// Changes the default GPU, before the first engine is opened: several processes of a machine use one each.
/// Its number may exceed that of GPUs.
pub fn prefer_gpu(number: u32) {
    PREFERRED.store(number, Relaxed);
}

/// The number of GPUs of this machine.
fn gpus() -> u32 {
    static GPUS: OnceLock<u32> = OnceLock::new();
    *GPUS.get_or_init(cuda::gpus)
}

fn default_gpu() -> DeviceId {
    DeviceId::Gpu(PREFERRED.load(Relaxed) % gpus().max(1))
}

/// Starts the GPUs of a device, or the default one, in the background, as that takes as long as reading a
/// large file. They stay initialised as long as the thread's result exists.
pub fn start(device: Option<DeviceId>) -> Option<JoinHandle<impl Sized + Send + use<>>> {
    let start = move || match device.unwrap_or_else(default_gpu) {
        DeviceId::Gpus(gpus) => gpus.devices().filter_map(cuda::start).collect(),
        device => Vec::from_iter(cuda::start(device)),
    };
    // Without a thread, the first engine starts them.
    thread::Builder::new().name("warpscope-driver".to_owned()).spawn(start).ok()
}

/// Replaces `all` by the GPUs of this machine.
pub fn resolved(device: DeviceId) -> DeviceId {
    match device {
        DeviceId::Gpus(GpuSet::ALL) => {
            GpuSet::first(cuda::gpus()).map_or(DeviceKind::Gpu.first(), DeviceId::Gpus)
        }
        device => device,
    }
}

/// The names of all engines, in the order of [`ENGINES`].
pub fn names() -> Vec<&'static str> {
    names_where(|_| true)
}

/// The non-empty groups in listing order, each with its engines.
pub fn grouped() -> impl Iterator<Item = (Group, Vec<&'static Descriptor>)> {
    let of = |group| ENGINES.iter().copied().filter(|engine| engine.group == group).collect::<Vec<_>>();
    Group::ALL.into_iter().map(move |group| (group, of(group))).filter(|(_, engines)| !engines.is_empty())
}

/// The default device of an engine: the first of its device kinds that this machine has.
pub fn default_device(engine: &Descriptor) -> DeviceId {
    let there = |kind: &DeviceKind| *kind == DeviceKind::Cpu || gpus() > 0;
    match engine.runs_on.iter().copied().find(there) {
        Some(DeviceKind::Gpu) => default_gpu(),
        Some(DeviceKind::Cpu) => DeviceId::Cpu,
        None => engine.first_device(),
    }
}

/// The devices of this machine that an engine can run on, the default first. GPU 0 is always listed, even if
/// the driver reports none: opening the engine there reports what is missing.
pub fn devices(engine: &Descriptor) -> Vec<DeviceId> {
    let of = |kind: &DeviceKind| match kind {
        DeviceKind::Cpu => vec![DeviceId::Cpu],
        DeviceKind::Gpu => {
            let gpus = cuda::gpus();
            let all = GpuSet::first(gpus).map(DeviceId::Gpus);
            (0..gpus.max(1)).map(DeviceId::Gpu).chain(all).collect()
        }
    };
    let mut devices: Vec<DeviceId> = engine.runs_on.iter().flat_map(of).collect();
    let default = default_device(engine);
    devices.sort_by_key(|&device| device != default);
    devices
}

/// Bytes of free memory on a device; `None` if the system does not report it.
pub fn free_memory(device: DeviceId) -> Option<u64> {
    match device {
        DeviceId::Cpu => memory::available(),
        DeviceId::Gpu(_) => cuda::free_memory(device),
        // The GPU that has least.
        DeviceId::Gpus(gpus) => gpus.devices().filter_map(cuda::free_memory).min(),
    }
}

/// The declaration of a measure; `None` if this program does not have the engine or the measure.
pub fn measure(engine: EngineId, name: &str) -> Option<&'static Measure> {
    find(engine)?.measure(name)
}

/// Names of the engines that count a given measure. Selection kernels exist for comparison, so they are named
/// only if no other engine counts it.
pub fn counting(name: &str) -> Vec<&'static str> {
    let counts = |engine: &Descriptor| engine.measure(name).is_some();
    let usual = names_where(|engine| counts(engine) && engine.group != Group::Selection);
    if usual.is_empty() { names_where(counts) } else { usual }
}

/// Names of the engines that count anything.
pub fn with_measures() -> Vec<&'static str> {
    names_where(Descriptor::counts)
}

/// Names of the engines that record a convergence history.
pub fn with_history() -> Vec<&'static str> {
    names_where(|engine| engine.convergence.is_some())
}

/// Names of the engines that time the phases of each warp.
pub fn with_profile() -> Vec<&'static str> {
    names_where(|engine| !engine.phases.is_empty())
}

/// Names of the engines whose search can be shown step by step.
pub fn with_walk() -> Vec<&'static str> {
    names_where(|engine| engine.walk.is_some())
}

fn names_where(are: impl Fn(&Descriptor) -> bool) -> Vec<&'static str> {
    ENGINES.iter().filter(|engine| are(engine)).map(|engine| engine.id.as_str()).collect()
}

/// The engines that support a goal.
pub fn supporting(goal: Goal) -> impl Iterator<Item = &'static Descriptor> {
    ENGINES.iter().copied().filter(move |engine| engine.finds(goal))
}

/// The measures of all engines, without duplicate names.
pub fn measures() -> impl Iterator<Item = &'static Measure> {
    let all = || ENGINES.iter().flat_map(|engine| engine.measures);
    all()
        .enumerate()
        .filter(move |(at, measure)| !all().take(*at).any(|known| known.name == measure.name))
        .map(|(_, measure)| measure)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::knn::{AllowedValues, Parameters};

    #[test]
    fn engine_descriptors_are_complete_and_unique() {
        let mut ids = HashSet::new();
        for engine in ENGINES {
            assert!(ids.insert(engine.id), "duplicate id {}", engine.id);
            assert!(
                engine.about.ends_with('.') && !engine.source.is_empty() && !engine.runs_on.is_empty(),
                "{}",
                engine.id
            );
            assert!(
                !engine.buffers.is_empty() && engine.buffers.is_sorted_by_key(|buffer| buffer.memory),
                "{}: buffers must be sorted, fastest memory first",
                engine.id
            );
            assert!(
                engine.limits.k > 0
                    && engine.limits.d > 0
                    && engine.limits.n > 0
                    && !engine.limits.metrics.is_empty(),
                "{}",
                engine.id
            );
            let columns: HashSet<_> = engine.measures.iter().map(|measure| measure.name).collect();
            assert_eq!(columns.len(), engine.measures.len(), "{}: duplicate measure names", engine.id);
            assert!(
                engine
                    .measures
                    .iter()
                    .all(|measure| measure.help.ends_with('.')
                        && measure.unit.iter().all(|unit| !unit.is_empty())),
                "{}",
                engine.id
            );
            assert!(
                engine.convergence.is_none_or(|name| engine.measure(name).is_some()),
                "{}: history without its measure",
                engine.id
            );
            assert!(engine.phases.is_empty() || engine.counts(), "{}: phases without counters", engine.id);
        }
    }

    #[test]
    fn parameter_values_are_validated() {
        for engine in ENGINES {
            for parameter in engine.parameters {
                let check =
                    |value: &str| engine.check_parameters(&Parameters::from_iter([(parameter.name, value)]));
                match &parameter.values {
                    AllowedValues::Numbers(range) => {
                        assert!(
                            check(&range.start().to_string()).is_ok()
                                && check(&range.end().to_string()).is_ok()
                        );
                        assert!(check(&(range.end() + 1).to_string()).is_err() && check("many").is_err());
                    }
                    AllowedValues::Words(words) => assert!(
                        words.iter().all(|word| check(word).is_ok()) && check("nothing-like-it").is_err()
                    ),
                }
            }
        }
    }

    #[test]
    fn every_engine_belongs_to_a_group() {
        assert_eq!(grouped().map(|(_, engines)| engines.len()).sum::<usize>(), ENGINES.len());
        assert!(grouped().all(|(group, _)| !group.title().is_empty()));
    }

    #[test]
    fn engines_only_run_on_supported_devices() {
        for engine in ENGINES {
            assert_eq!(devices(engine)[0], default_device(engine));
            let only_there = engine.runs_on.len() == 1 || cuda::gpus() > 0;
            assert!(!only_there || default_device(engine).kind() == engine.runs_on[0]);
            for device in [DeviceId::Cpu, DeviceId::Gpu(0)]
                .into_iter()
                .filter(|device| !engine.runs_on.contains(&device.kind()))
            {
                let Err(why) = open(engine.id, Some(device)) else {
                    panic!("{} opens on {device}", engine.id)
                };
                assert!(why.to_string().contains(&format!("not on device {device}")), "{why}");
            }
            if engine.runs_on.contains(&DeviceKind::Cpu) {
                let opened = open(engine.id, Some(DeviceId::Cpu)).unwrap();
                assert_eq!(
                    (opened.id(), opened.device_id(), opened.device().id),
                    (engine.id, DeviceId::Cpu, Some(DeviceId::Cpu))
                );
            }
        }
        let Err(why) = open(EngineId::new("none"), None) else { panic!("there is none") };
        assert!(
            why.to_string().starts_with(
                "the none engine cannot run here: this program has no such engine; it has cuda, "
            ),
            "{why}"
        );
    }
}
