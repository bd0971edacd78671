//! The figures of D. Hanák, *Meeting the challenges of k-nearest neighbour search implementation for GPU accelerators* (master thesis,
//! Charles University, 2023), §5. `docs/selection.md` says what differs from them.
//!
//! The text gives the data, how often a run is repeated, and most sizes; curves and the ends of axes are in pictures only. Where the text is silent,
//! sizes are as in the measurements that the study published with its programs (github.com/jiriklepl/bits-knn-jpdc2024), which count thousands and
//! millions in powers of two, as is done here. Where even they are silent, the matrix has 2³⁰ distances.

use super::{Against, Axes, Data, Panel, Preset, Publication, Stated};
use crate::knn::Metric;
use crate::run::sweep::{Size, Work};

const PUBLICATION: Publication = Publication {
    title: "k-selection on GPUs (Hanák 2023)",
    who: "the thesis (Hanák 2023)",
    short: "the thesis (Tesla V100)",
    device: "an NVIDIA Tesla V100",
};

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;

/// Neighbours that a block can keep.
const KS: [usize; 7] = [32, 64, 128, 256, 512, 1024, 2048];
/// Percent of n.
const SHARES: [u32; 9] = [1, 2, 5, 10, 20, 30, 40, 50, 60];
/// Where distances are computed before and not timed, their dimensions do not matter.
const ANY: u64 = 4;

/// So many distances, in any number of dimensions.
const fn matrix(distances: u64, d: u64) -> Option<Work> {
    Some(Work { product: distances * d, values: u64::MAX })
}

/// Panels against k, of a single size or of several.
const fn against_k(panel: Option<Size>) -> Option<Axes> {
    Some(Axes { x: Against::Size(Size::K), curve: None, panel, best: None })
}

/// §5.1: points in the unit cube, 20 repeats of which the first ten are not counted.
const DEFAULT: Preset = Preset {
    names: &[],
    publication: &PUBLICATION,
    about: "",
    data: Data::Generated("uniform"),
    metric: Metric::L2,
    n: &[M],
    work: None,
    q: &[K],
    k: &KS,
    shares: &[],
    d: &[ANY],
    methods: "",
    warmup: 10,
    panels: &[Panel::Throughput],
    axes: against_k(None),
    stated: &[],
};

/// The GPU beside a CPU (§5.6.1), which differ in what they draw.
const BESIDE_CPU: Preset = Preset {
    n: &[2 * M],
    k: &[512, 1024, 2048],
    d: &[4, 8, 16, 32, 64],
    axes: Some(Axes { x: Against::Size(Size::D), curve: Some(Size::K), panel: None, best: None }),
    ..DEFAULT
};

pub static PRESETS: [Preset; 14] = [
    Preset {
        names: &["hanak-5.1"],
        about: "distances alone, against the number of queries, for several dimensions",
        n: &[],
        work: Some(Work { product: 1 << 34, values: 1 << 28 }),
        q: &[1, 4, 16, 64, 128, 256, 1024, 4096],
        k: &[32],
        d: &[4, 16, 64, 128, 256],
        methods: "distance-matrix:kernel=naive|tiles|expanded|registers",
        panels: &[Panel::Throughput, Panel::Wrong],
        axes: Some(Axes { x: Against::Size(Size::Q), curve: None, panel: Some(Size::D), best: None }),
        stated: &[
            Stated { says: "a thread a point is fastest for a single query, tiles in shared memory for few (§5.2)", at: &[] },
            Stated {
                says: "from 128 queries on, tiles in registers are fastest up to 128 dimensions, and the matrix product beyond (§5.2)",
                at: &[],
            },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.2"],
        about: "bitonic sort in shared memory, with shuffles and in registers, against k: speedup of partial sorting",
        methods: "partial-bitonic:storage=shared|shuffles|registers,timed=selection",
        panels: &[Panel::Speedup],
        stated: &[
            Stated { says: "shuffles help for a small k, and less the larger k is (§5.3.1)", at: &[] },
            Stated { says: "registers make it about twice as fast at every k (§5.3.1)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.3"],
        about: "a buffer of candidates, against k: speedup over partial sorting",
        n: &[],
        work: matrix(K * M, ANY),
        q: &[64, 256, 1024, 4096],
        methods: "partial-bitonic:storage=registers,timed=selection,bits:bound=none,parts=1,timed=selection,bits:timed=selection",
        panels: &[Panel::Speedup],
        axes: against_k(Some(Size::Q)),
        stated: &[
            Stated { says: "the buffer makes the selection much faster, since sorting and merging become rare (§5.3.2)", at: &[] },
            Stated { says: "it would not on distances that descend, where every buffer is merged (§5.3.2)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.4"],
        about: "several reads at a time and prefetching, against the reads of a thread: speedup over the fewest without prefetching",
        n: &[M / 2],
        q: &[2 * K],
        k: &[32, 128, 512, 2048],
        methods: "bits:items=1|2|4|8|12|16,prefetch=off|on,bound=none,parts=1,timed=selection",
        panels: &[Panel::Speedup],
        axes: Some(Axes {
            x: Against::Parameter { name: "items", about: "distances that a thread reads at a time" },
            curve: None,
            panel: Some(Size::K),
            best: None,
        }),
        stated: &[
            Stated { says: "several reads help at every k up to 2,048, by more than a factor of 2 over one read at places (§5.3.3)", at: &[] },
            Stated { says: "prefetching helps a little, and less the more a thread reads (§5.3.3)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.5"],
        about: "lengths of the lanes' queues of warp select, against k: the fastest at each k, beside the default",
        q: &[2 * K],
        methods: "warp-select:queue=2|3|4|5|6|7|8|9|10,timed=selection,warp-select:timed=selection",
        axes: Some(Axes { x: Against::Size(Size::K), curve: None, panel: None, best: Some("queue") }),
        stated: &[Stated { says: "the best length is much faster than the default for k from 64 to 128 (§5.4.1)", at: &[] }],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.6"],
        about: "selection in a single pass, against k, for several sizes of the database",
        n: &[],
        work: matrix(K * M, ANY),
        q: &[K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K],
        methods: "bits:timed=selection,warp-select:queue=2|4|6|8|10,timed=selection,block-select:queue=2|4|6|8|10,timed=selection,\
            merge-queue:timed=selection",
        axes: Some(Axes { x: Against::Size(Size::K), curve: None, panel: Some(Size::Q), best: Some("queue") }),
        stated: &[
            Stated { says: "bits is fastest everywhere, and comes near 80 % of the memory's peak (§5.4.1)", at: &[] },
            Stated { says: "it is best with large databases and up to 2,048 queries (§5.4.1)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.7"],
        about: "one query, against the number of partitions, for several k",
        n: &[128 * M],
        q: &[1],
        methods: "bits:parts=1|2|4|8|16|32|64|128|256|512|1024,timed=selection",
        axes: Some(Axes { x: Against::Parameter { name: "parts", about: "partitions of a row" }, curve: Some(Size::K), panel: None, best: None }),
        stated: &[Stated { says: "it scales to a point: the best are 128 partitions for k above 1,024, and 256 for k up to 512 (§5.4.2)", at: &[] }],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.8"],
        about: "distances and selection in one kernel or in two, against k, for several dimensions",
        n: &[M / 2],
        q: &[8 * K],
        k: &[1, 2, 4, 8, 16, 32, 64, 128],
        d: &[4, 8, 16, 32, 64, 128],
        methods: "bits-fused,bits",
        axes: against_k(Some(Size::D)),
        stated: &[
            Stated { says: "one kernel is faster up to 32 dimensions, most of all for k up to 64; two are beyond (§5.4.3)", at: &[] },
            Stated { says: "with two, k below 32 takes as long as k = 32 (§5.4.3)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.9"],
        about: "distances and selection in one kernel or in two, against the number of queries",
        n: &[],
        work: matrix(K * M, 16),
        q: &[64, 256, 1024, 2048, 4096, 8192, 16_384, 32_768],
        k: &[32],
        d: &[16],
        methods: "bits-fused,bits",
        axes: Some(Axes { x: Against::Size(Size::Q), curve: None, panel: None, best: None }),
        stated: &[Stated { says: "one kernel is at its best from about 8,000 queries on (§5.4.3)", at: &[] }],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.10"],
        about: "sample select in one and two stages, sorted or not, beside sorting everything, against k as a share of n",
        k: &[],
        shares: &SHARES,
        methods: "sort:by=query,timed=selection,sample-select:stages=1|2,sorted=0|1,timed=selection",
        axes: Some(Axes { x: Against::Share, curve: None, panel: None, best: None }),
        stated: &[
            Stated {
                says: "with its answers sorted it is faster than sorting everything for k up to 30 % of n, and slower from 50 % on (§5.5.1)",
                at: &[],
            },
            Stated { says: "one stage is slightly faster than two for a small k (§5.5.1)", at: &[] },
            Stated { says: "without sorting its answers it is much faster than sorting everything (§5.5.1)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.11"],
        about: "sample select and radix select, sorted or not, beside sorting everything, against k as a share of n",
        n: &[],
        work: matrix(256 * M, ANY),
        q: &[256, K, 8 * K],
        k: &[],
        shares: &SHARES,
        methods: "sort:by=query|segmented,timed=selection,sample-select:sorted=0|1,timed=selection,radix-select:sorted=0|1,timed=selection",
        axes: Some(Axes { x: Against::Share, curve: None, panel: Some(Size::Q), best: None }),
        stated: &[
            Stated {
                says: "sorted, sample select beats sorting everything up to 30 % of half a million points or more, 50 % of a quarter or less (§5.5.2)",
                at: &[],
            },
            Stated { says: "radix select is faster than sample select with 32 thousand points only (§5.5.2)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.12"],
        about: "distances and selection by the best kernels, against k, for several dimensions",
        n: &[128 * K],
        q: &[8 * K],
        k: &[4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384],
        d: &[16, 32, 64, 128],
        methods: "bits-fused,bits,bits-global,sample-select:sorted=0",
        axes: against_k(Some(Size::D)),
        stated: &[
            Stated { says: "the fused kernel is fastest up to 32 dimensions and k = 64, bits up to k = 2,048 (§5.6)", at: &[] },
            Stated { says: "bits with its answers in global memory is best at k = 4,096 alone; beyond, sample select is (§5.6)", at: &[] },
            Stated { says: "with 128 dimensions computing the distances takes longer than any selection (§5.6)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["hanak-5.13"],
        about: "bits on a GPU beside matrix product and heaps on a CPU, against the number of dimensions: speedup",
        methods: "gemm-heap,bits",
        panels: &[Panel::Speedup],
        stated: &[Stated { says: "transfers are left out on both sides (§5.6.1)", at: &[] }],
        ..BESIDE_CPU
    },
    Preset {
        names: &["hanak-5.14"],
        about: "computing in times of what transfers take, against the number of dimensions",
        methods: "bits",
        panels: &[Panel::Transfer],
        stated: &[
            Stated { says: "transfers take little for few dimensions, and soon limit the whole (§5.6.1)", at: &[] },
            Stated { says: "the points are most of what is transferred, and once for any number of batches of queries (§5.6.1)", at: &[] },
        ],
        ..BESIDE_CPU
    },
];
