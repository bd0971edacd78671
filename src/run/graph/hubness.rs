//! Hubness: in many dimensions some points are among the neighbours of very many others, and many of nobody's (Radovanović, Nanopoulos
//! and Ivanović 2010, section 2).

use serde::Serialize;

use super::{Cancelled, KnnGraph};
use crate::progress::Progress;

/// How often each point is among the k nearest neighbours of another: its k-occurrence, N_k.
///
/// # Errors
/// [`Cancelled`].
pub fn occurrences(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Vec<u32>, Cancelled> {
    let mut occurrences = vec![0; graph.len()];
    graph.blocks(progress, |block| {
        for point in block {
            graph.of(point).0.iter().for_each(|&other| occurrences[other as usize] += 1);
        }
    })?;
    Ok(occurrences)
}

/// The distribution of k-occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hubness {
    /// The third standardised moment of N_k, S_Nk of the paper; `None` where all are equal.
    pub skewness: Option<f64>,
    pub mean: f64,
    pub standard_deviation: f64,
    pub max: u32,
    /// The first point with the most.
    #[serde(skip)]
    pub largest: usize,
    /// Points with more than the mean and two standard deviations.
    pub hubs: u64,
    /// Points that are nobody's neighbour.
    pub antihubs: u64,
}

impl Hubness {
    /// `None` of no points.
    pub fn of(occurrences: &[u32]) -> Option<Self> {
        let (n, max) = (occurrences.len() as f64, occurrences.iter().copied().max()?);
        let mean = occurrences.iter().map(|&count| f64::from(count)).sum::<f64>() / n;
        let moment = |power| occurrences.iter().map(|&count| (f64::from(count) - mean).powi(power)).sum::<f64>() / n;
        let standard_deviation = moment(2).sqrt();
        let many = mean + 2.0 * standard_deviation;
        Some(Self {
            skewness: (standard_deviation > 0.0).then(|| moment(3) / standard_deviation.powi(3)),
            mean,
            standard_deviation,
            max,
            largest: occurrences.iter().position(|&count| count == max).unwrap_or(0),
            hubs: occurrences.iter().filter(|&&count| f64::from(count) > many).count() as u64,
            antihubs: occurrences.iter().filter(|&&count| count == 0).count() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{generated, graph, line};
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn by_hand() {
        let record = line(&[0.0, 1.0, 2.5, 10.0], 1);
        let occurrences = occurrences(&graph(&record), &Silent).unwrap();
        assert_eq!(occurrences, [1, 2, 1, 0]);
        let hubness = Hubness::of(&occurrences).unwrap();
        assert_eq!((hubness.mean, hubness.skewness, hubness.max, hubness.largest, hubness.antihubs), (1.0, Some(0.0), 2, 1, 1));
        assert_eq!(Hubness::of(&[2, 2]).unwrap().skewness, None);
        // (2 · 1 − 8)/3 over 2^1.5 by hand: values 0, 3, 3 about 2.
        let skewed = Hubness::of(&[0, 3, 3]).unwrap();
        assert!((skewed.skewness.unwrap() + 2.0 / 2f64.powf(1.5)).abs() < 1e-12, "{skewed:?}");
    }

    #[test]
    fn it_grows_with_the_dimension() {
        let skewness = |d: u32| {
            let record = generated(&format!("gaussian-mixture:n=1000,d={d},clusters=1"), 10);
            let occurrences = occurrences(&graph(&record), &Silent).unwrap();
            assert_eq!(occurrences.iter().sum::<u32>(), 10_000);
            Hubness::of(&occurrences).unwrap().skewness.unwrap()
        };
        let (few, many) = (skewness(2), skewness(50));
        assert!(few < 0.5 && many > 1.5, "{few}, {many}");
    }
}
