//! The bitonic sorting network as data: its layers, their comparators, and their cost for a warp.
//!
//! Batcher's network for K keys, a power of two: for each size 2, 4, … K, and within it for each stride
//! size/2, … 1, a layer of K/2 comparators between elements i and i ^ stride, ascending where
//! `i & size == 0`. The layers of size K alone sort a bitonic sequence.

use serde::{Deserialize, Serialize};

/// One layer: comparators on disjoint elements, which can therefore run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layer {
    /// Length of the runs that this layer helps to sort, in elements.
    pub size: u32,
    /// Distance between the two elements of a comparator.
    pub stride: u32,
}

/// Puts the smaller of two elements at `low` and the larger at `high` if `ascending`; otherwise vice versa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparator {
    /// The lower element index.
    pub low: u32,
    /// The other element, `low ^ stride`.
    pub high: u32,
    pub ascending: bool,
}

impl Layer {
    /// The layer's comparators in a network of `keys` elements, ordered by their lower element.
    pub fn comparators(self, keys: u32) -> impl Iterator<Item = Comparator> {
        (0..keys).filter(move |low| low & self.stride == 0).map(move |low| self.comparator_of(low))
    }

    /// The comparator that contains an element.
    pub fn comparator_of(self, element: u32) -> Comparator {
        let low = element & !self.stride;
        Comparator { low, high: low | self.stride, ascending: low & self.size == 0 }
    }

    /// The lane mask of the shuffle that this layer needs (partner = lane ^ mask) when each lane of a warp
    /// holds `registers` consecutive elements; `None` if both elements are in the same lane.
    pub fn lane_stride(self, registers: u32) -> Option<u32> {
        (self.stride >= registers).then(|| self.stride / registers)
    }
}

/// The layers of one size, which sort bitonic runs of `size` elements.
pub fn merge(size: u32) -> impl Iterator<Item = Layer> {
    std::iter::successors(Some(size / 2), |stride| Some(stride / 2))
        .take_while(|&stride| stride > 0)
        .map(move |stride| Layer { size, stride })
}

/// The layers that sort `keys` elements in arbitrary order.
pub fn sort(keys: u32) -> impl Iterator<Item = Layer> {
    std::iter::successors(Some(2u32), |size| Some(size * 2))
        .take_while(move |&size| size <= keys)
        .flat_map(merge)
}

/// The cost of a sequence of layers for a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Comparators, K/2 per layer.
    pub compare_exchanges: u64,
    /// Warp-wide shuffles of a key: one per register in each layer that crosses lanes.
    pub shuffles: u64,
}

impl Cost {
    /// The cost of layers over `registers` keys in each of `width` lanes.
    pub fn for_layers(layers: impl Iterator<Item = Layer>, width: u32, registers: u32) -> Self {
        let half = u64::from(width * registers / 2);
        layers.fold(Self::default(), |cost, layer| Self {
            compare_exchanges: cost.compare_exchanges + half,
            shuffles: cost.shuffles
                + if layer.lane_stride(registers).is_some() { u64::from(registers) } else { 0 },
        })
    }

    /// The cost of one buffer merge: sorting the buffer, then sorting the bitonic result.
    pub fn for_merge(width: u32, registers: u32) -> Self {
        let keys = width * registers;
        Self::for_layers(sort(keys).chain(merge(keys)), width, registers)
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
    fn the_network_sorts_every_zero_one_sequence() {
        for count in [2u32, 4, 8, 16] {
            for bits in 0..1u32 << count {
                let mut keys: Vec<u8> = (0..count).map(|i| (bits >> i & 1) as u8).collect();
                run(&mut keys, sort(count));
                assert!(keys.is_sorted(), "{bits:#b} of {count}");
            }
        }
    }

    #[test]
    fn the_last_stage_sorts_bitonic_sequences() {
        for (zeros, ones) in (0..=16).flat_map(|zeros| (0..=16 - zeros).map(move |ones| (zeros, ones))) {
            let mut keys: Vec<u8> = (0..16).map(|i| u8::from((zeros..zeros + ones).contains(&i))).collect();
            run(&mut keys, merge(16));
            assert!(keys.is_sorted(), "{ones} ones after {zeros} zeros");
        }
    }

    #[test]
    fn costs_match_the_published_formulas() {
        // log₂K (log₂K + 1) / 2 layers to sort, log₂K to sort a bitonic sequence.
        assert_eq!((sort(32).count(), merge(32).count(), sort(1024).count()), (15, 5, 55));
        // One key per lane: every layer shuffles.
        assert_eq!(Cost::for_merge(32, 1), Cost { compare_exchanges: 20 * 16, shuffles: 20 });
        // K = 128 in four registers: strides 1 and 2 stay within a lane, in every size.
        let in_lane = 1 + 2 * 6 + 2;
        assert_eq!(Cost::for_merge(32, 4), Cost { compare_exchanges: 35 * 64, shuffles: (35 - in_lane) * 4 });
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
