//! The largest inner products of queries with the rows of a cloud, by an engine that supports them.

use std::sync::Arc;

use rayon::prelude::*;

use super::{AnswerBatch, Arithmetic, BatchAnswers, BatchError, QueryRows, engine};
use crate::cloud::PointCloud;
use crate::engines::registry;
use crate::exact::{ProductRefiner, products_k};
use crate::knn::inner_product::{InnerProductProblem, Product};
use crate::knn::{Descriptor, Goal};
use crate::memory;
use crate::progress::Progress;
use crate::run::problem::queries;
use crate::run::{LoadedSpec, RunSpec};

/// Limit on queries that a thread answers together.
const BLOCK: usize = 64;

/// The largest inner products of a job's queries.
pub struct LargestProducts {
    products: InnerProductProblem,
    cloud: Arc<PointCloud>,
    queries: QueryRows,
    k: usize,
    pub arithmetic: Arithmetic,
    pub engine: &'static Descriptor,
}

impl LargestProducts {
    pub(super) fn new(loaded: LoadedSpec<'_>, arithmetic: Arithmetic) -> Result<Self, BatchError> {
        let spec = loaded.spec;
        let engine = engine(Goal::LargestProduct, &spec.engine, default_engine)?;
        let k = match arithmetic {
            Arithmetic::F32 => spec.k,
            Arithmetic::File => products_k(spec.k, engine.limits.k),
        };
        let products = build(LoadedSpec { spec: &RunSpec { k, ..spec.clone() }, ..loaded })?;
        let rows = (0..products.shape().q).map(|query| products.query_row(query)).collect();
        Ok(Self {
            products,
            cloud: Arc::clone(loaded.cloud),
            queries: QueryRows::new(loaded, rows)?,
            k: spec.k,
            arithmetic,
            engine,
        })
    }

    pub fn queries(&self) -> usize {
        self.products.shape().q
    }

    pub fn k(&self) -> usize {
        self.k
    }

    /// Passes the products of all queries to `take`.
    ///
    /// # Errors
    /// [`BatchError`], and errors of `take`.
    pub fn for_each<E: From<BatchError>>(
        &self,
        progress: &dyn Progress,
        mut take: impl FnMut(AnswerBatch<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let refiner = match self.arithmetic {
            Arithmetic::F32 => None,
            Arithmetic::File => ProductRefiner::new(&self.products, &self.cloud, &self.queries.cloud),
        };
        let products = largest(&self.products, self.k, self.engine, refiner.as_ref(), progress)?;
        let found = BatchAnswers::Products { k: self.k(), products: &products };
        take(AnswerBatch {
            cloud: &self.cloud,
            queries: self.queries.range(0..self.queries()),
            first: 0,
            found,
        })
    }
}

/// The default engine.
///
/// # Panics
/// If no engine supports inner products.
fn default_engine() -> &'static Descriptor {
    registry::supporting(Goal::LargestProduct).next().expect("an engine finds the largest inner products")
}

/// The problem of a spec, ignoring its metric.
///
/// # Errors
/// [`BatchError::Run`] for the queries, [`BatchError::Products`].
fn build(loaded: LoadedSpec<'_>) -> Result<InnerProductProblem, BatchError> {
    let LoadedSpec { spec, cloud, .. } = loaded;
    Ok(InnerProductProblem::new(cloud, &queries(loaded)?, spec.k, spec.exclude_self)?)
}

/// The k largest inner products of each query, q × k, largest first and ties by row, padded with
/// [`Product::NONE`]: by the rule, or refined by the file's values. The problem may have a larger k.
///
/// # Errors
/// [`BatchError`].
fn largest(
    products: &InnerProductProblem,
    k: usize,
    engine: &Descriptor,
    refiner: Option<&ProductRefiner<'_>>,
    progress: &dyn Progress,
) -> Result<Vec<Product>, BatchError> {
    let open =
        engine.inner_products.ok_or(BatchError::Engine { engine: engine.id, goal: Goal::LargestProduct })?;
    let points = open(products)?;
    let (q, wide_k) = (products.shape().q, products.shape().k);
    let Some(mut found) = q.checked_mul(k).and_then(memory::room) else {
        let needed = (q as u64).saturating_mul(k as u64).saturating_mul(size_of::<Product>() as u64);
        return Err(BatchError::ProductMemory {
            q,
            k,
            needed: needed.div_ceil(1 << 20),
            free: memory::available().unwrap_or(0) >> 20,
        });
    };
    found.resize(q * k, Product::NONE);
    let threads = rayon::current_num_threads();
    // With few queries, each thread gets one block.
    let block = q.div_ceil(threads).clamp(1, BLOCK);
    // Queries between two checks for cancellation.
    let part = block * threads;
    for (number, found) in found.chunks_mut(part * k).enumerate() {
        if progress.cancelled() {
            return Err(BatchError::Cancelled);
        }
        let first = number * part;
        progress.update(first as u64, q as u64);
        found.par_chunks_mut(block * k).enumerate().for_each(|(at, found)| {
            let queries = first + at * block..first + at * block + found.len() / k;
            let mut wide = vec![Product::NONE; queries.len() * wide_k];
            points.search(queries.clone(), &mut wide);
            for ((query, wide), found) in queries.zip(wide.chunks(wide_k)).zip(found.chunks_mut(k)) {
                match refiner {
                    Some(refiner) => refiner.refine(query, wide, found),
                    None => found.copy_from_slice(&wide[..k]),
                }
            }
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::knn::EngineId;
    use crate::knn::inner_product::inner_product;
    use crate::progress::NoProgress;
    use crate::run::{QuerySpec, testing};

    fn cloud(dims: usize, n: usize) -> Arc<PointCloud> {
        let value = |at| f64::from((at as u32).wrapping_mul(2_654_435_761) % 65_521 % 40) - 17.0;
        testing::cloud(dims, (0..dims * n).map(value).collect())
    }

    fn spec(cloud: &PointCloud, k: usize, exclude_self: bool) -> RunSpec {
        RunSpec { exclude_self, ..RunSpec::new(cloud.source().clone(), QuerySpec::All, k) }
    }

    #[test]
    fn each_engine_finds_the_largest_products() {
        for (dims, n, k) in [(1, 50, 7), (3, 1500, 10), (100, 300, 1), (300, 70, 90)] {
            let cloud = cloud(dims, n);
            for exclude_self in [false, true] {
                let products = build(LoadedSpec::new(&spec(&cloud, k, exclude_self), &cloud, None)).unwrap();
                let rows = |of: usize| &products.points()[of * dims..][..dims];
                for engine in registry::supporting(Goal::LargestProduct) {
                    let found = largest(&products, k, engine, None, &NoProgress).unwrap();
                    for (query, found) in found.chunks_exact(k).enumerate() {
                        let others = (0..n).filter(|&row| !exclude_self || row != query);
                        let mut all: Vec<(u32, f64)> =
                            others.map(|row| (row as u32, inner_product(rows(row), rows(query)))).collect();
                        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                        all.resize(all.len().max(k), (u32::MAX, f64::NEG_INFINITY));
                        let found: Vec<(u32, f64)> =
                            found.iter().map(|product| (product.row, product.value)).collect();
                        assert_eq!(found, all[..k], "{} {dims} {n} {k} {query}", engine.id);
                    }
                }
            }
        }
    }

    #[test]
    fn unsupported_product_searches_are_rejected() {
        let cloud = cloud(2, 9);
        let products = build(LoadedSpec::new(&spec(&cloud, 3000, false), &cloud, None)).unwrap();
        let of = |engine: &Descriptor| {
            largest(&products, 3000, engine, None, &NoProgress).unwrap_err().to_string()
        };
        let other = registry::find(EngineId::new("lockstep")).unwrap();
        assert_eq!(of(other), "lockstep computes distances only; use gemm-heap for inner products");
        assert_eq!(of(default_engine()), "k = 3000: the gemm-heap engine supports at most 2048");
        let products = build(LoadedSpec::new(&spec(&cloud, 3, false), &cloud, None)).unwrap();
        assert!(matches!(
            largest(&products, 3, default_engine(), None, &AtomicBool::new(true)),
            Err(BatchError::Cancelled)
        ));
    }
}
