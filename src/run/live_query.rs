//! Live queries: answers a dragged, picked or typed query at once.
//!
//! The [`LiveQueryWorker`] has its own thread besides the worker's, so that neither waits for the other:
//! queries are answered during a long run, with the same resident points ([`ResidentPoints`]). Only the
//! newest request waits; the current one is always answered, so that answers keep coming while a query is dragged.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};

use super::batches::index_opener;
use super::engines::{EngineKey, single_pass};
use super::execute::{Execution, ms_since, now_unix, record};
use super::problem::{LoadedSpec, build_resident_problem, query_cloud_of};
use super::{EnginePool, Phase, ResidentPoints, RunError, RunRecord, RunSpec, Sample};
use crate::cloud::{Order, PointCloud};
use crate::exact::{Margin, Refiner};
use crate::knn::{Answer, DeviceInfo, Engine, KernelBuild};

/// Identifies a request; later ones have larger numbers.
pub type LiveQueryId = u64;

/// A query to answer at once.
#[derive(Clone, Debug)]
pub struct LiveQuery {
    pub id: LiveQueryId,
    /// What to search; the queries are rows or a point.
    pub spec: RunSpec,
    /// The spec's cloud, loaded.
    pub cloud: Arc<PointCloud>,
}

/// The answer to a [`LiveQuery`].
#[derive(Debug)]
pub struct Reply {
    pub id: LiveQueryId,
    /// The answer as a run's record, or the error.
    pub result: Result<Arc<RunRecord>, RunError>,
    /// Time since the request was started.
    pub took: Duration,
}

/// Coordinates of a cloud from which an index finds the points within a distance.
const INDEXED_COORDINATES: usize = 1 << 22;

/// Replies buffered for a window that does not poll; older ones are dropped.
const REPLIES: usize = 4;

/// Answers a spec once. `devices` caches the devices of engines.
pub(super) fn answer_live(
    resident: &ResidentPoints,
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    engine: &mut dyn Engine,
    devices: &mut Vec<(EngineKey, DeviceInfo)>,
) -> Result<RunRecord, RunError> {
    let (started_unix, began) = (now_unix(), Instant::now());
    let loaded = LoadedSpec::new(spec, cloud, None);
    let query_cloud = query_cloud_of(loaded)?;
    let loaded = LoadedSpec { query_cloud: query_cloud.as_ref(), ..loaded };
    let problem = build_resident_problem(resident, loaded)?;
    let descriptor = engine.descriptor();
    let device = device_of(engine, devices);
    let mut samples = Vec::new();
    let mut note = |phase, start_ms, duration_ms| {
        samples.push(Sample { phase, repeat: 0, chunk: 0, start_ms, duration_ms })
    };
    let mut start_ms = ms_since(began);
    let mut search = engine.load(&problem, spec.engine.parameters(), false)?;
    for (phase, duration_ms) in search.setup_ms() {
        note(phase.into(), start_ms, duration_ms);
        start_ms += duration_ms;
    }
    let (build, phase) = if descriptor.counts() && search.counts() {
        (KernelBuild::Counted, Phase::Counted)
    } else {
        (KernelBuild::Timed, Phase::Search)
    };
    let start_ms = ms_since(began);
    note(phase, start_ms, search.search(0..problem.q(), build)?);
    let mut answer = Answer::default();
    let start_ms = ms_since(began);
    note(Phase::Download, start_ms, search.download(&mut answer.neighbors)?);
    search.collect(&mut answer)?;
    let mut execution = Execution::new(descriptor, search.as_ref(), started_unix);
    execution.device = device;
    drop(search);
    let loaded = LoadedSpec { spec: &single_pass(spec), ..loaded };
    Ok(record((loaded, &problem), execution, answer, samples))
}

/// Orders neighbours by the file's values. Counters remain those of the engine, and so do distances if the
/// order is the same, so that a lesson shows the same ones.
fn in_file_order(resident: &ResidentPoints, mut record: RunRecord) -> Result<RunRecord, RunError> {
    let problem = build_resident_problem(
        resident,
        LoadedSpec::new(&record.spec, &record.cloud, record.query_cloud.as_ref()),
    )?;
    let queries = record.query_cloud.as_deref().unwrap_or(&record.cloud);
    if Margin::new(problem.metric(), problem.cloud(), queries).is_zero() && record.spec.order == Order::File {
        return Ok(record);
    }
    // For few points, testing all is faster than building an index.
    let is_large = problem.n() * problem.dims() > INDEXED_COORDINATES;
    let open = is_large.then(|| index_opener(&problem)).flatten();
    let refined =
        Refiner::new(&problem, queries, open).refine(&record.neighbors, record.spec.k, None, &mut |_| true);
    if let Some(refined) = refined.filter(|refined| refined.rows != record.neighbors.indices) {
        record.neighbors.indices = refined.rows;
        record.neighbors.squared_distances = refined.squared_distances;
    }
    Ok(record)
}

/// An engine's device, looked up once.
pub(super) fn device_of(engine: &dyn Engine, devices: &mut Vec<(EngineKey, DeviceInfo)>) -> DeviceInfo {
    let key = (engine.id(), engine.device_id());
    let known = devices.iter().find(|(of, _)| *of == key).map(|(_, device)| device.clone());
    known.unwrap_or_else(|| {
        let device = engine.device();
        devices.push((key, device.clone()));
        device
    })
}

/// Handle of the thread that answers requests. Dropping it finishes the current request and joins.
pub struct LiveQueryWorker {
    /// `None` while the worker is dropped.
    queries: Option<Sender<LiveQuery>>,
    /// Removes a waiting request when a newer one arrives.
    waiting: Receiver<LiveQuery>,
    releases: Sender<()>,
    replies: Receiver<Reply>,
    thread: Option<JoinHandle<()>>,
}

impl LiveQueryWorker {
    /// Starts the thread. `wake` is called after every reply.
    ///
    /// # Errors
    /// When no thread can be spawned.
    pub fn spawn(resident: ResidentPoints, wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        Self::spawn_with(EnginePool::default().sharing(resident), wake)
    }

    fn spawn_with(mut engines: EnginePool, wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (queries, waiting) = bounded::<LiveQuery>(1);
        let (releases, to_release) = bounded(1);
        let (sender, replies) = bounded(REPLIES);
        let (incoming, unread) = (waiting.clone(), replies.clone());
        let work = move || {
            loop {
                let query = select! {
                    recv(to_release) -> _ => None,
                    recv(incoming) -> query => match query {
                        Ok(query) => Some(query),
                        Err(_) => return,
                    },
                };
                // Points are released before the next request.
                if query.is_none() || to_release.try_recv().is_ok() {
                    engines.resident().release();
                }
                if let Some(query) = query {
                    send_replacing(&sender, &unread, reply(&mut engines, &query));
                    wake();
                }
            }
        };
        let thread = std::thread::Builder::new().name("warpscope-asker".to_owned()).spawn(work)?;
        Ok(Self { queries: Some(queries), waiting, releases, replies, thread: Some(thread) })
    }

    /// Submits a request, replacing a waiting one. The current one is answered first.
    pub fn submit(&self, query: LiveQuery) {
        if let Some(queries) = &self.queries {
            send_replacing(queries, &self.waiting, query);
        }
    }

    /// Withdraws the waiting request. The current one is still answered.
    pub fn withdraw(&self) {
        let _withdrawn = self.waiting.try_recv();
    }

    /// Frees the last points when their cloud is no longer needed.
    pub fn release(&self) {
        // If a release is already pending, it suffices.
        let _ = self.releases.try_send(());
    }

    /// The next reply, if there is one; never blocks.
    pub fn try_recv(&self) -> Option<Reply> {
        self.replies.try_recv().ok()
    }
}

impl Drop for LiveQueryWorker {
    fn drop(&mut self) {
        let _replaced = self.waiting.try_recv();
        self.queries = None;
        if let Some(thread) = self.thread.take() {
            // Panics of requests are caught; any other one is on stderr already.
            let _ = thread.join();
        }
    }
}

fn reply(engines: &mut EnginePool, query: &LiveQuery) -> Reply {
    let began = Instant::now();
    let result = engines.catch_panics(|engines| {
        let record = engines.answer_live(&query.spec, &query.cloud)?;
        in_file_order(engines.resident(), record)
    });
    Reply { id: query.id, result: result.map(Arc::new), took: began.elapsed() }
}

/// Sends a message, dropping older unread ones if the channel is full.
pub(super) fn send_replacing<T>(sender: &Sender<T>, unread: &Receiver<T>, mut message: T) {
    while let Err(TrySendError::Full(refused)) = sender.try_send(message) {
        let _older = unread.try_recv();
        message = refused;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::testing::{self, Script, cloud, no_driver, spec, squares};
    use super::super::{EngineChoice, Event, Job, QuerySpec, Worker};
    use super::*;
    use crate::cloud::Order;
    use crate::knn::Metric;

    fn engines(script: Script) -> EnginePool {
        testing::engines(
            move |kind| if kind.as_str() == "cuda" { Err(no_driver(kind)) } else { Ok(script.clone()) },
        )
    }

    fn row(row: u64) -> RunSpec {
        RunSpec { queries: QuerySpec::Rows(vec![row]), ..spec() }
    }

    fn wait(live: &LiveQueryWorker) -> Reply {
        let began = Instant::now();
        loop {
            if let Some(reply) = live.try_recv() {
                return reply;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no reply");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn live_queries_match_runs() {
        let (mut engines, cloud) = (engines(Script::default()), squares(300));
        for queries in [QuerySpec::Rows(vec![17]), QuerySpec::At(vec![1234.5])] {
            let spec = RunSpec { queries, order: Order::Shuffled, seed: 3, ..spec() };
            let run = engines.execute(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
            let asked = engines.answer_live(&spec, &cloud).unwrap();
            assert_eq!((&asked.neighbors, &asked.query_rows), (&run.neighbors, &run.query_rows));
            assert_eq!(
                (&asked.measured, asked.convergence.for_query(0)),
                (&run.measured, run.convergence.for_query(0))
            );
            assert_eq!(asked.fallback, run.fallback);
            assert!(asked.resident, "the run brought the points");
            assert_eq!(
                asked.samples.iter().map(|sample| sample.phase).collect::<Vec<_>>(),
                [Phase::Counted, Phase::Download]
            );
            assert_eq!(asked.summary.search_ms_median, asked.samples[0].duration_ms);
        }
    }

    #[test]
    fn a_query_position_has_no_row_and_a_separate_cloud() {
        let mut engines = engines(Script::default());
        let record = engines
            .answer_live(&RunSpec { queries: QuerySpec::At(vec![50.0]), ..spec() }, &squares(20))
            .unwrap();
        assert_eq!(record.neighbors.for_query(0), ([7, 6, 8].as_slice(), [1.0, 196.0, 196.0].as_slice()));
        let place = record.query_cloud.as_ref().expect("its own cloud");
        assert_eq!((place.len(), place.coordinate(0, 0), record.dropped_queries), (1, 50.0, 0));
        // A point has no row to exclude.
        let without = engines
            .answer_live(
                &RunSpec { queries: QuerySpec::At(vec![49.0]), exclude_self: true, k: 1, ..spec() },
                &squares(20),
            )
            .unwrap();
        assert_eq!(without.neighbors.for_query(0).0, [7]);
        let error = engines
            .answer_live(&RunSpec { queries: QuerySpec::At(vec![1.0, 2.0]), ..spec() }, &squares(20))
            .unwrap_err();
        assert_eq!(error.to_string(), "query point 1,2: expected 1 coordinate (c0), found 2");
    }

    #[test]
    fn points_are_uploaded_once() {
        let script = Script::default();
        let (mut engines, first) = (engines(script.clone()), cloud(2, (1..81).map(f64::from).collect()));
        let uploads = || *script.uploads.lock().unwrap();
        let mut ask = |cloud: &Arc<PointCloud>, spec: RunSpec| {
            (engines.answer_live(&spec, cloud).unwrap().resident, uploads())
        };
        assert_eq!(ask(&first, row(1)), (false, 1));
        assert_eq!(ask(&first, row(2)), (true, 1));
        assert_eq!(
            ask(&first, RunSpec { k: 7, exclude_self: true, drop_nonfinite: true, ..row(2) }),
            (true, 1)
        );
        assert_eq!(ask(&first, RunSpec { queries: QuerySpec::At(vec![0.5, 0.5]), ..row(2) }), (true, 1));
        assert_eq!(ask(&first, RunSpec { seed: 9, ..row(2) }), (true, 1), "file order has no seed");
        assert_eq!(ask(&first, RunSpec { order: Order::Shuffled, ..row(2) }), (false, 2));
        assert_eq!(ask(&first, RunSpec { order: Order::Shuffled, seed: 9, ..row(2) }), (false, 3));
        assert_eq!(ask(&first, RunSpec { metric: Metric::Angular, ..row(2) }), (false, 4));
        let second = cloud(2, (1..81).map(f64::from).collect());
        assert_eq!(ask(&second, RunSpec { metric: Metric::Angular, ..row(2) }), (false, 5));
        let again = engines
            .execute(
                LoadedSpec::new(&RunSpec { metric: Metric::Angular, ..row(2) }, &second, None),
                &mut |_, _| true,
            )
            .unwrap();
        assert!(again.resident && uploads() == 5, "a run uses them too");
        assert!(
            again.samples.iter().all(|sample| !matches!(sample.phase, Phase::Upload | Phase::BuildIndex))
        );
        engines.resident().release();
        assert!(
            !engines.execute(LoadedSpec::new(&row(2), &second, None), &mut |_, _| true).unwrap().resident
        );
    }

    #[test]
    fn resident_points_are_released_when_memory_is_short() {
        let script = Script { cramped: true, ..Script::default() };
        let (mut engines, cloud) = (engines(script.clone()), squares(40));
        assert!(!engines.answer_live(&row(1), &cloud).unwrap().resident);
        assert!(
            !engines.answer_live(&row(2), &cloud).unwrap().resident,
            "they were released, and loading was \
                                                                  retried"
        );
        assert_eq!((*script.uploads.lock().unwrap(), *script.loads.lock().unwrap()), (2, 3));
    }

    #[test]
    fn the_newest_query_replaces_a_waiting_one() {
        // A query takes long enough to send 19 more on a busy machine.
        let script = Script { per_query: Duration::from_millis(500), ..Script::default() };
        let wakes = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&wakes);
        let live = LiveQueryWorker::spawn_with(engines(script.clone()), move || {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
        let cloud = squares(40);
        live.submit(LiveQuery { id: 1, spec: row(1), cloud: Arc::clone(&cloud) });
        while script.calls.lock().unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        for id in 2..=20 {
            live.submit(LiveQuery { id, spec: row(id), cloud: Arc::clone(&cloud) });
        }
        let (first, last) = (wait(&live), wait(&live));
        assert_eq!((first.id, last.id), (1, 20), "the current one, and the newest");
        assert_eq!(last.result.unwrap().query_rows, [20]);
        assert!(last.took >= Duration::from_millis(500));
        std::thread::sleep(Duration::from_millis(50));
        assert!(live.try_recv().is_none());
        assert_eq!((script.calls.lock().unwrap().len(), wakes.load(Ordering::Relaxed)), (2, 2));
    }

    #[test]
    fn live_queries_are_answered_during_a_run() {
        let script = Script { per_query: Duration::from_millis(1), ..Script::default() };
        let worker = Worker::spawn_with(engines(script.clone()), || ()).unwrap();
        let live =
            LiveQueryWorker::spawn_with(engines(script.clone()).sharing(worker.resident().clone()), || ())
                .unwrap();
        let cloud = squares(400);
        worker.submit(Job {
            id: 1,
            spec: RunSpec { engine: EngineChoice::Auto, ..spec() },
            cloud: Arc::clone(&cloud),
            query_cloud: None,
        });
        let (began, mut answered) = (Instant::now(), 0);
        let record = loop {
            live.submit(LiveQuery { id: answered, spec: row(answered % 400), cloud: Arc::clone(&cloud) });
            let reply = wait(&live);
            assert_eq!((reply.id, reply.result.unwrap().query_rows[0]), (answered, (answered % 400) as u32));
            answered += 1;
            match worker.try_recv() {
                Some(Event::Finished { record, .. }) => break record,
                Some(Event::Failed { error, .. }) => panic!("{error}"),
                _ => {}
            }
            assert!(began.elapsed() < Duration::from_secs(60), "the run does not progress");
        };
        // Six passes over 400 queries of a millisecond each. If requests waited for the run, only one would
        // be answered.
        assert!(answered > 10, "only {answered} requests were answered during the run");
        assert_eq!(record.neighbors.queries(), 400);
        assert!(*script.uploads.lock().unwrap() <= 2, "both use the same points");
    }

    #[test]
    fn a_panic_fails_the_query_but_not_the_thread() {
        let live =
            LiveQueryWorker::spawn_with(engines(Script { panic_after: Some(1), ..Script::default() }), || ())
                .unwrap();
        live.submit(LiveQuery { id: 1, spec: row(1), cloud: squares(5) });
        assert!(matches!(wait(&live).result, Err(RunError::Crashed { .. })));
        live.submit(LiveQuery { id: 2, spec: RunSpec { k: 0, ..row(1) }, cloud: squares(5) });
        assert!(matches!(wait(&live).result, Err(RunError::Problem(_))));
    }

    #[test]
    fn release_frees_the_cloud() {
        let live = LiveQueryWorker::spawn_with(engines(Script::default()), || ()).unwrap();
        let cloud = squares(30);
        live.submit(LiveQuery { id: 1, spec: row(1), cloud: Arc::clone(&cloud) });
        drop(wait(&live));
        assert!(Arc::strong_count(&cloud) > 1, "the points are kept");
        live.release();
        let began = Instant::now();
        while Arc::strong_count(&cloud) > 1 {
            assert!(began.elapsed() < Duration::from_secs(60), "the cloud is still held");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
