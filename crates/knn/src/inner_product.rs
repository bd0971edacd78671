//! The k largest inner products with each query (maximum inner product search), by one rule for all engines.
//!
//! An inner product is not a distance: a row often has a larger product with another row than with itself,
//! and no origin may be subtracted. It is therefore a problem separate from [`Problem`](super::Problem), on
//! the file's values rounded to f32, in file order:
//! ```text
//! acc = 0; for j in 0..d { acc = acc + p[j] · q[j] }
//! ```
//!
//! in f64, in dimension order. A product of two f32 values is exact in f64 (24 + 24 bits, exponents from −298
//! to 256), so each step rounds once, with or without fused multiply-add, and no sum overflows. Results are
//! sorted by descending product, then ascending row.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{EngineError, NONE, Queries, Shape};
use crate::cloud::PointCloud;

/// A row and its inner product with a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Product {
    /// [`NONE`] if there are fewer than k rows.
    pub row: u32,
    /// −∞ for a missing row.
    pub value: f64,
}

impl Product {
    pub const NONE: Self = Self { row: NONE, value: f64::NEG_INFINITY };

    /// The order of answers: largest product first, then smallest row.
    pub fn order(&self, other: &Self) -> Ordering {
        other.value.total_cmp(&self.value).then(self.row.cmp(&other.row))
    }
}

/// The inner product of two rows by the module's rule.
pub fn inner_product(p: &[f32], q: &[f32]) -> f64 {
    p.iter().zip(q).fold(0.0, |sum, (&p, &q)| sum + f64::from(p) * f64::from(q))
}

/// Why inner products cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProductError {
    #[error("q = 0: there are no queries")]
    NoQueries,
    #[error("invalid query row {row}: must be between 0 and {last}", last = .rows - 1)]
    Row { row: u32, rows: usize },
    #[error("queries have {queries} dimensions, but the data has {data}")]
    Dimensions { queries: usize, data: usize },
    /// A value that fits f32 only after subtracting its axis's origin.
    #[error("row {record}, column `{column}`: {value:e} does not fit a 32-bit float; rescale the column")]
    Wide { record: u64, column: String, value: f64 },
}

/// n points and q queries in d dimensions, and the number of products to find.
pub struct InnerProductProblem {
    dims: usize,
    k: usize,
    points: Rows,
    queries: Rows,
    /// The row of each query in its cloud; `None` is the identity.
    query_rows: Option<Vec<u32>>,
    /// Whether a query's own row is excluded.
    exclude_self: bool,
}

/// Row-major values as in the file.
enum Rows {
    OfCloud(Arc<PointCloud>),
    Own(Vec<f32>),
}

impl Rows {
    /// A cloud's rows, all or selected. Shares the cloud's array if all are requested and no axis has an
    /// origin.
    fn from_cloud(cloud: &Arc<PointCloud>, rows: Option<&[u32]>) -> Result<Self, ProductError> {
        let dims = cloud.dims();
        let about_zero = cloud.axes().iter().all(|axis| axis.origin == 0.0);
        if rows.is_none() && about_zero {
            return Ok(Self::OfCloud(Arc::clone(cloud)));
        }
        let mut values = vec![0.0; rows.map_or(cloud.len(), <[u32]>::len) * dims];
        values.par_chunks_mut(dims).enumerate().try_for_each(|(at, values)| {
            let row = rows.map_or(at, |rows| rows[at] as usize);
            if about_zero {
                values.copy_from_slice(cloud.point(row));
                return Ok(());
            }
            for (axis, value) in values.iter_mut().enumerate() {
                let exact = cloud.coordinate(row, axis);
                *value = exact as f32;
                if !value.is_finite() {
                    return Err(ProductError::Wide {
                        record: cloud.record(row),
                        column: cloud.axes()[axis].name.clone(),
                        value: exact,
                    });
                }
            }
            Ok(())
        })?;
        Ok(Self::Own(values))
    }

    fn as_slice(&self) -> &[f32] {
        match self {
            Self::OfCloud(cloud) => cloud.points(),
            Self::Own(values) => values,
        }
    }
}

impl InnerProductProblem {
    /// # Errors
    /// [`ProductError`].
    pub fn new(
        cloud: &Arc<PointCloud>,
        queries: &Queries,
        k: usize,
        exclude_self: bool,
    ) -> Result<Self, ProductError> {
        let dims = cloud.dims();
        let (coordinates, query_rows) = match queries {
            Queries::Rows(rows) => {
                if let Some(&row) = rows.iter().find(|&&row| row as usize >= cloud.len()) {
                    return Err(ProductError::Row { row, rows: cloud.len() });
                }
                (Rows::from_cloud(cloud, Some(rows))?, Some(rows.clone()))
            }
            Queries::Cloud(queries) if queries.dims() != dims => {
                return Err(ProductError::Dimensions { queries: queries.dims(), data: dims });
            }
            Queries::Cloud(queries) => (Rows::from_cloud(queries, None)?, None),
        };
        if coordinates.as_slice().is_empty() {
            return Err(ProductError::NoQueries);
        }
        let exclude_self = exclude_self && query_rows.is_some();
        let points = Rows::from_cloud(cloud, None)?;
        Ok(Self { dims, k, points, queries: coordinates, query_rows, exclude_self })
    }

    pub fn shape(&self) -> Shape {
        Shape {
            n: self.points().len() / self.dims,
            q: self.queries().len() / self.dims,
            d: self.dims,
            k: self.k,
        }
    }

    /// n × d, row-major.
    pub fn points(&self) -> &[f32] {
        self.points.as_slice()
    }

    /// q × d, row-major.
    pub fn queries(&self) -> &[f32] {
        self.queries.as_slice()
    }

    /// The row of a query in its cloud.
    pub fn query_row(&self, query: usize) -> u32 {
        self.query_rows.as_ref().map_or(query as u32, |rows| rows[query])
    }

    /// The row excluded from a query's answers, if any.
    pub fn own_row(&self, query: usize) -> Option<u32> {
        self.exclude_self.then(|| self.query_row(query))
    }
}

/// Points prepared for a search for the largest inner products.
pub trait InnerProductSearch: Sync {
    /// Finds the k largest of each query in a range, on this thread, and writes them to `found`, largest
    /// first, padded with [`Product::NONE`].
    fn search(&self, queries: Range<usize>, found: &mut [Product]);
}

/// Prepares the points, on the CPU.
pub type Opener =
    for<'a> fn(&'a InnerProductProblem) -> Result<Box<dyn InnerProductSearch + 'a>, EngineError>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Column, Source, Table};

    fn cloud(names: &[&str], values: Vec<f64>) -> Arc<PointCloud> {
        let columns = names.iter().map(|name| Column { name: (*name).to_owned() }).collect();
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        Arc::new(PointCloud::from_table(Table { columns, values }, source, None, false).unwrap())
    }

    #[test]
    fn terms_are_summed_in_dimension_order() {
        let huge = 2f32.powi(60);
        // 2¹²⁰ + 1 rounds to 2¹²⁰ in f64, so a 1 added before the subtraction is lost.
        assert_eq!(inner_product(&[huge, 1.0, -huge], &[huge, 1.0, huge]), 0.0);
        assert_eq!(inner_product(&[huge, -huge, 1.0], &[huge, huge, 1.0]), 1.0);
        assert_eq!(inner_product(&[f32::MAX; 2], &[f32::MAX; 2]), 2.0 * f64::from(f32::MAX).powi(2));
        assert_eq!(inner_product(&[f32::from_bits(1)], &[f32::from_bits(1)]), 2f64.powi(-298));
    }

    #[test]
    fn inner_products_are_independent_of_the_origin() {
        // Coordinates far from 0 are stored relative to an origin, which must not change an inner product.
        let far = cloud(&["x", "y"], vec![4_000_000.3, 1.0, 4_000_001.6, 2.0, 4_000_000.8, 3.0]);
        assert_ne!(far.axes()[0].origin, 0.0, "the test needs an origin");
        let products = InnerProductProblem::new(&far, &Queries::Rows(vec![1]), 1, true).unwrap();
        assert_eq!(
            products.points(),
            [4_000_000.25f64, 1.0, 4_000_001.5, 2.0, 4_000_000.75, 3.0].map(|value| value as f32)
        );
        assert_eq!((products.queries(), products.own_row(0)), (&[4_000_001.5f32, 2.0][..], Some(1)));
        let shape = Shape { n: 3, q: 1, d: 2, k: 1 };
        assert_eq!(products.shape(), shape);
        let wrong = InnerProductProblem::new(&far, &Queries::Rows(vec![3]), 1, true).err().unwrap();
        assert_eq!(wrong.to_string(), "invalid query row 3: must be between 0 and 2");
        assert_eq!(
            InnerProductProblem::new(&far, &Queries::Rows(Vec::new()), 1, true).err(),
            Some(ProductError::NoQueries)
        );
        let other = InnerProductProblem::new(&far, &Queries::Cloud(cloud(&["x"], vec![1.0])), 1, false)
            .err()
            .unwrap();
        assert_eq!(other.to_string(), "queries have 1 dimensions, but the data has 2");
    }
}
