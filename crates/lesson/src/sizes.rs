//! Sizes of a search, by their names in texts: `{K / 2}`.

use super::account::expected;
use super::state::Shape;
use crate::algorithms::radix_select::state::max_passes;
use crate::algorithms::warp_select::recorder::queue_length;
use crate::engines::lockstep::registers_for;
use crate::knn::{network, theory};
use crate::text::{significant, thousands};

/// A text with the sizes of a search filled in.
pub fn fill_in(text: &str, shape: Shape) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    sizes(shape).into_iter().fold(text.to_owned(), |text, (name, size)| text.replace(name, &size))
}

/// Every name with its value.
fn sizes(shape: Shape) -> Vec<(&'static str, String)> {
    let Shape { width, registers, k, n } = shape;
    let capacity = shape.capacity();
    let (once, twice) = (SortCost::new(capacity, registers), SortCost::new(2 * capacity, 2 * registers));
    let worst = |n: u32, slots: u32| theory::worst_case_merges(n as usize, slots as usize) as u32;
    let growth = expected(shape, n.saturating_mul(2)).merges - expected(shape, n).merges;
    // Keys of a lane's queue in warp select, and bits of a digit in radix select.
    let (queue, bits) = (queue_length(registers), width.ilog2());
    let numbers = [
        ("{n}", n),
        ("{n - k}", n.saturating_sub(k)),
        ("{n / K}", worst(n, capacity)),
        ("{2 n / K}", worst(n, (capacity / 2).max(1))),
        ("{k}", k),
        ("{2 k}", 2 * k),
        ("{8 k}", 8 * k),
        ("{2 k + 1}", 2 * k + 1),
        ("{depth of k}", k.ilog2()),
        ("{depth of 2 k + 1}", (2 * k + 1).ilog2()),
        ("{2 depth of k}", 2 * k.ilog2()),
        ("{W}", width),
        ("{W - 1}", width - 1),
        ("{W / 2}", width / 2),
        ("{R}", registers),
        ("{2 R}", 2 * registers),
        ("{K}", capacity),
        ("{K - 1}", capacity - 1),
        ("{K + 1}", capacity + 1),
        ("{K + W}", capacity + width),
        ("{K of K + 1}", width * registers_for(capacity as usize + 1, width as usize) as u32),
        ("{K / 2}", capacity / 2),
        ("{2 K}", 2 * capacity),
        ("{layers}", once.layers),
        ("{2 layers}", 2 * once.layers),
        ("{layers + 1}", once.layers + 1),
        ("{inside}", once.inside),
        ("{shuffled}", once.layers - once.inside),
        ("{shuffled at W / 2}", once.layers - SortCost::new(capacity, 2 * registers).inside),
        ("{last}", once.last),
        ("{2 last}", 2 * once.last),
        ("{merge}", once.steps()),
        ("{2 merge}", 2 * once.steps()),
        ("{layers of 2 K}", twice.layers),
        ("{last of 2 K}", twice.last),
        ("{merge of 2 K}", twice.steps()),
        ("{Q}", queue),
        ("{W Q}", width * queue),
        ("{bits}", bits),
        ("{2 bits}", 2 * bits),
        ("{buckets}", 1 << bits),
        ("{buckets of 2 bits}", 1 << (2 * bits)),
        ("{2 buckets}", 2 << bits),
        ("{passes}", max_passes(bits)),
        ("{2 passes}", 2 * max_passes(bits)),
        ("{passes of 2 bits}", max_passes(2 * bits)),
    ];
    let words = numbers.into_iter().map(|(name, size)| (name, thousands(size.into())));
    words.chain([("{growth}", significant((growth * 10.0).round() / 10.0))]).collect()
}

/// All names.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    sizes(Shape { width: 32, registers: 1, k: 32, n: 1024 }).into_iter().map(|(name, _)| name)
}

/// The layers of a sort of some keys.
struct SortCost {
    layers: u32,
    /// Layers within a lane.
    inside: u32,
    /// Layers of the largest size, which sort a bitonic list.
    last: u32,
}

impl SortCost {
    fn new(keys: u32, registers: u32) -> Self {
        let inside =
            network::sort(keys).filter(|layer| layer.lane_stride(registers).is_none()).count() as u32;
        Self { layers: network::sort(keys).count() as u32, inside, last: network::merge(keys).count() as u32 }
    }

    /// Steps of a merge: a sort, a minimum, and the layers that restore the order.
    fn steps(&self) -> u32 {
        self.layers + 1 + self.last
    }
}
