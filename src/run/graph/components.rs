//! Connected components of the mutual k-nearest-neighbour graph, in which two points are joined where each is among the other's k nearest (Gowda and
//! Krishna 1978; Brito, Chávez, Quiroz and Yukich 1997).

use rayon::prelude::*;

use super::forest::Forest;
pub use super::forest::Sets;
use super::{Cancelled, KnnGraph};
use crate::progress::Progress;

/// Each point's component; one that is nobody's mutual neighbour is a component by itself.
///
/// # Errors
/// [`Cancelled`].
pub fn components(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<Sets, Cancelled> {
    let mut forest = Forest::new(graph.len());
    graph.blocks(progress, |block| {
        let mutual = |point: usize| {
            let others = graph.of(point).0.iter().copied().filter(move |&other| point < other as usize);
            others.filter(move |&other| graph.of(other as usize).0.contains(&(point as u32))).map(move |other| (point as u32, other))
        };
        let edges: Vec<(u32, u32)> = block.into_par_iter().flat_map_iter(mutual).collect();
        edges.into_iter().for_each(|(a, b)| forest.join(a, b));
    })?;
    Ok(forest.sets(1))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{graph, line};
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn both_must_be_near() {
        // The neighbour of 4 is 2, whose own is 1.
        let record = line(&[0.0, 1.0, 2.0, 4.0, 20.0, 21.0], 1);
        let found = components(&graph(&record), &Silent).unwrap();
        assert_eq!(found.of, [0, 0, 1, 2, 3, 3].map(Some));
        assert_eq!((found.sizes.as_slice(), found.largest()), (&[2, 1, 1, 2][..], 2));
        let record = line(&[0.0, 1.0, 2.0, 4.0, 20.0, 21.0], 5);
        assert_eq!(components(&graph(&record), &Silent).unwrap().sizes, [6]);
    }
}
