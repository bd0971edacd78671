//! Soak test: the worker with an engine that fails in random ways. The worker must survive each failure and
//! give correct answers afterwards.
//!
//! `WARPSCOPE_SOAK=ACTIONS[,SEED[,FIRST]]` sets the number of jobs, as in `scripts/soak`; see
//! `tests/soak.rs`.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32};

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::super::testing::{BruteForceEngine, Script, spec, squares};
use super::*;
use crate::knn::{
    Answer, Descriptor, DeviceId, DeviceInfo, Engine, EngineError, EngineId, KernelBuild, Neighbors,
    Parameters, PreparedSearch, Problem, SetupPhase,
};

/// The behaviour of the engine during a job.
#[derive(Clone, Copy, Debug, PartialEq, strum::EnumIter)]
enum Fault {
    Healthy,
    /// Correct, but slow enough to be cancelled or replaced.
    Slow,
    DoesNotOpen,
    OpeningPanics,
    Unavailable,
    PreparingPanics,
    DeviceMemory,
    HostMemory,
    /// The driver refuses memory that was reported as free.
    MemoryRefused,
    /// A kernel makes the device unusable.
    DeviceLost,
    /// The device fails in the second chunk.
    DeviceFails,
    SearchPanics,
    CollectPanics,
    DownloadFails,
    /// Panics, and panics again when closed.
    ClosingPanics,
}

impl Fault {
    fn all() -> Vec<Self> {
        <Self as strum::IntoEnumIterator>::iter().collect()
    }

    /// Whether the event is the expected end of a job that is neither cancelled nor replaced.
    fn expected(self, event: &Event) -> bool {
        let error = match event {
            Event::Progress { .. } => return false,
            Event::Finished { .. } => return matches!(self, Self::Healthy | Self::Slow),
            Event::Failed { error, .. } => error,
        };
        match self {
            Self::Healthy | Self::Slow => false,
            Self::DoesNotOpen | Self::Unavailable => {
                matches!(error, RunError::Engine(EngineError::Unavailable { .. }))
            }
            Self::DeviceMemory => matches!(error, RunError::Engine(EngineError::Memory { .. })),
            Self::HostMemory => matches!(error, RunError::Engine(EngineError::HostMemory { .. })),
            Self::MemoryRefused => matches!(error, RunError::Engine(EngineError::MemoryRefused { .. })),
            Self::DeviceLost => matches!(error, RunError::Engine(EngineError::DeviceLost { .. })),
            Self::DeviceFails | Self::DownloadFails => {
                matches!(error, RunError::Engine(EngineError::Device { .. }))
            }
            Self::OpeningPanics
            | Self::PreparingPanics
            | Self::SearchPanics
            | Self::CollectPanics
            | Self::ClosingPanics => {
                matches!(error, RunError::Crashed { what } if what == "injected by the soak test")
            }
        }
    }
}

/// The fault of the latest job, as an index into [`Fault::all`].
#[derive(Clone)]
struct CurrentFault(Arc<AtomicU32>);

impl CurrentFault {
    fn get(&self) -> Fault {
        Fault::all()[self.0.load(Ordering::Acquire) as usize]
    }
}

fn panic_now() -> ! {
    panic!("injected by the soak test")
}

struct FaultyEngine {
    plain: BruteForceEngine,
    current: CurrentFault,
    /// Whether it panics when closed.
    panics_on_close: bool,
    /// Whether its device is lost.
    lost: AtomicBool,
}

impl Drop for FaultyEngine {
    fn drop(&mut self) {
        if self.panics_on_close && !std::thread::panicking() {
            panic_now();
        }
    }
}

impl Engine for FaultyEngine {
    fn descriptor(&self) -> &'static Descriptor {
        self.plain.descriptor()
    }

    fn device_id(&self) -> DeviceId {
        self.plain.device_id()
    }

    fn device(&self) -> DeviceInfo {
        self.plain.device()
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>, EngineError> {
        let fault = self.current.get();
        match fault {
            Fault::Unavailable => {
                return Err(EngineError::Unavailable {
                    engine: self.plain.kind,
                    why: "injected by the soak test".to_owned(),
                });
            }
            Fault::DeviceMemory => {
                return Err(EngineError::Memory { needed: 2, free: 1, device: "a test".to_owned() });
            }
            Fault::HostMemory => return Err(EngineError::HostMemory { needed: 2, free: 1 }),
            Fault::MemoryRefused => {
                return Err(EngineError::MemoryRefused { free: 1, device: "a test".to_owned() });
            }
            Fault::PreparingPanics => panic_now(),
            Fault::ClosingPanics => {
                self.panics_on_close = true;
                panic_now()
            }
            _ => {}
        }
        self.plain.script.per_query =
            if fault == Fault::Slow { Duration::from_millis(1) } else { Duration::ZERO };
        Ok(Box::new(FaultySearch {
            search: self.plain.prepare(problem, parameters, profile)?,
            fault,
            lost: &self.lost,
            chunks: 0,
        }))
    }
}

struct FaultySearch<'a> {
    search: Box<dyn PreparedSearch + 'a>,
    fault: Fault,
    lost: &'a AtomicBool,
    chunks: usize,
}

impl FaultySearch<'_> {
    fn device() -> EngineError {
        EngineError::Device { device: "a test".to_owned(), why: "injected by the soak test".to_owned() }
    }
}

impl PreparedSearch for FaultySearch<'_> {
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)> {
        self.search.setup_ms()
    }

    fn resident(&self) -> bool {
        self.search.resident()
    }

    fn first_chunk(&self) -> usize {
        self.search.first_chunk()
    }

    fn search(&mut self, queries: Range<usize>, build: KernelBuild) -> Result<f64, EngineError> {
        self.chunks += 1;
        match self.fault {
            Fault::DeviceFails if self.chunks > 1 => Err(Self::device()),
            Fault::DeviceLost if self.chunks > 1 => {
                self.lost.store(true, Ordering::Release);
                Err(EngineError::DeviceLost {
                    device: "a test".to_owned(),
                    why: "injected by the soak test".to_owned(),
                })
            }
            Fault::SearchPanics if self.chunks > 1 => panic_now(),
            _ => self.search.search(queries, build),
        }
    }

    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError> {
        if self.fault == Fault::DownloadFails { Err(Self::device()) } else { self.search.download(neighbors) }
    }

    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError> {
        if self.fault == Fault::CollectPanics { panic_now() } else { self.search.collect(answer) }
    }
}

/// The event that ends a job.
fn end_of(worker: &Worker, what: &str) -> Event {
    let began = Instant::now();
    loop {
        match worker.try_recv() {
            Some(Event::Progress { .. }) => {}
            Some(event) => return event,
            None => std::thread::sleep(Duration::from_micros(200)),
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: no end");
    }
}

/// Checks the answer of a correct engine over 0, 1, 4, 9, … with k = 3: the row itself, then its neighbours
/// on both sides.
fn assert_right(record: &RunRecord, rows: usize, what: &str) {
    assert_eq!(record.neighbors.queries(), rows, "{what}");
    for query in 0..rows {
        let far = |row: u32| (i64::from(row).pow(2) - (query as i64).pow(2)).abs();
        let (found, _) = record.neighbors.for_query(query);
        let mut nearest: Vec<i64> = (0..rows as u32).map(far).collect();
        nearest.sort_unstable();
        assert_eq!(
            found.iter().map(|&row| far(row)).collect::<Vec<_>>(),
            nearest[..found.len()],
            "{what}, query {query}"
        );
    }
}

#[test]
fn the_worker_survives_any_engine_failure() {
    let asked = std::env::var("WARPSCOPE_SOAK").unwrap_or_default();
    let mut numbers = asked
        .split(',')
        .filter(|number| !number.is_empty())
        .map(|number| number.parse::<u64>().expect("ACTIONS[,SEED[,FIRST]]"));
    let (actions, seed, first) =
        (numbers.next().unwrap_or(100), numbers.next().unwrap_or(1), numbers.next().unwrap_or(0));
    let current = CurrentFault(Arc::default());
    let (opens, of_engines) = (current.clone(), current.clone());
    let engines = EnginePool::with(Box::new(move |kind: EngineId, _| match opens.get() {
        Fault::DoesNotOpen => {
            Err(EngineError::Unavailable { engine: kind, why: "injected by the soak test".to_owned() })
        }
        Fault::OpeningPanics => panic_now(),
        _ => Ok(Box::new(FaultyEngine {
            plain: BruteForceEngine { kind, script: Script::default() },
            current: of_engines.clone(),
            panics_on_close: false,
            lost: AtomicBool::new(false),
        })),
    }));
    let worker = Worker::spawn_with(engines, || {}).unwrap();
    let all = Fault::all();
    let (mut ends, mut cancelled, mut replaced) = (vec![0; all.len()], 0, 0);
    for action in first..first + actions {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(action);
        let mut below = |end: u32| rng.next_u32() % end;
        let at = below(all.len() as u32) as usize;
        // Jobs to be replaced or cancelled must be slow; an open engine cannot fail to open.
        let (rows, then) = (4 + below(30) as usize, below(4));
        let fault = if then < 2 { Fault::Slow } else { all[at] };
        let what = format!("job {action} of seed {seed}, {fault:?}");
        let job = |id| Job {
            id,
            spec: RunSpec {
                warmup: 0,
                repeats: 1 + (id % 2) as u32,
                engine: "lockstep".parse().unwrap(),
                ..spec()
            },
            cloud: squares(rows),
            query_cloud: None,
        };
        let fresh = matches!(fault, Fault::DoesNotOpen | Fault::OpeningPanics);
        if fresh {
            // A device that fails is closed.
            current.0.store(
                all.iter().position(|fault| *fault == Fault::DownloadFails).unwrap() as u32,
                Ordering::Release,
            );
            worker.submit(job(action));
            end_of(&worker, &what);
        }
        current.0.store(all.iter().position(|known| *known == fault).unwrap() as u32, Ordering::Release);
        worker.submit(job(action));
        match then {
            0 => {
                std::thread::sleep(Duration::from_millis(u64::from(below(4))));
                worker.cancel();
                match end_of(&worker, &what) {
                    Event::Failed { id, error: RunError::Cancelled } => assert_eq!(id, action, "{what}"),
                    // The job was complete before it was cancelled.
                    Event::Finished { id, record } => {
                        assert_eq!(id, action, "{what}");
                        assert_right(&record, rows, &what);
                    }
                    event => panic!("{what}: {event:?}"),
                }
                cancelled += 1;
            }
            1 => {
                std::thread::sleep(Duration::from_millis(u64::from(below(3))));
                // The first job sends no further events.
                worker.submit(Job { id: action + 1_000_000, ..job(action) });
                let Event::Finished { id, record } = end_of(&worker, &what) else { panic!("{what}") };
                assert_eq!(id, action + 1_000_000, "{what}");
                assert_right(&record, rows, &what);
                replaced += 1;
            }
            _ => {
                let event = end_of(&worker, &what);
                assert!(fault.expected(&event), "{what}: {event:?}");
                if let Event::Finished { record, .. } = &event {
                    assert_right(record, rows, &what);
                }
                ends[at] += 1;
            }
        }
        assert!(worker.try_recv().is_none(), "{what}: an event after the job's end");
    }
    println!(
        "{actions} jobs of seed {seed}: {cancelled} cancelled, {replaced} replaced, and by fault {:?}",
        all.iter().zip(ends).collect::<Vec<_>>()
    );
    // Finally runs a job on a correct engine.
    current.0.store(0, Ordering::Release);
    worker.submit(Job {
        id: 1,
        spec: RunSpec { engine: "lockstep".parse().unwrap(), ..spec() },
        cloud: squares(9),
        query_cloud: None,
    });
    let Event::Finished { record, .. } = end_of(&worker, "the last job") else {
        panic!("the last job fails")
    };
    assert_right(&record, 9, "the last job");
}
