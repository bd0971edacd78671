//! Decides exactly whether a point is within a radius.
//!
//! A radius is a decimal. Under L2 and cosine distance, the comparison is one of integers. Angles are
//! compared by their cosines with the digits of [`sphere`].

use std::cmp::Ordering;
use std::f64::consts::PI;

use num_bigint::BigInt;

use crate::cloud::FileValue;
use crate::cloud::globe::EARTH_RADIUS_KM;
use crate::knn::{Metric, Radius};
use crate::order::signed_square;
use crate::scaled::Scale;
use crate::sphere;

/// The relative error of a radius in f64, and of the chord of its angle.
const ERROR: f64 = 8.0 * f64::EPSILON;

/// A radius for comparisons with distances of rows.
#[derive(Clone, Debug)]
pub struct RadiusTest {
    metric: Metric,
    radius: Radius,
    /// Bounds on the L2 distance of [`RowVectors`](crate::RowVectors) at the radius.
    chord: [f64; 2],
    /// The cosine of the radius as a fixed-point number, for angles.
    cosine: BigInt,
}

impl RadiusTest {
    /// `None` if the radius is negative or NaN.
    pub fn new(metric: Metric, radius: Radius) -> Option<Self> {
        let distance = radius.distance;
        if distance.is_nan() || distance < 0.0 {
            return None;
        }
        let angle = match metric {
            Metric::Sky => distance.to_radians(),
            Metric::Haversine => distance / EARTH_RADIUS_KM,
            _ => distance,
        };
        let chord = match metric {
            Metric::L2 => distance,
            Metric::Cosine => (2.0 * distance).sqrt(),
            _ => 2.0 * (angle.min(PI) / 2.0).sin(),
        };
        // Vectors that point in opposite directions are two apart, whatever the radius beyond that.
        let largest =
            if metric != Metric::L2 && chord * (1.0 + ERROR) >= 2.0 { 3.0 } else { chord * (1.0 + ERROR) };
        let angle = sphere::fixed(radius.typed) / radius.divisor;
        let cosine = match metric {
            Metric::L2 | Metric::Cosine => BigInt::ZERO,
            Metric::Angular | Metric::Sky => sphere::cosine_of(&angle, radius.unit),
            Metric::Haversine => {
                let one = BigInt::from(1) << sphere::BITS;
                let earth = sphere::fixed(FileValue::shortest_decimal(EARTH_RADIUS_KM));
                sphere::cosine_of(&(angle * one / earth), radius.unit)
            }
        };
        Some(Self { metric, radius, chord: [chord * (1.0 - ERROR), largest], cosine })
    }

    /// Whether points whose L2 distance of vectors is within these bounds are within the radius, if they
    /// decide it.
    pub fn decide(&self, at_least: f64, at_most: f64) -> Option<bool> {
        if at_most < self.chord[0] {
            Some(true)
        } else if at_least > self.chord[1] {
            Some(false)
        } else {
            None
        }
    }

    /// Bounds on the L2 distance of vectors at the radius.
    pub fn chord(&self) -> [f64; 2] {
        self.chord
    }

    fn admits(&self, order: Ordering) -> bool {
        if self.radius.open { order.is_lt() } else { order.is_le() }
    }

    /// Whether two rows are within the radius.
    pub fn contains(&self, a: &[FileValue], b: &[FileValue]) -> bool {
        let (radius, one) = (self.radius.typed, FileValue::Decimal { mantissa: 1, exponent: 0 });
        let scale = Scale::common(a.iter().chain(b).copied().chain([radius, one]));
        if self.metric == Metric::L2 {
            let radius = scale.integer(radius);
            return self.admits(scale.squared_distance(a, b).cmp(&(&radius * &radius)));
        }
        let product = signed_square(&scale.inner_product(a, b));
        let lengths = scale.inner_product(a, a) * scale.inner_product(b, b);
        if self.metric == Metric::Cosine {
            // 1 − cos ≤ R where cos ≥ 1 − R.
            let unit = scale.integer(one);
            let bound = signed_square(&(&unit - scale.integer(radius)));
            return self.admits((bound * lengths).cmp(&(product * &unit * &unit)));
        }
        // 90°, 0° and 180° are decided by integers.
        let one = BigInt::from(1) << sphere::BITS;
        let order = if sphere::compare(&self.cosine, &BigInt::ZERO).is_eq() {
            Some(BigInt::ZERO.cmp(&product))
        } else if sphere::compare(&self.cosine, &one).is_eq() {
            Some(lengths.cmp(&product))
        } else if sphere::compare(&self.cosine, &-one).is_eq() {
            Some((-&lengths).cmp(&product))
        } else {
            None
        };
        if let Some(order) = order {
            return self.admits(order);
        }
        let [ours, bound] =
            [(product << sphere::BITS) / lengths, signed_square(&self.cosine) >> sphere::BITS];
        self.admits(sphere::compare(&bound, &ours))
    }

    /// Whether two positions in degrees of longitude and latitude are within the radius.
    pub fn contains_position(&self, [a, b]: [[FileValue; 2]; 2]) -> bool {
        self.admits(sphere::compare(&self.cosine, &sphere::cosine(a, b)))
    }
}
