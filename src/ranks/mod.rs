//! Several processes that answer one job: how a launcher numbers them, how they meet, and what each sends.
//!
//! Rank 0 writes the answer and is connected to every other rank. Queries are divided into turns, which the
//! ranks answer one after the other; rank 0 reads the answers in order.

mod answers;
mod launch;
mod team;

pub use answers::{Answers, Turns, encode};
pub use launch::{Launch, Rank, place};
pub use team::Team;

/// Why processes cannot work together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    #[error("{name}={value}: invalid value of an environment variable that launchers set")]
    Variable { name: &'static str, value: String },
    #[error(
        "{launcher} started {world} processes, which would all write the same file; pass --rendezvous \
         HOST:PORT or file:DIR to share the queries among them, or none if their jobs are independent"
    )]
    NoPlace { launcher: &'static str, world: usize },
    #[error(
        "--rendezvous {place}: no launcher has numbered this process; start it with torchrun, mpirun or srun"
    )]
    NoLauncher { place: String },
    #[error("--rendezvous {place}: this folder does not exist")]
    NoFolder { place: String },
    #[error("cannot listen at {place}: {why}; choose another port, or an address of this machine")]
    Listen { place: String, why: std::io::Error },
    #[error("{missing} did not join at {place} within {seconds} s{refused} (--rendezvous-timeout)")]
    Missing { missing: String, place: String, seconds: u64, refused: &'static str },
    #[error("rank 0 did not answer at {place} within {seconds} s: {why} (--rendezvous-timeout)")]
    NoAnswer { place: String, seconds: u64, why: std::io::Error },
    /// The sentence comes from another rank.
    #[error("{0}")]
    Told(String),
    #[error("the data of this rank differ from those of rank 0: {mine}; rank 0 has {theirs}")]
    Differs { mine: String, theirs: String },
    #[error("rank {rank} sent invalid data or cannot be reached: {why}")]
    Connection { rank: usize, why: std::io::Error },
    #[error("cannot spawn a thread: {0}")]
    Thread(std::io::Error),
}
