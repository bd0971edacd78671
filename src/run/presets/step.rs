//! The figures of J. Wang and F. Ino, *A General-Purpose K-Nearest Neighbor Method with an Efficient Pruning Strategy for GPUs*
//! (Journal of Parallel and Distributed Computing 207, 2025, 105187), §6. `docs/step.md` says what differs from them.
//!
//! The text gives defaults (Table 2), the data and what varies, and numbers here and there; the curves are in pictures only, and so
//! are the ends of the axes, for which the text's largest and smallest mentions are taken, as far as the engines go: k ends at
//! 1,024 and not at 2,048. Queries are rows of the cloud, so that n begins at q.

use super::{Data, Panel, Preset, Publication, Stated};
use crate::knn::Metric;
use crate::run::usual;

const PUBLICATION: Publication = Publication {
    title: "STEP (Wang and Ino 2025)",
    who: "the paper (Wang and Ino 2025)",
    short: "the paper (RTX 3070)",
    device: "an NVIDIA GeForce RTX 3070",
};

/// Table 2: n = q.
const SIZE: u64 = 65_536;

const NS: [u64; 5] = [1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24];
const QS: [u64; 7] = [1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16];
const KS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const DS: [u64; 5] = [2, 4, 8, 16, 32];
const WIDE_DS: [u64; 7] = [2, 4, 8, 16, 32, 64, 128];

/// STEP as an index and exhaustively, never switching by itself, beside trees of a warp and of a thread a query, and brute force.
const RANDOM: &str = "step:switch=1024,step-exhaustive,bvh,kdtree-threads,cuda";
/// In many dimensions a tree does not help.
const PRACTICAL: &str = "step:switch=1024,step-exhaustive,cuda";
/// The variants of §6.4 that exist here, brute force first: pruning with naive spheres and the queue, exact spheres, exhaustive.
const ABLATION: &str = "cuda:kernel=direct,step:spheres=naive|exact,switch=1024,step-exhaustive";
/// §6.5, a warp a query and a thread a query.
const ACTIVE: &str = "step:switch=1024,bvh,kdtree-threads";
/// §6.6, naive first.
const SPHERES: &str = "step:spheres=naive|ritter|exact,switch=1024";

const PLACES: Data = Data::File { published: "72,276 schools and 353,962 shops of OpenStreetMap in the U.S.", instead: "zip codes or airports" };
const SIFT: Data = Data::File { published: "ANNSIFT1M, 1,000,000 points in 128 dimensions", instead: "Fashion-MNIST or handwritten digits" };

/// What every figure has that does not say otherwise: random data (§6.2) with the values of Table 2.
const DEFAULT: Preset = Preset {
    names: &[],
    publication: &PUBLICATION,
    about: "",
    data: Data::Generated("rounded-normal"),
    metric: Metric::L2,
    n: &[SIZE],
    work: None,
    q: &[SIZE],
    k: &[128],
    shares: &[],
    d: &[2],
    methods: RANDOM,
    warmup: usual::WARMUP,
    panels: &[Panel::Time, Panel::Points],
    axes: None,
    stated: &[],
};

/// A figure on a file, where k varies.
const ON_FILE: Preset = Preset { n: &[], d: &[], k: &KS, methods: PRACTICAL, ..DEFAULT };

/// The default row of Table 2, wherever it is in a figure.
const fn default_row(at: &'static [(Panel, f64, f64)]) -> Stated {
    Stated { says: "step takes 10 ms with the defaults, GPU Faiss more than 200 ms (§6.3)", at }
}

pub static PRESETS: [Preset; 20] = [
    Preset {
        names: &["step-5a", "step-5b"],
        about: "random data, L2, against the number of queries: time, points accessed and retained",
        q: &QS,
        stated: &[
            default_row(&[(Panel::Time, 65_536.0, 10.0)]),
            Stated { says: "step is 12.9 times as fast as the SS-tree at q = 65,536 (§6.2)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["step-5c", "step-5d"],
        about: "random data, L2, against the number of points: time, points accessed and retained",
        n: &NS,
        stated: &[
            default_row(&[(Panel::Time, 65_536.0, 10.0)]),
            Stated { says: "step is 13.9 times as fast as the k-d tree on the GPU at n = 65,536, and slower above n = 16,777,216 (§6.2)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["step-5e", "step-5f"],
        about: "random data, L2, against k: time, points accessed and retained",
        k: &KS,
        stated: &[
            default_row(&[(Panel::Time, 128.0, 10.0)]),
            Stated {
                says: "step is 28.9 times as fast as the SS-tree at k = 2,048; above 1,024 it accesses fewer points than the k-d tree (§6.2)",
                at: &[],
            },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["step-5g", "step-5h"],
        about: "random data, L2, against the number of dimensions: time, points accessed and retained",
        d: &DS,
        stated: &[
            default_row(&[(Panel::Time, 2.0, 10.0)]),
            Stated {
                says: "indexes access almost all 65,536 points at d = 16, and at d = 32 (§6.2)",
                at: &[(Panel::Points, 16.0, 65_536.0), (Panel::Points, 32.0, 65_536.0)],
            },
            Stated { says: "against the SS-tree, step is 29.6 times as fast at d = 8, step-exhaustive 6.1 times at d = 32 (§6.2)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["step-6a", "step-6b"],
        about: "random data, angles, against the number of points: time, points accessed and retained",
        metric: Metric::Angular,
        n: &NS,
        ..DEFAULT
    },
    Preset {
        names: &["step-6c", "step-6d"],
        about: "random data, angles, against the number of dimensions: time, points accessed and retained",
        metric: Metric::Angular,
        d: &DS,
        stated: &[
            Stated { says: "step-exhaustive takes about 160 ms for distances and 50 ms for selection (§6.2)", at: &[] },
            Stated { says: "step accesses all points from d = 32 on (§6.4)", at: &[(Panel::Points, 32.0, 65_536.0)] },
            Stated { says: "step-exhaustive is 55.6 times as fast as the SS-tree at d = 32 (§6.2)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["step-7a", "step-7b"],
        about: "places on a map, L2, against k: time, points accessed and retained",
        data: PLACES,
        q: &[72_276],
        methods: RANDOM,
        stated: &[Stated {
            says: "step is slower than the k-d tree on the GPU below k = 32, and 15.9 times as fast at k = 128; 20.8 times the SS-tree at k = 2,048 (§6.3)",
            at: &[],
        }],
        ..ON_FILE
    },
    Preset {
        names: &["step-7c", "step-7d"],
        about: "image descriptors, L2, against k: time, points accessed and retained",
        data: SIFT,
        q: &[10_000],
        stated: &[Stated {
            says: "step accesses 87 % to 93 % of the points as k grows; step-exhaustive is 29.0 times as fast as the SS-tree at k = 1,024 (§6.3)",
            at: &[],
        }],
        ..ON_FILE
    },
    Preset {
        names: &["step-7e", "step-7f"],
        about: "descriptions of proteins, angles, against k: time, points accessed and retained",
        data: Data::File { published: "KDDCUP-Bio, 139,658 points in 74 dimensions", instead: "handwritten digits" },
        metric: Metric::Angular,
        q: &[10_000],
        stated: &[Stated {
            says: "step accesses 15 % of the points at k = 128, 23 % at 1,024; step-exhaustive is 36.7 and 24.4 times as fast as the SS-tree there (§6.3)",
            at: &[],
        }],
        ..ON_FILE
    },
    Preset {
        names: &["step-7g", "step-7h"],
        about: "particle collisions, angles, against k: time, points accessed and retained",
        data: Data::File { published: "KDDCUP-Phy, 100,000 points in 78 dimensions", instead: "handwritten digits" },
        metric: Metric::Angular,
        q: &[10_000],
        stated: &[Stated { says: "step-exhaustive is 24.7 and 27.1 times as fast as the SS-tree at k = 128 and 1,024 (§6.3)", at: &[] }],
        ..ON_FILE
    },
    Preset {
        names: &["step-8a"],
        about: "image descriptors, L2, against k: exhaustive methods",
        data: SIFT,
        q: &[10_000],
        methods: "step-exhaustive,cuda",
        panels: &[Panel::Time],
        stated: &[Stated { says: "step-exhaustive is 1.2 times as fast as GPU Faiss at k = 128, 2.1 times at 2,048 (§6.3)", at: &[] }],
        ..ON_FILE
    },
    Preset {
        names: &["step-8b"],
        about: "image descriptors in 960 dimensions, L2, against k: exhaustive methods",
        data: Data::File { published: "GIST, 1,000,000 points in 960 dimensions", instead: "Fashion-MNIST" },
        q: &[1000],
        methods: "step-exhaustive,cuda",
        panels: &[Panel::Time],
        stated: &[Stated { says: "step-exhaustive is 1.9 times as fast as GPU Faiss at k = 128, 2.1 times at 2,048 (§6.3)", at: &[] }],
        ..ON_FILE
    },
    Preset {
        names: &["step-8c"],
        about: "ten million embeddings of images, L2, against k: exhaustive methods",
        data: Data::File { published: "DEEP10M, 10,000,000 points in 96 dimensions", instead: "Fashion-MNIST" },
        q: &[10_000],
        methods: "step-exhaustive,cuda",
        panels: &[Panel::Time],
        stated: &[Stated { says: "step-exhaustive is 0.8 times as fast as GPU Faiss at k = 128, 1.0 times at 2,048 (§6.3)", at: &[] }],
        ..ON_FILE
    },
    Preset {
        names: &["step-9a"],
        about: "places on a map, L2, against k: step beside trees on GPU and CPU",
        data: PLACES,
        q: &[72_276],
        methods: "step:switch=1024,bvh,kdtree-threads,kdtree",
        panels: &[Panel::Time],
        ..ON_FILE
    },
    Preset {
        names: &["step-9b"],
        about: "image descriptors, L2, against k: step beside a tree on the CPU",
        data: SIFT,
        q: &[10_000],
        methods: "step:switch=1024,kdtree",
        panels: &[Panel::Time],
        ..ON_FILE
    },
    Preset {
        names: &["step-10a"],
        about: "ablation, random data, L2, against the number of points: speedup over brute force",
        n: &NS,
        methods: ABLATION,
        panels: &[Panel::Speedup],
        stated: &[Stated { says: "step is 317.4 times as fast as brute force with a thread a query; at which n is not said (§6.4)", at: &[] }],
        ..DEFAULT
    },
    Preset {
        names: &["step-10b"],
        about: "ablation, random data, angles, against the number of dimensions: speedup over brute force",
        metric: Metric::Angular,
        d: &WIDE_DS,
        methods: ABLATION,
        panels: &[Panel::Speedup],
        stated: &[Stated {
            says: "step-exhaustive is 463.0 times as fast as brute force with a thread a query; at which d is not said (§6.4)",
            at: &[],
        }],
        ..DEFAULT
    },
    Preset {
        names: &["step-11a"],
        about: "random data, L2, against the number of points: active threads of a warp",
        n: &NS,
        methods: ACTIVE,
        panels: &[Panel::ActiveThreads],
        stated: &[
            Stated { says: "step has 30.7 of 32 threads active at n = 1,048,576 (§6.5)", at: &[(Panel::ActiveThreads, 1_048_576.0, 30.7)] },
            Stated { says: "the k-d tree on the GPU has less than 9 active everywhere (§6.5)", at: &[] },
        ],
        ..DEFAULT
    },
    Preset {
        names: &["step-11b"],
        about: "random data, angles, against the number of dimensions: active threads of a warp",
        metric: Metric::Angular,
        d: &DS,
        methods: ACTIVE,
        panels: &[Panel::ActiveThreads],
        stated: &[Stated { says: "step keeps more than 30 of 32 threads active (§6.5)", at: &[] }],
        ..DEFAULT
    },
    Preset {
        names: &["step-12", "step-12a", "step-12b"],
        about: "bounding spheres, random data, angles, against the number of dimensions: speedup over naive ones, points accessed and retained",
        metric: Metric::Angular,
        d: &DS,
        methods: SPHERES,
        panels: &[Panel::Speedup, Panel::Points],
        stated: &[
            Stated { says: "exact spheres are 2.9 times as fast as naive ones at d = 8 (§6.6)", at: &[(Panel::Speedup, 8.0, 2.9)] },
            Stated {
                says: "naive and Ritter's spheres access all 65,536 points from d = 16 on (§6.6)",
                at: &[(Panel::Points, 16.0, 65_536.0), (Panel::Points, 32.0, 65_536.0)],
            },
        ],
        ..DEFAULT
    },
];
