//! The centre and scale applied to rows before rounding.

/// Sampled points from which the centre and the spread are estimated.
const SAMPLE: usize = 1024;

/// The centre, subtracted from rows to keep their norms small, and the power of two that scales most rows to
/// about one per axis. They are estimated from a sample by a median and a ninth decile, which are robust to
/// outliers. Any values would be correct; they only affect how tight the filter is.
pub(super) fn frame(rows: &[f32], d: usize) -> (Vec<f32>, f64) {
    let n = rows.len() / d;
    let sample: Vec<&[f32]> = rows.chunks_exact(d).step_by(n.div_ceil(SAMPLE)).collect();
    let mut column = vec![0f32; sample.len()];
    let centre: Vec<f32> = (0..d)
        .map(|axis| {
            column.iter_mut().zip(&sample).for_each(|(value, row)| *value = row[axis]);
            *quantile(&mut column, 0.5)
        })
        .collect();
    let norm = |row: &[f32]| {
        row.iter()
            .zip(&centre)
            .map(|(&value, &centre)| (f64::from(value) - f64::from(centre)).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let mut norms: Vec<f64> = sample.iter().map(|row| norm(row)).collect();
    let most = match *quantile(&mut norms, 0.9) {
        0.0 => norms.iter().copied().fold(0.0, f64::max),
        norm => norm,
    } / (d as f64).sqrt();
    let scale = if most > 0.0 { 2f64.powi(-most.log2().round() as i32) } else { 1.0 };
    (centre, scale)
}

/// The `share` quantile; reorders `values`.
fn quantile<T: PartialOrd>(values: &mut [T], share: f64) -> &T {
    let place = (values.len() as f64 * share) as usize;
    values.select_nth_unstable_by(place, |a, b| a.partial_cmp(b).expect("values are finite")).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_ignore_outliers() {
        let mut rows: Vec<f32> = (0..3000).map(|i| 1e4 + (i % 7) as f32 * 2f32.powi(-6)).collect();
        let (centre, scale) = frame(&rows, 3);
        assert!(centre.iter().all(|&value| (value - 1e4).abs() < 0.1), "{centre:?}");
        assert!((8.0..=64.0).contains(&scale), "{scale}");
        // A distant row must not affect the result.
        rows[..3].fill(1e18);
        assert_eq!(frame(&rows, 3), (centre, scale));
        assert_eq!(frame(&[2.5; 40], 4), (vec![2.5; 4], 1.0));
    }

    /// Brute-force test of the margin in docs/filter.md. A point whose distance by the rule is just below
    /// `max_distance` must survive even if the tensor core loses as much as is assumed, and a much farther
    /// one must not.
    #[test]
    fn filter_margin_is_safe_and_tight() {
        use rand_chacha::ChaCha8Rng;
        use rand_core::{Rng, SeedableRng};
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut unit = move || (rng.next_u32() >> 8) as f32 / 8_388_608.0 - 1.0;
        let (mut pairs, mut kept) = (0, 0);
        for d in [4usize, 16, 33, 128, 960] {
            for (scale, offset, nearness) in [
                (1.0, 0.0, 1.0),
                (1.0, 100.0, 1e-3),
                (1e-3, 1e4, 1.0),
                (1e15, 0.0, 1e-2),
                (1e-15, 0.0, 1.0),
                (1.0, 1e3, 1e-6),
                (1.0, 0.5, 1e-7),
            ] {
                for _ in 0..100 {
                    let query: Vec<f32> = (0..d).map(|_| unit() * scale + offset).collect();
                    let point: Vec<f32> =
                        query.iter().map(|&value| value + unit() * scale * nearness).collect();
                    // Estimate the frame from other rows, so that this pair may be far from its centre.
                    let others: Vec<f32> = (0..9 * d).map(|_| unit() * scale).collect();
                    let (centre, s) = frame(&others, d);
                    let padded = d.next_multiple_of(16) as f64;
                    let epsilon = (padded + 32.0) * 2f64.powi(-20);
                    let round = |row: &[f32]| -> (Vec<f64>, f64) {
                        let exact: Vec<f64> = row
                            .iter()
                            .zip(&centre)
                            .map(|(&value, &centre)| (f64::from(value) - f64::from(centre)) * s)
                            .collect();
                        let rounded: Vec<f64> = exact.iter().map(|&value| bf16(value as f32)).collect();
                        let error =
                            exact.iter().zip(&rounded).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        (rounded, error * (1.0 + 2f64.powi(-20)))
                    };
                    let ((x, e), (y, f)) = (round(&point), round(&query));
                    let norm = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>();
                    let by_the_rule =
                        point.iter().zip(&query).fold(0f32, |acc, (&p, &q)| (p - q).mul_add(p - q, acc));
                    let survives = |max_distance: f32| {
                        let u = 2f64.powi(-24);
                        let r = ((f64::from(max_distance) + d as f64 * 2f64.powi(-149))
                            / (1.0 - (d as f64 + 4.0) * u))
                            .sqrt()
                            * s;
                        let reach = (1.0 + epsilon) * (r + f + 2f64.powi(-50)) + (1.0 + epsilon) * e;
                        let start = reach * reach - (1.0 - epsilon) * (norm(&x) + norm(&y));
                        let products: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 2.0 * x * y).collect();
                        let most = start.abs() + products.iter().map(|product| product.abs()).sum::<f64>();
                        let lost = 1.25 * padded * 2f64.powi(-22) * most;
                        start + products.iter().sum::<f64>() - lost >= 0.0
                    };
                    assert!(
                        survives(by_the_rule.next_up()),
                        "d = {d}, scale {scale}, offset {offset}, nearness {nearness}"
                    );
                    if offset == 0.0 && nearness == 1.0 {
                        pairs += 1;
                        kept += u32::from(survives(by_the_rule * 0.9));
                    }
                }
            }
        }
        assert!(
            pairs == 1000 && kept == 0,
            "{kept} of {pairs} pairs survive although they are a tenth too far"
        );
    }

    fn bf16(value: f32) -> f64 {
        let bits = value.to_bits();
        f64::from(f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000))
    }
}
