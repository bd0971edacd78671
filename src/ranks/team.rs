//! Rendezvous, heartbeats and messages of the processes of a job.
//!
//! Every other rank opens two connections to rank 0. One carries answers. The other carries lines: an empty
//! line is a heartbeat, any other is the error message of a failed rank.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Launch, Rank, RankError};
use crate::files;

/// Name of the file with the address of rank 0, in the folder where jobs meet.
const ADDRESS_FILE: &str = "warpscope.job";

/// Begins the first line of a connection: rank, kind and job follow.
const GREETING: &str = "warpscope ";

/// The longest line, and the longest first one.
const MOST: u64 = 1 << 16;
const MOST_HELLO: u64 = 1 << 14;

/// Connections whose first line is read at a time.
const MOST_GREETINGS: usize = 64;

/// Interval between heartbeats, and the silence after which a process is considered lost.
const BEAT: Duration = Duration::from_millis(500);
const SILENCE: Duration = Duration::from_secs(10);

/// Polling interval, and the time that others get to receive the last message.
const POLL: Duration = Duration::from_millis(10);
const PARTING: Duration = Duration::from_millis(300);

/// Connections by (rank, kind): kind 0 carries answers, kind 1 lines.
type Links = BTreeMap<(usize, usize), TcpStream>;

/// Queue of batches, and the thread that sends them.
pub type Outbox = (SyncSender<Vec<u8>>, JoinHandle<io::Result<()>>);

/// The processes of a job, seen from one of them. Rank 0 is connected to all others, these only to rank 0.
pub struct Team {
    pub rank: Rank,
    answers: Vec<Mutex<BufReader<TcpStream>>>,
    /// The same connections, to close them while one is read.
    raw: Vec<TcpStream>,
    lines: Arc<Lines>,
}

/// The connections that have lines.
struct Lines {
    rank: usize,
    streams: Vec<(usize, TcpStream)>,
    /// Whether the job is done, or has failed: then lost connections are expected.
    is_over: AtomicBool,
    /// Ends the process with a sentence.
    end: fn(&str) -> !,
}

impl Team {
    /// Meets the other processes within some seconds. All must have the same `job`, a line. From then on, `end`
    /// is called on another thread if a process fails or is lost, with a sentence that names its rank.
    ///
    /// # Errors
    /// [`RankError`].
    pub fn meet(launch: &Launch, seconds: u64, job: &str, end: fn(&str) -> !) -> Result<Self, RankError> {
        let Launch { rank, place, .. } = launch;
        if folder(place).is_some_and(|folder| !folder.is_dir()) {
            return Err(RankError::NoFolder { place: place.clone() });
        }
        let time = (Instant::now() + Duration::from_secs(seconds.min(1 << 30)), seconds);
        let links = match rank.rank {
            0 => gather(place, time, rank.world, job)?,
            rank => join(place, time, rank, job)?,
        };
        let (mut answers, mut raw, mut streams) = (Vec::new(), Vec::new(), Vec::new());
        for ((peer, kind), stream) in links {
            if kind == 0 {
                raw.push(stream.try_clone().map_err(Self::failed(peer))?);
                answers.push(Mutex::new(BufReader::new(stream)));
            } else {
                streams.push((peer, stream));
            }
        }
        let lines = Arc::new(Lines { rank: rank.rank, streams, is_over: AtomicBool::new(false), end });
        for at in 0..=lines.streams.len() {
            let lines = Arc::clone(&lines);
            let work = move || match lines.streams.get(at) {
                Some((rank, stream)) => lines.listen(*rank, stream),
                None => lines.beat(),
            };
            let thread = thread::Builder::new().name("warpscope-ranks".to_owned());
            thread.spawn(work).map_err(RankError::Thread)?;
        }
        Ok(Self { rank: *rank, answers, raw, lines })
    }

    /// The connection with the answers of another rank, or that to rank 0.
    pub fn answers(&self, rank: usize) -> MutexGuard<'_, BufReader<TcpStream>> {
        self.answers[rank.saturating_sub(1)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error for a connection that failed.
    pub fn failed(rank: usize) -> impl Fn(io::Error) -> RankError {
        move |why| {
            // The thread that listens to this rank may know more, and end the process.
            thread::sleep(2 * BEAT);
            RankError::Connection { rank, why }
        }
    }

    /// Sends a value as a line to another rank.
    ///
    /// # Errors
    /// [`RankError::Connection`].
    pub fn tell(&self, rank: usize, value: &impl Serialize) -> Result<(), RankError> {
        let line = serde_json::to_string(value).map_err(io::Error::from).map(|json| json + "\n");
        let sent = line.and_then(|line| self.answers(rank).get_mut().write_all(line.as_bytes()));
        sent.map_err(Self::failed(rank))
    }

    /// Receives what another rank [tells](Self::tell).
    ///
    /// # Errors
    /// [`RankError::Connection`].
    pub fn hear<T: DeserializeOwned>(&self, rank: usize) -> Result<T, RankError> {
        let line = line(&mut *self.answers(rank));
        line.and_then(|line| Ok(serde_json::from_str(&line)?)).map_err(Self::failed(rank))
    }

    /// Starts to send batches to rank 0, while `waiting` more are answered. The thread must not be waited for
    /// after an error, as rank 0 may not read for long.
    ///
    /// # Errors
    /// [`RankError`].
    pub fn outbox(&self, waiting: usize) -> Result<Outbox, RankError> {
        let mut stream = self.answers(0).get_ref().try_clone().map_err(Self::failed(0))?;
        let (outbox, batches) = mpsc::sync_channel::<Vec<u8>>(waiting);
        let send = move || batches.iter().try_for_each(|batch| stream.write_all(&batch));
        let thread = thread::Builder::new().name("warpscope-outbox".to_owned()).spawn(send);
        Ok((outbox, thread.map_err(RankError::Thread)?))
    }

    /// Rank 0 has the answers and summaries of the others, which may end.
    pub fn settle(&self) {
        self.lines.is_over.store(true, Relaxed);
    }

    /// Ends the job: with the sentence of an error, or after rank 0 has written the answer.
    ///
    /// # Errors
    /// [`RankError`] if rank 0 has not.
    pub fn close(&self, failed: Option<&str>) -> Result<(), RankError> {
        if let Some(sentence) = failed {
            self.settle();
            self.lines.tell(sentence);
            thread::sleep(PARTING);
            // A thread may still read answers from a machine that is lost.
            self.raw.iter().for_each(|stream| _ = stream.shutdown(Shutdown::Both));
        } else if self.rank.rank > 0 {
            self.hear::<()>(0)?;
            self.settle();
            let _ = self.tell(0, &());
        } else {
            for rank in 1..self.rank.world {
                // The answer is written, whether another rank can be told or not.
                let _ = self.answers(rank).get_ref().set_read_timeout(Some(SILENCE));
                let _ = self.tell(rank, &()).and_then(|()| self.hear::<()>(rank));
            }
        }
        Ok(())
    }
}

impl Lines {
    /// Sends a line to all that can be reached.
    fn tell(&self, line: &str) {
        let line = line.replace('\n', " ") + "\n";
        self.streams.iter().for_each(|(_, stream)| _ = (&mut &*stream).write_all(line.as_bytes()));
    }

    fn beat(&self) {
        loop {
            self.tell("");
            thread::sleep(BEAT);
        }
    }

    /// Ends the process, and if it has rank 0 the others, when this rank fails or is lost.
    fn listen(&self, rank: usize, stream: &TcpStream) {
        let mut stream = BufReader::new(stream);
        let sentence = loop {
            match line(&mut stream) {
                Ok(line) if line.is_empty() => {}
                Ok(sentence) => break sentence,
                Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    break format!("rank {rank}: no heartbeat (was it or its machine stopped?)");
                }
                Err(_) => break format!("rank {rank}: ended without a message (was it killed?)"),
            }
        };
        if !self.is_over.swap(true, Relaxed) {
            self.tell(&sentence);
            thread::sleep(if self.rank == 0 { PARTING } else { Duration::ZERO });
            (self.end)(&sentence);
        }
    }
}

/// The next line, without its end.
fn line(stream: &mut impl io::BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.take(MOST).read_line(&mut line)?;
    line.pop().filter(|&end| end == '\n').ok_or(ErrorKind::UnexpectedEof)?;
    Ok(line)
}

fn folder(place: &str) -> Option<&Path> {
    place.strip_prefix("file:").map(Path::new)
}

/// Removes the address file once all ranks have connected or the wait has failed.
struct AddressFile<'a>(&'a Path);

impl Drop for AddressFile<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0.join(ADDRESS_FILE));
    }
}

/// Rank 0: waits until all other ranks have connected.
fn gather(
    place: &str,
    (deadline, seconds): (Instant, u64),
    world: usize,
    job: &str,
) -> Result<Links, RankError> {
    let listening = listen(place);
    let (listener, _file) = listening.map_err(|why| RankError::Listen { place: place.to_owned(), why })?;
    let (mut links, mut refused) = (Links::new(), "");
    let (greeted, greetings) = mpsc::sync_channel(MOST_GREETINGS);
    let reading = Arc::new(());
    while links.len() < 2 * (world - 1) {
        // Errors, such as too many open files, may pass. Strangers may send anything, slowly or nothing, so each
        // greeting is read by its own thread.
        if Arc::strong_count(&reading) <= MOST_GREETINGS
            && let Ok((stream, _)) = listener.accept()
        {
            let (greeted, reading) = (greeted.clone(), Arc::clone(&reading));
            let read = move || {
                let _reading = reading;
                greet(stream).map(|greeting| greeted.send(greeting))
            };
            let _ = thread::Builder::new().name("warpscope-greeting".to_owned()).spawn(read);
        }
        match greetings.try_recv().ok() {
            None => thread::sleep(POLL),
            Some((at @ (1.., 0 | 1), theirs, stream))
                if at.0 < world && theirs == job && !links.contains_key(&at) =>
            {
                links.insert(at, stream);
            }
            Some(((rank, _), _, mut stream)) => {
                refused = "; a process of another job was refused";
                let _ = writeln!(
                    stream,
                    "rank {rank}: another job is meeting at {place}, with other flags, processes or version; \
                     choose another place"
                );
            }
        }
        if Instant::now() >= deadline && links.len() < 2 * (world - 1) {
            let missing = (1..world).filter(|&rank| !links.contains_key(&(rank, 1)));
            let missing: Vec<String> = missing.map(|rank| rank.to_string()).collect();
            let plural = if missing.len() == 1 { "" } else { "s" };
            let missing = format!("rank{plural} {}", missing.join(", "));
            let error = RankError::Missing { missing, place: place.to_owned(), seconds, refused };
            links.values_mut().for_each(|stream| _ = writeln!(stream, "rank 0: {error}"));
            thread::sleep(PARTING);
            return Err(error);
        }
    }
    for (&(rank, kind), mut stream) in &links {
        prepare(stream, kind).and_then(|()| writeln!(stream)).map_err(Team::failed(rank))?;
    }
    Ok(links)
}

fn listen(place: &str) -> io::Result<(TcpListener, Option<AddressFile<'_>>)> {
    let folder = folder(place);
    let listener = TcpListener::bind(if folder.is_some() { "0.0.0.0:0" } else { place })?;
    listener.set_nonblocking(true)?;
    if let Some(folder) = folder {
        let address = format!("{} {}", host(), listener.local_addr()?.port());
        files::write_small(&folder.join(ADDRESS_FILE), |out| out.write_all(address.as_bytes()))?;
    }
    Ok((listener, folder.map(AddressFile)))
}

/// Reads until a deadline.
struct Until<'a>(&'a TcpStream, Instant);

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.1.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.0.set_read_timeout(Some(left))?;
        self.0.read(buffer)
    }
}

/// Reads the first line of a connection: rank and kind, and job.
fn greet(stream: TcpStream) -> io::Result<((usize, usize), String, TcpStream)> {
    stream.set_nonblocking(false)?;
    let hello = line(&mut BufReader::new(Until(&stream, Instant::now() + 2 * BEAT).take(MOST_HELLO)))?;
    let mut words = hello.strip_prefix(GREETING).unwrap_or_default().splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse().ok()).ok_or(ErrorKind::InvalidData);
    let at = (number()?, number()?);
    Ok((at, words.next().unwrap_or_default().to_owned(), stream))
}

/// Another rank: connects to rank 0, and waits until all are there.
fn join(
    place: &str,
    (deadline, seconds): (Instant, u64),
    rank: usize,
    job: &str,
) -> Result<Links, RankError> {
    let no_answer = |why| RankError::NoAnswer { place: place.to_owned(), seconds, why };
    let mut links = Links::new();
    for kind in 0..2 {
        let stream = loop {
            match knock(place, &format!("{GREETING}{rank} {kind} {job}\n")) {
                Ok(stream) => break stream,
                Err(why) if Instant::now() >= deadline => return Err(no_answer(why)),
                Err(_) => thread::sleep(POLL),
            }
        };
        links.insert((0, kind), stream);
    }
    for (&(_, kind), stream) in &links {
        // Rank 0 may say at its own deadline which ranks are missing.
        let wait = deadline.saturating_duration_since(Instant::now()) + 4 * BEAT;
        let reply = stream.set_read_timeout(Some(wait)).and_then(|()| {
            // Without a buffer, which could take more than the line.
            line(&mut BufReader::with_capacity(1, stream))
        });
        match reply.and_then(|reply| prepare(stream, kind).map(|()| reply)) {
            Ok(reply) if reply.is_empty() => {}
            Ok(sentence) => return Err(RankError::Told(sentence)),
            Err(why) => return Err(no_answer(why)),
        }
    }
    Ok(links)
}

/// Opens a connection to rank 0 and sends the first line.
fn knock(place: &str, hello: &str) -> io::Result<TcpStream> {
    let address = match folder(place) {
        None => place.to_owned(),
        Some(folder) => {
            let address = String::from_utf8_lossy(&files::read_small(&folder.join(ADDRESS_FILE), 1 << 20)?)
                .into_owned();
            let (name, port) = address.split_once(' ').ok_or(ErrorKind::InvalidData)?;
            format!("{}:{port}", if name == host() { "127.0.0.1" } else { name })
        }
    };
    let mut failed = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, SILENCE) {
            // If nothing listens on a port that the system chose for this end, it is connected to itself.
            Ok(stream) if stream.local_addr()? == stream.peer_addr()? => {}
            Ok(mut stream) => return stream.write_all(hello.as_bytes()).map(|()| stream),
            Err(why) => failed = why,
        }
    }
    Err(failed)
}

/// The name of this machine.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "localhost".to_owned(), |name| name.trim().to_owned())
}

/// Answers may take any time; heartbeats must not.
fn prepare(stream: &TcpStream, kind: usize) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout((kind > 0).then_some(SILENCE))
}
