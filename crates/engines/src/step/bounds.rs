//! A lower bound on the distances of a cluster's points: DIST(q, c) of the paper, minus a margin for rounding
//! (STEP §3.3, §4.1).
//!
//! Twin of `cuda/step/bounds.cuh`; [`docs/step.md`] has the proof. Both devices compute it by the same
//! additions, multiplications, divisions and square roots in f64, each rounded once, and round it down to
//! f32.
//!
//! [`docs/step.md`]: https://github.com/warpscope/warpscope/blob/main/docs/step.md

use super::queue::WARP;
use crate::knn::Metric;
use crate::lockstep::{Key, Lanes, key_of};

/// Bounding spheres, in groups of 32 clusters. For metrics between unit vectors they are cones.
#[derive(Clone, Debug)]
pub struct Spheres {
    pub metric: Metric,
    pub dims: usize,
    pub count: usize,
    /// Group by group, axis by axis.
    pub centres: Vec<Lanes<f64, WARP>>,
    /// Each cluster's radius, or the cosine of its angular radius.
    pub reaches: Vec<Lanes<f64, WARP>>,
    /// The norms of the centres, for cones.
    pub norms: Vec<Lanes<f64, WARP>>,
    pub margins: Margins,
}

/// Margins for rounding, for d dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Margins {
    /// For distances and angles from a centre, in f64: a factor below 1 for a distance; a term added to a
    /// cosine.
    pub centre: f64,
    /// For a distance in f32 by the rule that all engines share: a factor below 1 …
    pub rule: f64,
    /// … and a term that is subtracted, because squares may underflow.
    pub underflow: f64,
}

/// Below this length, the centre of a ball around unit vectors does not give a direction.
const SHORTEST_AXIS: f64 = 1e-3;

/// Upper bound on how much too small the computed cosine of a difference of angles may be.
const COSINE: f64 = 1.0 / (1u64 << 48) as f64;

impl Margins {
    pub fn new(metric: Metric, dims: usize) -> Self {
        let d = dims as f64;
        let (f32_step, f64_step) = (2f64.powi(-24), 2f64.powi(-52));
        let (centre, steps) = match metric {
            Metric::L2 => (1.0 - (d + 4.0) * f64_step, d + 3.0),
            // Four more, because unit vectors in f32 may each be shorter than 1 by slightly more than 2⁻²⁴.
            Metric::Angular | Metric::Cosine | Metric::Haversine | Metric::Sky => {
                ((d + 8.0) * f64_step, d + 7.0)
            }
        };
        Self { centre, rule: (1.0 - steps * f32_step).max(0.0), underflow: d * 2f64.powi(-149) }
    }
}

/// A bounding sphere, or a cone.
#[derive(Clone, Debug)]
pub struct Sphere {
    centre: Vec<f64>,
    reach: f64,
    norm: f64,
}

impl Sphere {
    /// The sphere about a given centre that contains all points, rows of f32 and at least one. No CUDA
    /// counterpart: the host makes the spheres.
    pub fn new<'a>(
        metric: Metric,
        centre: Vec<f64>,
        points: impl Iterator<Item = &'a [f32]> + Clone,
    ) -> Self {
        let margins = Margins::new(metric, centre.len());
        if metric == Metric::L2 {
            let farthest = points.map(|point| squared_distance(point, &centre)).fold(0.0, f64::max);
            // Scaled up, because a computed distance may be too small.
            return Self { centre, reach: farthest.sqrt() * (2.0 - margins.centre), norm: 0.0 };
        }
        let mut centre = centre;
        if length(&centre) < SHORTEST_AXIS {
            // Points in all directions have no axis, so any direction is valid.
            let first = points.clone().next().expect("a cluster has points");
            centre = first.iter().map(|&value| f64::from(value)).collect();
        }
        let norm = length(&centre);
        let least = points.map(|point| cosine(point, &centre, norm)).fold(1.0, f64::min);
        Self { reach: (least - margins.centre).max(-1.0), centre, norm }
    }
}

impl Spheres {
    /// Arranges spheres in groups. No CUDA counterpart: the host allocates them.
    pub fn new(metric: Metric, dims: usize, spheres: &[Sphere]) -> Self {
        let (count, groups) = (spheres.len(), spheres.len().div_ceil(WARP));
        let zeros = |rows: usize| vec![[0.0; WARP]; rows];
        let (mut centres, mut reaches, mut norms) = (zeros(groups * dims), zeros(groups), zeros(groups));
        for (cluster, sphere) in spheres.iter().enumerate() {
            let (group, lane) = (cluster / WARP, cluster % WARP);
            for (axis, &value) in sphere.centre.iter().enumerate() {
                centres[group * dims + axis][lane] = value;
            }
            (reaches[group][lane], norms[group][lane]) = (sphere.reach, sphere.norm);
        }
        Self { metric, dims, count, centres, reaches, norms, margins: Margins::new(metric, dims) }
    }

    /// The bound and the number of each cluster of a group; meaningless for padding. `norm` is the query's,
    /// by [`Self::norm_of`].
    #[inline(always)]
    pub fn keys(&self, group: usize, query: &[f32], norm: f64) -> Lanes<Key, WARP> {
        let centres = &self.centres[group * self.dims..(group + 1) * self.dims];
        let (reaches, norms) = (&self.reaches[group], &self.norms[group]);
        let mut acc = [0.0f64; WARP];
        let mut keys = [0; WARP];
        if self.metric == Metric::L2 {
            for (centre, &q) in centres.iter().zip(query) {
                acc = add_squared_difference(centre, f64::from(q), acc);
            }
            for lane in 0..WARP {
                keys[lane] = key_of(
                    beyond_ball(acc[lane], reaches[lane], &self.margins),
                    (group * WARP + lane) as u32,
                );
            }
        } else {
            for (centre, &q) in centres.iter().zip(query) {
                acc = add_product(centre, f64::from(q), acc);
            }
            for lane in 0..WARP {
                let cosine = acc[lane] / (norm * norms[lane]);
                keys[lane] =
                    key_of(beyond_cone(cosine, reaches[lane], &self.margins), (group * WARP + lane) as u32);
            }
        }
        keys
    }

    /// The norm of a query, which only cones need.
    #[inline(always)]
    pub fn norm_of(&self, query: &[f32]) -> f64 {
        if self.metric == Metric::L2 { 0.0 } else { row_length(query) }
    }
}

/// Adds one dimension of a distance. Passed by value, so that the compiler keeps the lanes in vector
/// registers.
#[inline(always)]
fn add_squared_difference(centres: &Lanes<f64, WARP>, q: f64, mut acc: Lanes<f64, WARP>) -> Lanes<f64, WARP> {
    for lane in 0..WARP {
        let t = q - centres[lane];
        acc[lane] = t.mul_add(t, acc[lane]);
    }
    acc
}

#[inline(always)]
fn add_product(centres: &Lanes<f64, WARP>, q: f64, mut acc: Lanes<f64, WARP>) -> Lanes<f64, WARP> {
    for lane in 0..WARP {
        acc[lane] = q.mul_add(centres[lane], acc[lane]);
    }
    acc
}

/// A lower bound on the distances by the rule of a ball's points, given the query's squared distance from its
/// centre.
#[inline(always)]
fn beyond_ball(squared: f64, radius: f64, margins: &Margins) -> f32 {
    let gap = squared.sqrt() * margins.centre - radius;
    let gap = if gap > 0.0 { gap } else { 0.0 };
    round_down(gap * gap * margins.rule - margins.underflow)
}

/// The same for a cone, given the cosine of the angle between query and axis, and the cosine `reach` of its
/// angular radius: the chord of the difference of both angles.
#[inline(always)]
fn beyond_cone(cosine: f64, reach: f64, margins: &Margins) -> f32 {
    let near = cosine + margins.centre;
    let between = near * reach + sine(near) * sine(reach) + COSINE;
    let chord = if near < reach { 2.0 - 2.0 * between } else { 0.0 };
    round_down(chord * margins.rule - margins.underflow)
}

/// The sine of an angle up to a half turn, from its cosine.
#[inline(always)]
fn sine(cosine: f64) -> f64 {
    let squared = (1.0 - cosine) * (1.0 + cosine);
    (if squared > 0.0 { squared } else { 0.0 }).sqrt()
}

/// The largest f32 that is not above `value`; 0 if that is negative.
#[inline(always)]
fn round_down(value: f64) -> f32 {
    let value = if value > 0.0 { value } else { 0.0 };
    let nearest = value as f32;
    if f64::from(nearest) > value { f32::from_bits(nearest.to_bits() - 1) } else { nearest }
}

#[inline(always)]
fn row_length(row: &[f32]) -> f64 {
    let mut acc = 0.0f64;
    for &value in row {
        acc = f64::from(value).mul_add(f64::from(value), acc);
    }
    acc.sqrt()
}

/// The norm of a centre. No CUDA counterpart: the host makes the spheres.
fn length(centre: &[f64]) -> f64 {
    centre.iter().fold(0.0, |acc: f64, &value| value.mul_add(value, acc)).sqrt()
}

/// A point's squared distance from a centre. No CUDA counterpart: the host makes the spheres.
fn squared_distance(point: &[f32], centre: &[f64]) -> f64 {
    point.iter().zip(centre).fold(0.0, |acc: f64, (&p, centre)| {
        let t = f64::from(p) - centre;
        t.mul_add(t, acc)
    })
}

/// The cosine of the angle between a point and an axis. No CUDA counterpart: the host makes the spheres.
fn cosine(point: &[f32], axis: &[f64], norm: f64) -> f64 {
    point.iter().zip(axis).fold(0.0, |acc: f64, (&p, axis)| f64::from(p).mul_add(*axis, acc))
        / (row_length(point) * norm)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::spheres::{Method, Rows};
    use super::*;
    use crate::lockstep::distance_of;

    fn distance(p: &[f32], q: &[f32]) -> f32 {
        p.iter().zip(q).fold(0.0, |acc, (p, q)| {
            let t = p - q;
            t.mul_add(t, acc)
        })
    }

    /// A query's bound for the sphere that a method finds around points.
    fn bound(metric: Metric, method: Method, points: &[Vec<f32>], query: &[f32]) -> f32 {
        let dims = query.len();
        let values: Vec<f64> = points.iter().flatten().map(|&value| f64::from(value)).collect();
        let sphere = Sphere::new(
            metric,
            method.centre(Rows { values: &values, dims }),
            points.iter().map(Vec::as_slice),
        );
        let spheres = Spheres::new(metric, dims, &[sphere]);
        distance_of(spheres.keys(0, query, spheres.norm_of(query))[0])
    }

    fn method() -> impl Strategy<Value = Method> {
        prop_oneof![Just(Method::Naive), Just(Method::Ritter), Just(Method::Exact)]
    }

    /// Points around a location, which may be far from the origin, in a region of any size; and a query
    /// inside, near or far from it.
    fn cluster() -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<f32>)> {
        let shape = (
            1usize..9,
            -60i32..55,
            prop_oneof![Just(0.0), -1e6f64..1e6],
            prop_oneof![Just(0.0), 0.0f64..4.0, 0.0f64..1e4],
        );
        shape.prop_flat_map(|(dims, exponent, place, away)| {
            let unit = || prop::collection::vec(-1.0f64..1.0, dims);
            (prop::collection::vec(unit(), 1..20), unit()).prop_map(move |(points, query)| {
                let at = |value: f64| ((value + place) * 2f64.powi(exponent)) as f32;
                let points =
                    points.iter().map(|point| point.iter().map(|&value| at(value)).collect()).collect();
                (points, query.iter().map(|&value| at(value * (1.0 + away))).collect())
            })
        })
    }

    fn unit(row: &[f32]) -> Option<Vec<f32>> {
        let norm = row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        (norm > 0.0).then(|| row.iter().map(|&value| (f64::from(value) / norm) as f32).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

        /// The proof of docs/step.md as a property: no point of a cluster is nearer than its bound, by the
        /// rule.
        #[test]
        fn ball_bound_is_a_lower_bound((points, query) in cluster(), method in method()) {
            let bound = bound(Metric::L2, method, &points, &query);
            for point in &points {
                prop_assert!(
                    bound <= distance(point, &query),
                    "{point:?} from {query:?}: {bound:e} > {:e}",
                    distance(point, &query)
                );
            }
        }

        /// The same for directions, in wide and narrow cones.
        #[test]
        fn cone_bound_is_a_lower_bound((points, query) in cluster(), method in method()) {
            let points: Vec<Vec<f32>> = points.iter().filter_map(|point| unit(point)).collect();
            let Some(query) = unit(&query) else { return Ok(()) };
            prop_assume!(!points.is_empty());
            let bound = bound(Metric::Angular, method, &points, &query);
            for point in &points {
                prop_assert!(
                    bound <= distance(point, &query),
                    "{point:?} from {query:?}: {bound:e} > {:e}",
                    distance(point, &query)
                );
            }
        }
    }

    /// Bounds are tight: for a single point, nearly its own distance.
    #[test]
    fn bounds_are_tight() {
        for method in [Method::Naive, Method::Ritter, Method::Exact] {
            let alone = bound(Metric::L2, method, &[vec![1e6, 2.0]], &[1e6 + 3.0, 6.0]);
            assert!((24.999..=25.0).contains(&alone), "{alone}");
            let point = unit(&[1.0, 1.0, 0.0]).unwrap();
            let angle = bound(Metric::Angular, method, std::slice::from_ref(&point), &[1.0, 0.0, 0.0]);
            let true_chord = distance(&point, &[1.0, 0.0, 0.0]);
            assert!(angle <= true_chord && angle > 0.999_99 * true_chord, "{angle} {true_chord}");
            let inside = bound(Metric::L2, method, &[vec![0.0, 0.0], vec![2.0, 0.0]], &[1.5, 0.0]);
            assert_eq!(inside, 0.0);
        }
    }

    #[test]
    fn points_surrounding_the_origin_have_a_zero_bound() {
        let points: Vec<Vec<f32>> =
            [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]].map(|point| point.to_vec()).to_vec();
        assert_eq!(bound(Metric::Angular, Method::Exact, &points, &[0.6, 0.8]), 0.0);
    }

    #[test]
    fn round_down_never_exceeds_the_value() {
        assert_eq!(
            (round_down(0.1), round_down(-1.0), round_down(f64::NAN), round_down(1.0)),
            (0.1f32.next_down(), 0.0, 0.0, 1.0)
        );
        assert_eq!(
            (round_down(1e300), round_down(1e-60), round_down(2f64.powi(-149))),
            (f32::MAX, 0.0, f32::from_bits(1))
        );
    }
}
