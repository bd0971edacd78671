//! The largest inner products by the file's values.
//!
//! Engines compute a product V in f64 from values that are rounded to f32 ([`crate::knn::inner_product`]).
//! With u = 2⁻²⁴ and u' = 2⁻⁵³, V differs from the real product of the file's values by at most c·|p|·|q| + η, where c
//! = 2u + u² + (d + 3)·u' for roundings of values, of decimals and of the sum (Higham, "Accuracy and Stability of
//! Numerical Algorithms", 2nd edition, §3.1), without the terms in u if f32 holds the values, and η =
//! √d·2⁻¹⁴⁸·(|p| + |q|) for values below f32's normal range. Rows whose V is at least twice that below the k-th
//! largest V do not belong to the k largest.

use std::cmp::Ordering;

use num_bigint::BigInt;
use rayon::prelude::*;

use crate::cloud::{FileValue, PointCloud};
use crate::knn::NONE;
use crate::knn::inner_product::{InnerProductProblem, Product};
use crate::order::values;
use crate::scaled::Scale;

/// Integers up to this one are exact in f64.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Covers the roundings of lengths and bounds.
const SLACK: f64 = 1.0 + 1e-12;

/// The number of products to ask an engine for, so that few queries need all of them.
pub fn products_k(k: usize, largest: usize) -> usize {
    (k + 4 + k / 4).min(largest.max(k))
}

/// Ranks an engine's largest products by the file's values.
pub struct ProductRefiner<'a> {
    products: &'a InnerProductProblem,
    cloud: &'a PointCloud,
    queries: &'a PointCloud,
    /// The length of the longest row.
    longest: f64,
    /// Relative error bounds of a product: by the engines' rule, and in f64 from the file's values.
    rule: f64,
    relative: f64,
}

impl<'a> ProductRefiner<'a> {
    /// `None` if the rule is exact: products and sums are integers that f64 represents.
    pub fn new(
        products: &'a InnerProductProblem,
        cloud: &'a PointCloud,
        queries: &'a PointCloud,
    ) -> Option<Self> {
        let (unit, small, dims) = (2f64.powi(-24), 2f64.powi(-53), cloud.dims() as f64);
        let relative = (dims + 3.0) * small * SLACK;
        let is_rounded = cloud.is_rounded() || queries.is_rounded();
        let rule = if is_rounded { relative + 2.0 * unit + unit * unit } else { relative };
        let longest = (0..cloud.len()).into_par_iter().map(|row| length(cloud, row));
        let longest = longest.reduce(|| 0.0, f64::max) * SLACK;
        let farthest =
            (0..products.shape().q).map(|query| length(queries, products.query_row(query) as usize));
        let are_whole = || {
            [products.points(), products.queries()]
                .iter()
                .all(|values| values.par_iter().all(|value| value.trunc() == *value))
        };
        let is_exact = !(is_rounded || cloud.has_long_values() || queries.has_long_values())
            && longest * farthest.fold(0.0, f64::max) * SLACK <= MAX_EXACT
            && are_whole();
        (!is_exact).then_some(Self { products, cloud, queries, longest, rule, relative })
    }

    /// Writes the largest products of a query, largest first. `found` are the largest by the rule, at least as
    /// many.
    pub fn refine(&self, query: usize, found: &[Product], refined: &mut [Product]) {
        let row = self.products.query_row(query) as usize;
        let (k, length) = (refined.len(), length(self.queries, row) * SLACK);
        let small = (self.cloud.dims() as f64).sqrt() * 2f64.powi(-148) * (self.longest + length);
        let [rule, in_f64] = [self.rule, self.relative].map(|c| c * self.longest * length + small);
        let count = found.iter().take_while(|product| product.row != NONE).count();
        let least = found[..count].get(k - 1).map_or(f64::NEG_INFINITY, |kth| kth.value - 2.0 * rule);
        let near = found[..count].iter().take_while(|product| product.value >= least).count();
        let target: Vec<f64> =
            (0..self.cloud.dims()).map(|axis| self.queries.coordinate(row, axis)).collect();
        let product = |row: u32| {
            let terms = target.iter().enumerate();
            let terms = terms.map(|(axis, value)| value * self.cloud.coordinate(row as usize, axis));
            Product { row, value: terms.sum() }
        };
        let mut ranked: Vec<Product> = if near == found.len() {
            // More rows may belong to the largest.
            let own = self.products.own_row(query);
            (0..self.cloud.len() as u32).filter(|row| own != Some(*row)).map(product).collect()
        } else {
            found[..near].iter().map(|found| product(found.row)).collect()
        };
        if k < ranked.len() {
            let (_, kth, _) = ranked.select_nth_unstable_by(k - 1, Product::order);
            let least = kth.value - 2.0 * in_f64;
            ranked.retain(|product| product.value >= least);
        }
        ranked.sort_unstable_by(Product::order);
        let mut start = 0;
        while start < ranked.len().min(k) {
            let overlaps = |pair: &&[Product]| pair[1].value >= pair[0].value - 2.0 * in_f64;
            let end = start + 1 + ranked[start..].windows(2).take_while(overlaps).count();
            if end - start > 1 {
                self.sort_exactly(row, &mut ranked[start..end]);
            }
            start = end;
        }
        let all = ranked.into_iter().chain(std::iter::repeat(Product::NONE));
        refined.iter_mut().zip(all).for_each(|(to, product)| *to = product);
    }

    /// Sorts products that f64 does not separate. Equal ones get the same value, and none exceeds the one
    /// before.
    fn sort_exactly(&self, query: usize, run: &mut [Product]) {
        let query = values((self.queries, query));
        let points: Vec<Vec<FileValue>> =
            run.iter().map(|product| values((self.cloud, product.row as usize))).collect();
        let scale = Scale::common(points.iter().flatten().chain(&query).copied());
        let exact = points.iter().map(|point| scale.inner_product(&query, point));
        let mut sorted: Vec<(BigInt, Product)> = exact.zip(run.iter().copied()).collect();
        sorted.sort_by(|(a, one), (b, other)| b.cmp(a).then(one.row.cmp(&other.row)));
        for at in 1..sorted.len() {
            let (before, now) = (sorted[at - 1].1.value, sorted[at].1.value);
            let is_equal = sorted[at - 1].0.cmp(&sorted[at].0) == Ordering::Equal;
            sorted[at].1.value = if is_equal { before } else { now.min(before) };
        }
        run.iter_mut().zip(sorted).for_each(|(to, (_, product))| *to = product);
    }
}

fn length(cloud: &PointCloud, row: usize) -> f64 {
    (0..cloud.dims()).map(|axis| cloud.coordinate(row, axis).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cloud::{Column, Coordinates, Source, Table};
    use crate::knn::Queries;
    use crate::knn::inner_product::inner_product;

    fn cloud(dims: usize, decimals: bool, values: Vec<f64>) -> Arc<PointCloud> {
        let columns = (0..dims).map(|axis| Column { name: format!("c{axis}") }).collect();
        let source = Source::Generate { spec: "test".to_owned(), seed: 0 };
        let values = Coordinates { decimals, ..Table { columns, values }.into() };
        Arc::new(PointCloud::from_table(values, source, None, false).unwrap())
    }

    fn ranked(products: &InnerProductProblem, query: usize) -> Vec<Product> {
        let shape = products.shape();
        let target = &products.queries()[query * shape.d..][..shape.d];
        let rows = products.points().chunks_exact(shape.d).zip(0u32..);
        let mut all: Vec<Product> =
            rows.map(|(point, row)| Product { row, value: inner_product(point, target) }).collect();
        all.sort_by(Product::order);
        all.resize(shape.k.max(all.len()), Product::NONE);
        all.truncate(shape.k);
        all
    }

    /// Rows by the real products with a row.
    fn oracle(cloud: &PointCloud, query: usize) -> Vec<u32> {
        let rows: Vec<Vec<FileValue>> = (0..cloud.len()).map(|row| values((cloud, row))).collect();
        let scale = Scale::common(rows.iter().flatten().copied());
        let exact: Vec<BigInt> = rows.iter().map(|row| scale.inner_product(&rows[query], row)).collect();
        let mut order: Vec<u32> = (0..cloud.len() as u32).collect();
        order.sort_by(|&a, &b| exact[b as usize].cmp(&exact[a as usize]).then(a.cmp(&b)));
        order
    }

    #[test]
    fn products_are_in_exact_order() {
        let mut wrong_by_the_rule = 0;
        for (dims, decimals, step, far) in [(1, true, 0.1, 0.0), (3, true, 1e-3, 5e5), (40, false, 1e-7, 1.0)]
        {
            let value = |at: usize| far + (at * 7919 % 23) as f64 * step;
            let cloud = cloud(dims, decimals, (0..60 * dims).map(value).collect());
            let queries = Queries::Rows((0..60).collect());
            for k in [1, 7, 60, 70] {
                let products =
                    InnerProductProblem::new(&cloud, &queries, products_k(k, 2048), false).unwrap();
                let refiner = ProductRefiner::new(&products, &cloud, &cloud).expect("values are rounded");
                for query in 0..60 {
                    let (found, mut refined) = (ranked(&products, query), vec![Product::NONE; k]);
                    refiner.refine(query, &found, &mut refined);
                    let mut expected = oracle(&cloud, query);
                    expected.resize(expected.len().max(k), NONE);
                    let rows = |list: &[Product]| list.iter().map(|product| product.row).collect::<Vec<_>>();
                    assert_eq!(rows(&refined), expected[..k], "{dims} {k} {query}");
                    assert!(refined.windows(2).all(|pair| pair[0].value >= pair[1].value));
                    wrong_by_the_rule += usize::from(rows(&found)[..k] != expected[..k]);
                }
            }
        }
        assert!(wrong_by_the_rule > 100, "{wrong_by_the_rule}: the data is too easy");
    }

    #[test]
    fn integer_products_need_no_refining() {
        let cloud = cloud(2, false, (0..40).map(f64::from).collect());
        let products = InnerProductProblem::new(&cloud, &Queries::Rows(vec![3]), 5, false).unwrap();
        assert!(ProductRefiner::new(&products, &cloud, &cloud).is_none());
    }
}
