//! The largest inner products by the file's values.
//!
//! Engines compute a product V in f64 from values that are rounded to f32 ([`crate::knn::inner_product`]). It
//! differs from the real product of the file's values by at most c·|p|·|q| + η. With u = 2⁻²⁴ and u' = 2⁻⁵³, c =
//! 2u + u² + (d + 3)·u' for roundings of values, of decimals and of the sum (Higham, "Accuracy and Stability of
//! Numerical Algorithms", 2nd edition, §3.1), without the terms in u if f32 holds the values. η = √d·2⁻¹⁴⁸·(|p| +
//! |q|) covers values below f32's normal range. A row that is not listed has at most the last listed V plus this
//! bound for the longest row. If that is below the k-th largest lower bound in f64, no such row belongs to the
//! answer.

use std::cmp::Ordering;

use num_bigint::BigInt;
use rayon::prelude::*;

use crate::cloud::PointCloud;
use crate::knn::NONE;
use crate::knn::inner_product::{InnerProductProblem, Product};
use crate::order::values;
use crate::scaled::Scale;

/// Integers up to this one are exact in f64.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Covers the roundings of lengths and bounds.
const SLACK: f64 = 1.0 + 1e-12;

/// Products to request from an engine: more than k, so that few queries have to rank all rows.
pub fn products_k(k: usize, largest: usize) -> usize {
    (k + 4 + k / 4).min(largest.max(k))
}

/// Number of longest rows, which are always ranked so that outliers do not widen the bound for the others.
const OUTLIER_COUNT: usize = 16;

/// Ranks an engine's largest products by the file's values.
pub struct ProductRefiner<'a> {
    products: &'a InnerProductProblem,
    cloud: &'a PointCloud,
    queries: &'a PointCloud,
    /// The [`OUTLIER_COUNT`] longest rows.
    outliers: Vec<u32>,
    /// The length of the longest other row.
    longest: f64,
    /// Relative error bound of a product by the engines' rule.
    rule_error: f64,
    /// Relative error bound of a product in f64.
    f64_error: f64,
}

impl<'a> ProductRefiner<'a> {
    /// `None` if the rule is exact: products and sums are integers that f64 represents.
    pub fn new(
        products: &'a InnerProductProblem,
        cloud: &'a PointCloud,
        queries: &'a PointCloud,
    ) -> Option<Self> {
        let (unit, small, dims) = (2f64.powi(-24), 2f64.powi(-53), cloud.dims() as f64);
        let f64_error = (dims + 3.0) * small * SLACK;
        let is_rounded = cloud.is_rounded() || queries.is_rounded();
        let rule_error = if is_rounded { f64_error + 2.0 * unit + unit * unit } else { f64_error };
        let mut rows: Vec<(f64, u32)> =
            (0..cloud.len() as u32).into_par_iter().map(|row| (length(cloud, row as usize), row)).collect();
        let outliers = OUTLIER_COUNT.min(rows.len() - 1);
        rows.select_nth_unstable_by(outliers, |a, b| b.0.total_cmp(&a.0));
        let longest = rows[outliers].0 * SLACK;
        let outliers: Vec<(f64, u32)> = rows[..outliers].to_vec();
        let largest = outliers.iter().map(|outlier| outlier.0 * SLACK).fold(longest, f64::max);
        let query_lengths =
            (0..products.shape().q).map(|query| length(queries, products.query_row(query) as usize));
        let are_whole = || {
            [products.points(), products.queries()]
                .iter()
                .all(|values| values.par_iter().all(|value| value.trunc() == *value))
        };
        let is_exact = !(is_rounded || cloud.has_long_decimals() || queries.has_long_decimals())
            && largest * query_lengths.fold(0.0, f64::max) * SLACK <= MAX_EXACT
            && are_whole();
        let outliers = outliers.into_iter().map(|(_, row)| row).collect();
        (!is_exact).then_some(Self { products, cloud, queries, outliers, longest, rule_error, f64_error })
    }

    /// Writes the largest products of a query, largest first. `found` are the largest by the rule, at least
    /// as many.
    pub fn refine(&self, query: usize, found: &[Product], refined: &mut [Product]) {
        let (row, own) = (self.products.query_row(query) as usize, self.products.own_row(query));
        let rows = (0..self.cloud.len() as u32).filter(|row| own != Some(*row));
        let (k, query_length) = (refined.len(), length(self.queries, row) * SLACK);
        if query_length == 0.0 {
            let zeros = rows.map(|row| Product { row, value: 0.0 }).chain(std::iter::repeat(Product::NONE));
            refined.iter_mut().zip(zeros).for_each(|(to, product)| *to = product);
            return;
        }
        let error = |relative: f64, length: f64| {
            let small = (self.cloud.dims() as f64).sqrt() * 2f64.powi(-148);
            relative * length * query_length + small * (length + query_length)
        };
        let target: Vec<f64> =
            (0..self.cloud.dims()).map(|axis| self.queries.coordinate(row, axis)).collect();
        let rank = |row: u32| {
            let terms = target.iter().enumerate();
            let terms = terms.map(|(axis, value)| value * self.cloud.coordinate(row as usize, axis));
            let value = terms.fold(0.0, |sum, term| sum + term);
            (Product { row, value }, error(self.f64_error, length(self.cloud, row as usize) * SLACK))
        };
        let listed: Vec<u32> =
            found.iter().map(|product| product.row).take_while(|&row| row != NONE).collect();
        let outliers = self.outliers.iter().filter(|row| own != Some(**row) && !listed.contains(row));
        let mut ranked: Vec<(Product, f64)> = listed.iter().chain(outliers).map(|&row| rank(row)).collect();
        // The k-th largest product is at least this.
        let at_least = |ranked: &[(Product, f64)]| {
            let mut bounds: Vec<f64> = ranked.iter().map(|(product, error)| product.value - error).collect();
            if bounds.len() < k {
                return f64::NEG_INFINITY;
            }
            *bounds.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a)).1
        };
        let mut least = at_least(&ranked);
        let others =
            found.last().map_or(f64::NEG_INFINITY, |last| last.value + error(self.rule_error, self.longest));
        if listed.len() == found.len() && others >= least {
            // More rows may belong to the largest.
            ranked = rows.map(rank).collect();
            least = at_least(&ranked);
        }
        ranked.retain(|(product, error)| product.value + error >= least);
        ranked.sort_unstable_by(|(a, _), (b, _)| a.order(b));
        let largest_error = ranked.iter().map(|&(_, error)| error).fold(0.0, f64::max);
        let mut ranked: Vec<Product> = ranked.into_iter().map(|(product, _)| product).collect();
        let mut start = 0;
        while start < ranked.len().min(k) {
            let overlaps = |pair: &&[Product]| pair[1].value >= pair[0].value - 2.0 * largest_error;
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
        let first = run[0].row as usize;
        if run[1..].iter().all(|product| self.cloud.rows_are_equal(first, product.row as usize)) {
            let value = run[0].value;
            run.sort_unstable_by_key(|product| product.row);
            run.iter_mut().for_each(|product| product.value = value);
            return;
        }
        let query = values((self.queries, query));
        let point = |product: &Product| values((self.cloud, product.row as usize));
        let scale = Scale::common(run.iter().flat_map(point).chain(query.iter().copied()));
        let exact = run.iter().map(|product| scale.inner_product(&query, &point(product)));
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
    use crate::cloud::{Column, Coordinates, FileValue, Source, Table};
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
        all.retain(|product| products.own_row(query) != Some(product.row));
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

    /// Wrong lists: after refining with error bounds scaled by `bound`, and by the engines' rule alone.
    fn wrong_lists(cloud: &Arc<PointCloud>, k: usize, exclude_self: bool, bound: f64) -> [usize; 2] {
        let queries = Queries::Rows((0..cloud.len() as u32).collect());
        let products = InnerProductProblem::new(cloud, &queries, products_k(k, 2048), exclude_self).unwrap();
        let mut refiner = ProductRefiner::new(&products, cloud, cloud).expect("values are rounded");
        (refiner.rule_error, refiner.f64_error) = (refiner.rule_error * bound, refiner.f64_error * bound);
        let mut wrong = [0, 0];
        for query in 0..cloud.len() {
            let (found, mut refined) = (ranked(&products, query), vec![Product::NONE; k]);
            refiner.refine(query, &found, &mut refined);
            let mut expected = oracle(cloud, query);
            expected.retain(|&row| !exclude_self || row as usize != query);
            expected.resize(expected.len().max(k), NONE);
            let rows = |list: &[Product]| list.iter().map(|product| product.row).collect::<Vec<_>>();
            wrong[0] += usize::from(rows(&refined) != expected[..k]);
            wrong[1] += usize::from(rows(&found)[..k] != expected[..k]);
            assert!(refined.windows(2).all(|pair| pair[0].value >= pair[1].value));
        }
        wrong
    }

    #[test]
    fn products_are_in_exact_order() {
        let mut wrong_by_the_rule = 0;
        for (dims, decimals, step, offset) in
            [(1, true, 0.1, -0.7), (3, true, 1e-3, 5e5), (3, true, 0.1, -1.1), (40, false, 1e-7, 1.0)]
        {
            let value = |at: usize| offset + (at * 7919 % 23) as f64 * step;
            let mut values: Vec<f64> = (0..58 * dims).map(value).collect();
            // A zero row and an outlier.
            values.extend(vec![0.0; dims]);
            values.extend(vec![-1e7; dims]);
            let cloud = cloud(dims, decimals, values);
            for (k, exclude_self) in [(1, false), (7, true), (60, false), (70, true)] {
                let [wrong, by_the_rule] = wrong_lists(&cloud, k, exclude_self, 1.0);
                assert_eq!(wrong, 0, "{dims} {k} {step}");
                wrong_by_the_rule += by_the_rule;
            }
        }
        assert!(wrong_by_the_rule > 100, "{wrong_by_the_rule}: the data is too easy");
    }

    #[test]
    fn a_bound_that_is_too_small_gives_wrong_lists() {
        // Many products are equal, but not in f64.
        let value = |at: usize| (at * 7919 % 23) as f64 * 0.1 - 1.1;
        let cloud = cloud(3, true, (0..60 * 3).map(value).collect());
        assert!(wrong_lists(&cloud, 7, false, 0.0)[0] > 0);
    }

    #[test]
    fn integer_products_need_no_refining() {
        let cloud = cloud(2, false, (0..40).map(f64::from).collect());
        let products = InnerProductProblem::new(&cloud, &Queries::Rows(vec![3]), 5, false).unwrap();
        assert!(ProductRefiner::new(&products, &cloud, &cloud).is_none());
    }
}
