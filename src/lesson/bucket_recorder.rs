//! A selection by digits, and the observer that records its steps.

use std::sync::Arc;

use super::buckets::{self, BITS};
use super::recorder::record;
use super::recording::{Beside, Buffered, Chosen, LessonError, Parameters, Recording};
use super::state::Shape;
use super::step::Step;
use crate::engines::lockstep::{self, Key, key_of, registers_for};
use crate::knn::Problem;

/// What recorded it, in files.
pub const RECORDED_ON: &str = "digits";

/// Selects the neighbours of one query by the digits of their distances and records the steps; the kernel's twin is run, too, and counted. There is
/// a bucket a lane, so that a digit has log2(`width`) bits. `data` describes the source of the points.
///
/// # Errors
/// [`LessonError`] for widths other than 4, 8, 16 and 32, and if k is too large.
pub fn record_digits(problem: Arc<Problem>, query: usize, width: u32, data: &str) -> Result<Recording, LessonError> {
    Shape::check(width, problem.k())?;
    let registers = registers_for(problem.k(), width as usize) as u32;
    let shape = Shape { width, registers, k: problem.k() as u32, n: problem.n() as u32 };
    let distances = lockstep::distances_to(&problem, query, 0..problem.n());
    let bits = width.ilog2();
    let mut recorder = Recorder { steps: vec![Step::Digits { bits }] };
    let neighbours = select(&distances, problem.k(), bits, &mut recorder);
    recorder.steps.extend([Step::Gathered { keys: neighbours }, Step::Sorted, Step::Finished]);
    let parameters = Parameters { recorded_on: RECORDED_ON.to_owned(), ..Parameters::new(shape, &problem, query, data) };
    let reads = recorder.steps.iter().fold(shape.n, |reads, step| match step {
        Step::Counted { counts } => reads + counts.iter().sum::<u32>(),
        _ => reads,
    });
    let passes = recorder.steps.iter().filter(|step| matches!(step, Step::Bucket { .. })).count() as u32;
    let buffer = Buffered::of(&record(Arc::clone(&problem), query, width, None, data)?);
    let beside = Beside::Digits(Arc::new(Chosen { distances, reads, passes, buffer }));
    Ok(Recording::new(parameters, problem, query, recorder.steps).beside(beside))
}

/// Records the steps of a selection that it observes.
struct Recorder {
    steps: Vec<Step>,
}

/// The keys of the k smallest distances, or of all if there are fewer, by position: digits of `bits` bits tell, the most significant one first, in
/// which bucket the k-th lies, until all of that bucket are among the k, or are equal.
fn select(distances: &[f32], k: usize, bits: u32, recorder: &mut Recorder) -> Vec<Key> {
    let digit = |distance: f32, pass: u32| buckets::digit(distance.to_bits(), bits, pass);
    let mut rank = k.min(distances.len());
    let mut left: Vec<Key> = distances.iter().zip(0..).map(|(&distance, position)| key_of(distance, position)).collect();
    for pass in 0..BITS.div_ceil(bits) {
        let of = |key: &Key| digit(lockstep::distance_of(*key), pass);
        let mut counts = vec![0; 1 << bits];
        left.iter().for_each(|key| counts[of(key) as usize] += 1);
        let sums: Vec<u32> = counts
            .iter()
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum)
            })
            .collect();
        let found = sums.partition_point(|&sum| (sum as usize) < rank);
        let (inside, below) = (counts[found], sums[found] - counts[found]);
        recorder.steps.extend([Step::Counted { counts }, Step::Summed { sums }, Step::Bucket { digit: found as u32, below, inside }]);
        rank -= below as usize;
        left.retain(|key| of(key) == found as u32);
        if rank == left.len() {
            break;
        }
    }
    // Points that are left are still by position, so that of equal ones the first are taken.
    left.truncate(rank);
    let smallest = left.iter().copied().min().map_or(0.0, lockstep::distance_of);
    let nearer = distances.iter().zip(0..).map(|(&distance, position)| key_of(distance, position));
    let mut found: Vec<Key> = nearer.filter(|&key| lockstep::distance_of(key) < smallest).collect();
    found.append(&mut left);
    found.sort_unstable_by_key(|&key| lockstep::index_of(key));
    found
}
