//! `knn` over several processes: each answers some of the queries, and rank 0 writes the answers of all.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use anyhow::{anyhow, bail};

use crate::cli::answer::{AnswerStats, Take};
use crate::cli::job::Job;
use crate::cli::usage::UsageError;
use crate::cli::{output, stop, values};
use crate::engines::registry;
use crate::ranks::{Answers, Launch, Rank, RankError, Team, Turns, encode, place};
use crate::run::{BatchSearch, QuerySpec, RunSpec};
use crate::{memory, version};

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Several processes")]
pub struct RankArgs {
    /// Meeting place of torchrun, mpirun or srun processes
    ///
    /// HOST:PORT: an address of rank 0 that the others can reach. file:DIR: a folder that all can write to, for
    /// the address. none: the processes do not work together. The default is torchrun's address. Each process
    /// answers some of the queries; rank 0 writes the file.
    #[arg(long, value_name = "HOST:PORT|file:DIR", value_parser = place)]
    rendezvous: Option<String>,
    /// Seconds to wait until all processes have met
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = values::whole::<u64>)]
    rendezvous_timeout: u64,
}

impl RankArgs {
    /// This process, if it is one of several. Only rank 0 prints notes.
    ///
    /// # Errors
    /// [`UsageError`].
    pub fn launch(&self) -> anyhow::Result<Option<Launch>> {
        let launch = Launch::find(self.rendezvous.as_deref(), |name| std::env::var(name).ok());
        let launch = launch.map_err(|why| UsageError(why.to_string()))?;
        if launch.as_ref().is_some_and(|launch| launch.rank.rank > 0) {
            output::set_silent();
        }
        Ok(launch)
    }

    /// Meets the other processes, which must have the same `flags`.
    ///
    /// # Errors
    /// [`RankError`], with the number of the rank.
    pub fn meet(&self, launch: &Launch, flags: &impl Debug) -> anyhow::Result<Team> {
        let Rank { rank, world, local } = launch.rank;
        registry::prefer_gpu(local as u32);
        let from = if launch.is_default { " (from torchrun; or pass --rendezvous)" } else { "" };
        output::note(&format!("{world} processes meet at {}{from}", launch.place));
        let job = format!("{world} {} {flags:?}", version::version());
        let met = Team::meet(launch, self.rendezvous_timeout, &job, stop::abandon);
        met.map_err(|why| match why {
            RankError::Told(sentence) => anyhow!(sentence),
            why => anyhow!("rank {rank}: {why}"),
        })
    }
}

/// Ends the other processes with an error of this one.
///
/// # Errors
/// [`RankError`].
pub fn tell(team: &Team, error: &anyhow::Error) -> Result<(), RankError> {
    let why = stop::requested().map_or_else(|| format!("{error:#}"), stop::Signal::sentence);
    team.close(Some(&format!("rank {}: {why}", team.rank.rank)))
}

/// Ends a search of several processes. An error gets the number of the rank.
///
/// # Errors
/// That of the search, and [`RankError`].
pub fn close(team: &Team, ended: anyhow::Result<()>) -> anyhow::Result<()> {
    let ended = match ended {
        Ok(()) => team.close(None).map_err(Into::into),
        Err(error) => tell(team, &error).map_err(Into::into).and(Err(error)),
    };
    let is_named = |error: &anyhow::Error| !error.is::<output::BrokenPipe>();
    ended.map_err(
        |error| if is_named(&error) { error.context(format!("rank {}", team.rank.rank)) } else { error },
    )
}

/// The part of a process in a search.
pub struct Work<'a> {
    team: &'a Team,
    turns: Turns,
    /// Batches that may wait to be sent.
    waiting: usize,
}

impl<'a> Work<'a> {
    /// Agrees with the other processes on the turns of the queries, and limits the search to those of this one.
    ///
    /// # Errors
    /// [`RankError`] if rank 0 has loaded something else.
    pub fn new(team: &'a Team, job: &Job, batches: &mut BatchSearch) -> anyhow::Result<Self> {
        let Rank { rank, world, .. } = team.rank;
        let mut queries = DefaultHasher::new();
        match (&job.query_cloud, &job.spec.queries) {
            (Some(cloud), _) => cloud.fingerprint().hash(&mut queries),
            (None, QuerySpec::Rows(rows)) => rows.hash(&mut queries),
            (None, other) => format!("{other:?}").hash(&mut queries),
        }
        let mine = format!(
            "points {}, {} queries {:016x}, {}",
            job.cloud.fingerprint(),
            batches.queries(),
            queries.finish(),
            job.ranking.name()
        );
        let (mut limit, [usual, most]) = batches.limits();
        if rank == 0 {
            (1..world).try_for_each(|rank| team.tell(rank, &(limit, &mine)))?;
        } else {
            let theirs: String;
            (limit, theirs) = team.hear(0)?;
            if mine != theirs {
                bail!(RankError::Differs { mine, theirs });
            }
        }
        let turns = Turns::new(batches.queries(), world, limit);
        batches.answer_only(turns.of(rank));
        // Rows, squared and true distances of k neighbours, and the row of the query.
        let each = 16 * batches.k() as u64 + 4;
        let bytes = |batch: usize| (turns.queries(0).len().min(batch) as u64 * each).max(1);
        let free = memory::available().unwrap_or(u64::MAX);
        let waiting = (free / 8 / bytes(usual)).min(free / 2 / bytes(most));
        Ok(Self { team, turns, waiting: waiting.min(256) as usize })
    }

    /// The job with the number of queries of this process, for predictions.
    pub fn share(&self, job: &Job) -> Job {
        let queries = self.turns.of(self.team.rank.rank).iter().map(|turn| turn.len() as u64).sum();
        let spec = RunSpec { queries: QuerySpec::Count(queries), ..job.spec.clone() };
        Job { spec, query_cloud: None, ..job.clone() }
    }

    /// Whether this process writes the answer.
    pub fn is_first(&self) -> bool {
        self.team.rank.rank == 0
    }

    /// Answers the turns of a rank that does not write.
    ///
    /// # Errors
    /// Errors of `search`, and [`RankError`].
    pub fn answer(
        &self,
        search: impl FnOnce(&mut Take<'_>) -> anyhow::Result<AnswerStats>,
    ) -> anyhow::Result<()> {
        let has_turn = !self.turns.of(self.team.rank.rank).is_empty();
        let (outbox, sending) = self.team.outbox(self.waiting)?;
        let gone = |_| Team::failed(0)(io::ErrorKind::BrokenPipe.into());
        let answer = || search(&mut |batch| Ok(outbox.send(encode(batch)).map_err(gone)?));
        let stats = has_turn.then(answer).transpose()?;
        drop(outbox);
        sending.join().map_err(|_| anyhow!("the answers were not sent"))?.map_err(Team::failed(0))?;
        Ok(self.team.tell(0, &stats)?)
    }

    /// Passes on the answers of all ranks, in the order of the queries.
    ///
    /// # Errors
    /// Errors of `search` and `take`, and [`RankError`].
    pub fn collect(
        &self,
        job: &Job,
        take: &mut Take<'_>,
        search: impl FnOnce(&mut Take<'_>) -> anyhow::Result<AnswerStats>,
    ) -> anyhow::Result<AnswerStats> {
        let clouds = [&*job.cloud, job.query_cloud.as_ref().unwrap_or(&job.cloud)];
        let (k, mut turn) = (job.spec.k, 0);
        let mut all = search(&mut |batch| {
            let end = batch.first + batch.query_count();
            take(batch)?;
            if end < self.turns.queries(turn).end {
                return Ok(());
            }
            turn += 1;
            // The turns of the others, until the next one of this rank.
            while turn < self.turns.count {
                let (rank, mut left) = (self.turns.rank(turn), self.turns.queries(turn));
                if rank == 0 && !left.is_empty() {
                    break;
                }
                while !left.is_empty() {
                    let answers = Answers::read(&mut *self.team.answers(rank), left.clone(), k, clouds);
                    let answers = answers.map_err(Team::failed(rank))?;
                    take(answers.batch(k, job.spec.metric, clouds))?;
                    left.start = answers.end();
                }
                turn += 1;
            }
            Ok(())
        })?;
        for rank in 1..self.team.rank.world {
            let other: Option<AnswerStats> = self.team.hear(rank)?;
            other.into_iter().for_each(|other| all.add(other));
        }
        self.team.settle();
        all.ranks = Some(self.team.rank.world);
        Ok(all)
    }
}
