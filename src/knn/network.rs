//! The bitonic network as data: its layers, their comparators, and what they cost a warp.
//!
//! Batcher's network for K keys, a power of two: for each size 2, 4, … K, and in it for each stride size/2, … 1, a layer
//! of K/2 comparators between elements i and i ^ stride, ascending where `i & size == 0`. The layers of size K alone sort
//! what is bitonic.

use serde::{Deserialize, Serialize};

/// One layer: comparators that touch no element twice, and so run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layer {
    /// The runs that this layer helps to sort, in elements.
    pub size: u32,
    /// How far apart the two elements of a comparator are.
    pub stride: u32,
}

/// Puts the smaller of two elements at `low` and the larger at `high` where `ascending`, else the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparator {
    /// The element with the lower number.
    pub low: u32,
    /// Its partner, `low ^ stride`.
    pub high: u32,
    /// Which way it sorts.
    pub ascending: bool,
}

impl Layer {
    /// The comparators of the layer in a network of `keys` elements, by their lower element.
    pub fn comparators(self, keys: u32) -> impl Iterator<Item = Comparator> {
        (0..keys).filter(move |low| low & self.stride == 0).map(move |low| self.comparator_of(low))
    }

    /// The comparator that an element takes part in.
    pub fn comparator_of(self, element: u32) -> Comparator {
        let low = element & !self.stride;
        Comparator { low, high: low | self.stride, ascending: low & self.size == 0 }
    }

    /// What each lane of a warp that holds `registers` consecutive elements a lane exchanges keys with: lane ^ this, by
    /// shuffle; `None` where both elements lie in the same lane.
    pub fn lane_stride(self, registers: u32) -> Option<u32> {
        (self.stride >= registers).then(|| self.stride / registers)
    }
}

/// The layers of one size: they sort bitonic runs of `size` elements.
pub fn merge(size: u32) -> impl Iterator<Item = Layer> {
    std::iter::successors(Some(size / 2), |stride| Some(stride / 2)).take_while(|&stride| stride > 0).map(move |stride| Layer { size, stride })
}

/// The layers that sort `keys` elements in any order.
pub fn sort(keys: u32) -> impl Iterator<Item = Layer> {
    std::iter::successors(Some(2u32), |size| Some(size * 2)).take_while(move |&size| size <= keys).flat_map(merge)
}

/// What layers cost a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Comparators, K/2 a layer.
    pub compare_exchanges: u64,
    /// Shuffles of a key by the whole warp: one for each register, in each layer between lanes.
    pub shuffles: u64,
}

impl Cost {
    /// The cost of some layers over `registers` keys in each of `width` lanes.
    pub fn of(layers: impl Iterator<Item = Layer>, width: u32, registers: u32) -> Self {
        let half = u64::from(width * registers / 2);
        layers.fold(Self::default(), |cost, layer| Self {
            compare_exchanges: cost.compare_exchanges + half,
            shuffles: cost.shuffles + if layer.lane_stride(registers).is_some() { u64::from(registers) } else { 0 },
        })
    }

    /// The cost of merging a buffer once: sorting it, and sorting the bitonic rest.
    pub fn of_merge(width: u32, registers: u32) -> Self {
        let keys = width * registers;
        Self::of(sort(keys).chain(merge(keys)), width, registers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(keys: &mut [u8], layers: impl Iterator<Item = Layer>) {
        let count = keys.len() as u32;
        for comparator in layers.flat_map(|layer| layer.comparators(count)) {
            let (low, high) = (comparator.low as usize, comparator.high as usize);
            if (keys[low] > keys[high]) == comparator.ascending {
                keys.swap(low, high);
            }
        }
    }

    /// The 0-1 principle: a network that sorts every sequence of zeros and ones sorts everything.
    #[test]
    fn it_sorts_every_zero_one_sequence() {
        for count in [2u32, 4, 8, 16] {
            for bits in 0..1u32 << count {
                let mut keys: Vec<u8> = (0..count).map(|i| (bits >> i & 1) as u8).collect();
                run(&mut keys, sort(count));
                assert!(keys.is_sorted(), "{bits:#b} of {count}");
            }
        }
    }

    #[test]
    fn the_last_size_sorts_what_is_bitonic() {
        for (zeros, ones) in (0..=16).flat_map(|zeros| (0..=16 - zeros).map(move |ones| (zeros, ones))) {
            let mut keys: Vec<u8> = (0..16).map(|i| u8::from((zeros..zeros + ones).contains(&i))).collect();
            run(&mut keys, merge(16));
            assert!(keys.is_sorted(), "{ones} ones after {zeros} zeros");
        }
    }

    #[test]
    fn costs_are_the_published_ones() {
        // log₂K (log₂K + 1) / 2 layers to sort, log₂K to sort what is bitonic.
        assert_eq!((sort(32).count(), merge(32).count(), sort(1024).count()), (15, 5, 55));
        // One key a lane: every layer is a shuffle.
        assert_eq!(Cost::of_merge(32, 1), Cost { compare_exchanges: 20 * 16, shuffles: 20 });
        // K = 128 in four registers: strides 1 and 2 stay in the lane, in each of the sizes.
        let in_lane = 1 + 2 * 6 + 2;
        assert_eq!(Cost::of_merge(32, 4), Cost { compare_exchanges: 35 * 64, shuffles: (35 - in_lane) * 4 });
        assert_eq!(Layer { size: 64, stride: 32 }.lane_stride(2), Some(16));
        assert_eq!(Layer { size: 64, stride: 1 }.lane_stride(2), None);
    }

    #[test]
    fn partners_share_a_comparator() {
        let layer = Layer { size: 8, stride: 2 };
        assert_eq!(layer.comparator_of(5), Comparator { low: 5, high: 7, ascending: true });
        assert_eq!(layer.comparator_of(7), layer.comparator_of(5));
        assert!(!layer.comparator_of(8).ascending);
    }
}
