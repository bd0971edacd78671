//! Boxes around points, and the bound by which a box is pruned.
//!
//! Twin of `cuda/index/boxes.cuh`. For a query q and a box [lo, hi], c = clamp(q, lo, hi) is the box's
//! nearest point. Rounding is monotone, so for every point p of the box and every axis |fl(pⱼ − qⱼ)| ≥ |fl(cⱼ
//! − qⱼ)|. fma(t, t, acc) is monotone in |t| and in acc. Hence, by induction over the axes, the distance of p
//! by the rule is at least that of c by the same rule, in f32 as computed: no margin is needed.
//! [`key`](Boxes::keys) pairs this bound with the smallest position in the box, so it is at most the key of
//! every point in the box. A box whose key is not below the k-th neighbour's contains no neighbour.

use crate::lockstep::distance::{Coordinates, add_squared_difference};
use crate::lockstep::{Key, Lanes, key_of};

/// Lanes of a warp, children of a node, points of a leaf.
pub const WARP: usize = 32;

/// The boxes of one height of the tree, in groups of 32 siblings; the last group is padded with empty boxes.
#[derive(Clone, Debug)]
pub struct Boxes {
    dims: usize,
    count: usize,
    /// A group's least coordinates axis by axis, then its greatest.
    corners: Vec<Coordinates<WARP>>,
    /// The smallest position in each box.
    smallest: Vec<Lanes<u32, WARP>>,
    /// The code of the first point below each box.
    first_codes: Vec<Lanes<u64, WARP>>,
}

impl Boxes {
    /// `count` empty boxes. No CUDA counterpart: the host allocates them.
    pub fn empty(count: usize, dims: usize) -> Self {
        let groups = count.div_ceil(WARP);
        let (low, high) = (Coordinates([f32::INFINITY; WARP]), Coordinates([f32::NEG_INFINITY; WARP]));
        let corners =
            (0..groups).flat_map(|_| (0..2 * dims).map(|row| if row < dims { low } else { high })).collect();
        Self {
            dims,
            count,
            corners,
            smallest: vec![[u32::MAX; WARP]; groups],
            first_codes: vec![[u64::MAX; WARP]; groups],
        }
    }

    /// The number of boxes, without padding. No CUDA counterpart: a parameter of the kernel.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of real boxes in a group. No CUDA counterpart: a subtraction.
    #[inline(always)]
    pub fn in_group(&self, group: usize) -> u32 {
        (self.count - group * WARP).min(WARP) as u32
    }

    /// Bytes of `count` boxes. No CUDA counterpart: the host reserves them.
    pub fn bytes(count: usize, dims: usize) -> u64 {
        (count.next_multiple_of(WARP) * (2 * dims + 3) * 4) as u64
    }

    /// The codes of the first points below the boxes of a group. No CUDA counterpart: the kernel reads memory
    /// directly.
    #[inline(always)]
    pub fn first_codes(&self, group: usize) -> &Lanes<u64, WARP> {
        &self.first_codes[group]
    }

    /// Sets the code of the first point below a box. No CUDA counterpart: the kernel writes to memory
    /// directly.
    pub fn set_first_code(&mut self, number: usize, code: u64) {
        self.first_codes[number / WARP][number % WARP] = code;
    }

    /// All groups, for writing: corners and smallest positions. No CUDA counterpart: the kernel writes to
    /// memory directly.
    pub fn groups_mut(&mut self) -> (&mut [Coordinates<WARP>], &mut [Lanes<u32, WARP>]) {
        (&mut self.corners, &mut self.smallest)
    }

    /// The corners of a group, least then greatest, and its smallest positions. No CUDA counterpart: pointers
    /// in CUDA.
    #[inline(always)]
    pub fn group(&self, group: usize) -> (&[Coordinates<WARP>], &[Coordinates<WARP>], &Lanes<u32, WARP>) {
        let (low, high) =
            self.corners[group * 2 * self.dims..(group + 1) * 2 * self.dims].split_at(self.dims);
        (low, high, &self.smallest[group])
    }

    /// A lower bound on the keys of each box's points: the distance of the box's nearest point by the rule
    /// that all engines share, and the smallest position. Padding has [`PADDING`](crate::lockstep::PADDING).
    #[inline(always)]
    pub fn keys(&self, group: usize, query: &[f32]) -> Lanes<Key, WARP> {
        let (low, high, smallest) = self.group(group);
        let query = &query[..low.len()];
        let mut acc = [0.0f32; WARP];
        for ((low, high), &q) in low.iter().zip(high).zip(query) {
            acc = add_squared_difference(&clamp(q, &low.0, &high.0), q, acc);
        }
        lane_keys(&acc, smallest)
    }
}

/// Each lane's key. Loops of known length, because closures that are not inlined are compiled for the oldest
/// instruction set. No CUDA counterpart: one call per lane.
#[inline(always)]
pub fn lane_keys(distances: &Lanes<f32, WARP>, positions: &Lanes<u32, WARP>) -> Lanes<Key, WARP> {
    let mut keys = [0; WARP];
    for lane in 0..WARP {
        keys[lane] = key_of(distances[lane], positions[lane]);
    }
    keys
}

/// The value nearest to `q` in each lane's interval; infinite for an empty interval.
#[inline(always)]
fn clamp(q: f32, low: &Lanes<f32, WARP>, high: &Lanes<f32, WARP>) -> Lanes<f32, WARP> {
    // `f32::max` also handles NaN, at twice the instructions.
    let mut nearest = [0.0; WARP];
    for lane in 0..WARP {
        let above = if q > low[lane] { q } else { low[lane] };
        nearest[lane] = if above < high[lane] { above } else { high[lane] };
    }
    nearest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lockstep::PADDING;

    fn distance(p: &[f32], q: &[f32]) -> f32 {
        p.iter().zip(q).fold(0.0, |acc, (p, q)| {
            let t = p - q;
            t.mul_add(t, acc)
        })
    }

    /// Coordinates of any sign, tiny and huge, and adjacent floats.
    fn coordinate() -> impl Strategy<Value = f32> {
        prop_oneof![
            -1e18f32..1e18,
            -1.0f32..1.0,
            (-40i32..40).prop_map(|exponent| 2f32.powi(exponent)),
            (0u32..64).prop_map(|ulps| f32::from_bits(1f32.to_bits() + ulps)),
            Just(0.0),
            Just(-0.0),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

        /// The proof above as a property: no point of a box has a smaller key than the box.
        #[test]
        fn box_distance_is_a_lower_bound(
            (points, query) in (1usize..9).prop_flat_map(|dims| {
                let points = prop::collection::vec(prop::collection::vec(coordinate(), dims), 1..12);
                (points, prop::collection::vec(coordinate(), dims))
            }),
        ) {
            let dims = query.len();
            let mut boxes = Boxes::empty(1, dims);
            let (corners, smallest) = boxes.groups_mut();
            for point in &points {
                for (axis, &value) in point.iter().enumerate() {
                    corners[axis].0[0] = corners[axis].0[0].min(value);
                    corners[dims + axis].0[0] = corners[dims + axis].0[0].max(value);
                }
            }
            smallest[0][0] = 7;
            let keys = boxes.keys(0, &query);
            for (position, point) in (7u32..).zip(&points) {
                let own = key_of(distance(point, &query), position);
                prop_assert!(keys[0] <= own, "{:?} from {query:?}: {:x} > {own:x}", point, keys[0]);
            }
            prop_assert!(keys[1..].iter().all(|&key| key == PADDING));
        }
    }

    #[test]
    fn distance_to_a_box_around_the_query_is_zero() {
        let mut boxes = Boxes::empty(2, 2);
        let (corners, smallest) = boxes.groups_mut();
        for (lane, [low, high]) in
            [[[0.0, 0.0], [2.0, 2.0]], [[5.0, -1.0], [6.0, 4.0]]].into_iter().enumerate()
        {
            for axis in 0..2 {
                (corners[axis].0[lane], corners[2 + axis].0[lane]) = (low[axis], high[axis]);
            }
            smallest[0][lane] = lane as u32;
        }
        let keys = boxes.keys(0, &[1.0, 1.0]);
        assert_eq!(keys[..3], [key_of(0.0, 0), key_of(16.0, 1), PADDING]);
        assert_eq!((boxes.count(), Boxes::bytes(33, 2)), (2, 64 * 7 * 4));
    }
}
