//! The answers of a batch as bytes, and the turns in which ranks answer.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use bytemuck::Pod;

use crate::cloud::PointCloud;
use crate::knn::{Metric, NONE};
use crate::memory;
use crate::run::{AnswerBatch, BatchAnswers};

/// Even ranges of consecutive queries, answered by the ranks one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    queries: usize,
    world: usize,
    pub count: usize,
}

impl Turns {
    /// The same number of turns for every rank, of at most `limit` queries each.
    pub fn new(queries: usize, world: usize, limit: usize) -> Self {
        let rounds = queries.div_ceil(world.saturating_mul(limit.max(1))).max(1);
        Self { queries, world, count: world * rounds }
    }

    /// The rank that answers a turn.
    pub fn rank(&self, turn: usize) -> usize {
        turn % self.world
    }

    /// The queries of a turn; empty if there are fewer queries than turns. The first never is.
    pub fn queries(&self, turn: usize) -> Range<usize> {
        let start = |turn: usize| (self.queries as u128 * turn as u128).div_ceil(self.count as u128) as usize;
        start(turn)..start(turn + 1)
    }

    /// The queries that a rank answers, in order.
    pub fn of(&self, rank: usize) -> Vec<Range<usize>> {
        let turns = (rank..self.count).step_by(self.world);
        turns.map(|turn| self.queries(turn)).filter(|queries| !queries.is_empty()).collect()
    }
}

/// The k nearest neighbours of a batch as bytes. Other answers have none.
pub fn encode(batch: AnswerBatch<'_>) -> Vec<u8> {
    let BatchAnswers::Nearest { rows, squared, distances, .. } = batch.found else { return Vec::new() };
    let query_rows = batch.queries.map_or(&[][..], |(_, rows)| rows);
    let head = [batch.first as u64, query_rows.len() as u64, u64::from(distances.is_some())];
    [
        bytemuck::cast_slice(&head),
        bytemuck::cast_slice(query_rows),
        bytemuck::cast_slice(rows),
        bytemuck::cast_slice(squared),
        bytemuck::cast_slice::<f64, u8>(distances.unwrap_or_default()),
    ]
    .concat()
}

/// A batch that another rank has answered.
pub struct Answers {
    first: usize,
    query_rows: Vec<u32>,
    rows: Vec<u32>,
    squared: Vec<f32>,
    distances: Option<Vec<f64>>,
}

impl Answers {
    /// Reads the answers of the first of `expected` queries, with k neighbours among `points`.
    ///
    /// # Errors
    /// Errors of reading, and [`ErrorKind::InvalidData`] for anything else.
    pub fn read(
        stream: &mut impl Read,
        expected: Range<usize>,
        k: usize,
        [points, queries]: [&PointCloud; 2],
    ) -> io::Result<Self> {
        let valid = |is: bool| if is { Ok(()) } else { Err(io::Error::from(ErrorKind::InvalidData)) };
        let head: Vec<u64> = read(stream, 3)?;
        let (first, count) = (head[0] as usize, head[1] as usize);
        valid(first == expected.start && (1..=expected.len()).contains(&count) && head[2] <= 1)?;
        let (query_rows, rows, squared) =
            (read::<u32>(stream, count)?, read::<u32>(stream, count * k)?, read(stream, count * k)?);
        let distances = (head[2] == 1).then(|| read(stream, count * k)).transpose()?;
        valid(query_rows.iter().all(|&row| (row as usize) < queries.len()))?;
        valid(rows.iter().all(|&row| row == NONE || (row as usize) < points.len()))?;
        Ok(Self { first, query_rows, rows, squared, distances })
    }

    /// Number of the query after the last one.
    pub fn end(&self) -> usize {
        self.first + self.query_rows.len()
    }

    /// The answers, for queries that are rows of a cloud.
    pub fn batch<'a>(
        &'a self,
        k: usize,
        metric: Metric,
        [points, queries]: [&'a PointCloud; 2],
    ) -> AnswerBatch<'a> {
        let Self { first, query_rows, rows, squared, distances } = self;
        let found = BatchAnswers::Nearest { k, metric, rows, squared, distances: distances.as_deref() };
        AnswerBatch { cloud: points, queries: Some((queries, query_rows)), first: *first, found }
    }
}

/// Reads numbers in the byte order of this machine.
fn read<T: Pod>(stream: &mut impl Read, count: usize) -> io::Result<Vec<T>> {
    let mut values = memory::filled(count, T::zeroed()).map_err(io::Error::other)?;
    stream.read_exact(bytemuck::cast_slice_mut(&mut values))?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::squares;

    #[test]
    fn turns_are_even_and_cover_all_queries() {
        for (queries, world, limit) in
            [(10, 3, 100), (10, 3, 2), (2, 4, 9), (1, 2, 1), (3, 2, 1), (4, 3, 1), (1000, 7, 31), (5, 2, 0)]
        {
            let turns = Turns::new(queries, world, limit);
            let all: Vec<_> = (0..turns.count).map(|turn| turns.queries(turn)).collect();
            assert_eq!(all.iter().cloned().flatten().collect::<Vec<_>>(), Vec::from_iter(0..queries));
            let (least, most) =
                (all.iter().map(Range::len).min().unwrap(), all.iter().map(Range::len).max().unwrap());
            assert!(most - least <= 1 && most <= limit.max(1) && !all[0].is_empty(), "{all:?}");
            assert_eq!(turns.count % world, 0);
            let of_ranks: usize = (0..world).flat_map(|rank| turns.of(rank)).map(|range| range.len()).sum();
            assert_eq!(of_ranks, queries);
        }
        assert_eq!(Turns::new(10, 2, 3).of(1), [3..5, 8..10]);
    }

    #[test]
    fn damaged_answers_are_refused() {
        let cloud = squares(10);
        let batch = |distances| AnswerBatch {
            cloud: &cloud,
            queries: Some((&cloud, &[7, 8])),
            first: 5,
            found: BatchAnswers::Nearest {
                k: 2,
                metric: Metric::L2,
                rows: &[7, NONE, 8, 9],
                squared: &[0.0, f32::INFINITY, 1.0, 2.0],
                distances,
            },
        };
        let read = |mut bytes: &[u8]| Answers::read(&mut bytes, 5..9, 2, [&*cloud, &*cloud]);
        let distances = [0.0, f64::INFINITY, 1.0, 2_f64.sqrt()];
        for distances in [None, Some(&distances[..])] {
            let bytes = encode(batch(distances));
            let answers = read(&bytes).unwrap();
            assert_eq!(
                (answers.end(), encode(answers.batch(2, Metric::L2, [&*cloud, &*cloud]))),
                (7, bytes.clone())
            );
            // Every byte of sizes and rows, and every length.
            for at in 0..48 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x40;
                assert_eq!(read(&damaged).err().map(|why| why.kind()), Some(ErrorKind::InvalidData), "{at}");
            }
            for length in 0..bytes.len() {
                assert!(read(&bytes[..length]).is_err(), "{length}");
            }
        }
    }
}
