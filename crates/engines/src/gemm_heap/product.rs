//! The matrix product, by the crate `gemm`.

use gemm::Parallelism;

/// Computes the products of points and queries in f32; the crate determines the order of summation.
/// `columns`: the points, dimension by dimension; `queries`: row-major. `products` becomes one row per query.
pub fn multiply(columns: &[f32], queries: &[f32], dims: usize, products: &mut Vec<f32>) {
    let (points, count) = (columns.len() / dims, queries.len() / dims);
    assert!(columns.len() == points * dims && queries.len() == count * dims, "whole points and queries");
    products.resize(points * count, 0.0);
    let stride = |length: usize| length as isize;
    // SAFETY: element (i, j) of the destination is at i + points·j, of the points at i + points·j, of the
    // queries at i + dims·j. All are inside the slices, whose lengths were checked above, and the destination
    // is borrowed mutably.
    unsafe {
        gemm::gemm(
            points,
            count,
            dims,
            products.as_mut_ptr(),
            stride(points),
            1,
            false,
            columns.as_ptr(),
            stride(points),
            1,
            queries.as_ptr(),
            stride(dims),
            1,
            0.0f32,
            1.0f32,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_matrices_are_multiplied_exactly() {
        for (points, count, dims) in [(1, 1, 1), (16, 1, 2), (48, 5, 3), (1024, 64, 17), (32, 7, 600)] {
            let value = |row: usize, axis: usize| ((row * 7 + axis * 3) % 11) as f32 - 5.0;
            let columns: Vec<f32> =
                (0..dims).flat_map(|axis| (0..points).map(move |point| value(point, axis))).collect();
            let queries: Vec<f32> =
                (0..count).flat_map(|query| (0..dims).map(move |axis| value(query + 100, axis))).collect();
            // Old contents are overwritten, not read.
            let mut products = vec![f32::NAN; 7];
            multiply(&columns, &queries, dims, &mut products);
            assert_eq!(products.len(), points * count);
            for (at, &product) in products.iter().enumerate() {
                let expected: f32 =
                    (0..dims).map(|axis| value(at % points, axis) * value(at / points + 100, axis)).sum();
                assert_eq!(product, expected, "{points} × {count} × {dims} at {at}");
            }
        }
    }
}
