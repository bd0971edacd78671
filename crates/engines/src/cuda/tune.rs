//! Searches for the fastest policy on this device and writes it to the table that the device code is compiled
//! with.
//!
//! Policies are compiled by NVRTC and measured on given problems. The search is a coordinate descent: it
//! varies one trait at a time (warps and blocks together, since both determine registers), keeps every
//! improvement, and repeats until nothing improves. A policy is rejected if it spills, cannot be launched, or
//! gives another answer than the table's own.

use std::fmt::Write as _;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;

use super::Cuda;
use super::device::driver::error_text;
use super::device::units::Unit;
use super::direct::{self, Policy, Variant};
use crate::Result;
use crate::knn::{EngineError, KernelBuild, Neighbors, PreparedSearch, Problem};

const TABLE: &str = include_str!("../../../../cuda/direct/policy_table.cuh");

/// Rounds over all traits; the second rarely finds anything.
const ROUNDS: usize = 2;

/// The builds that must not spill.
const BUILDS: [KernelBuild; 3] = [KernelBuild::Timed, KernelBuild::Counted, KernelBuild::Profiled];

/// The time ratio below which a change is kept: smaller gains are noise.
const GAIN: f64 = 0.995;

/// A policy and its measurements.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The policy that was tried.
    pub policy: Policy,
    /// Median milliseconds per problem, or why it was rejected.
    pub outcome: Result<Vec<f64>, String>,
}

impl Trial {
    /// Geometric mean over the problems of the times relative to `other`; infinite if the policy was
    /// rejected.
    pub fn ratio(&self, other: &[f64]) -> f64 {
        let Ok(times) = &self.outcome else { return f64::INFINITY };
        (times.iter().zip(other).map(|(mine, other)| (mine / other).ln()).sum::<f64>() / other.len() as f64)
            .exp()
    }
}

/// A row of `cuda/direct/policy_table.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Compute capability × 10; 0 is the default for all architectures without rows.
    pub arch: u32,
    /// K, the slots of a query's candidate buffer.
    pub capacity: u32,
    /// 2, 3, or 0 for any other d.
    pub dims: u32,
    /// The policy that the kernel is compiled with.
    pub policy: Policy,
}

/// The result of tuning: the table's policy and the best one, measured in the same way.
#[derive(Clone, Debug)]
pub struct TuningResult {
    pub before: Trial,
    pub best: Trial,
    /// The table row for the best policy.
    pub row: Row,
}

/// Tunes the kernel that answers `problems`, which all have the same K and d. Calls `seen` with each trial
/// and its time relative to the table's policy.
///
/// # Errors
/// [`EngineError::Unavailable`] without NVRTC, and any error of the table's own policy.
pub fn tune(
    cuda: &mut Cuda,
    problems: &[Problem],
    repeats: usize,
    mut seen: impl FnMut(&Trial, f64),
) -> Result<TuningResult> {
    let unavailable = |why| EngineError::Unavailable { engine: super::DIRECT.id, why };
    let variant = Variant::new(problems[0].k(), problems[0].dims());
    let unit = variant.unit();
    let (major, minor) = cuda.context.compute_capability().map_err(|error| cuda.failed(error))?;
    let start = cuda.kernels.search(unit, KernelBuild::Timed).map_err(unavailable)?.config.policy;

    let mut expected = Vec::new();
    let measure = |cuda: &mut Cuda, policy, expected: &mut Vec<Neighbors>| Trial {
        policy,
        outcome: trial(cuda, problems, Unit { policy: Some(policy), ..unit }, repeats, expected),
    };
    let before = measure(cuda, start, &mut expected);
    let baseline = before.outcome.clone().map_err(unavailable)?;
    seen(&before, 1.0);
    let (mut best, mut tried) = (before.clone(), vec![start]);
    for _ in 0..ROUNDS {
        let start_of_round = best.policy;
        for alternatives in TRAITS {
            let mut candidates = alternatives(best.policy, variant);
            candidates.retain(|policy| !tried.contains(policy));
            tried.extend(&candidates);
            let units: Vec<Unit> =
                candidates.iter().map(|&policy| Unit { policy: Some(policy), ..unit }).collect();
            cuda.kernels.compile_ahead(&units, &BUILDS);
            for policy in candidates {
                let trial = measure(cuda, policy, &mut expected);
                // A policy may fail, but after the device itself has failed, no measurement is valid.
                cuda.stream.synchronize().map_err(|error| cuda.failed(error))?;
                let ratio = trial.ratio(&baseline);
                seen(&trial, ratio);
                if ratio < best.ratio(&baseline) * GAIN {
                    best = trial;
                }
            }
        }
        if best.policy == start_of_round {
            break;
        }
    }
    let row = Row {
        arch: (10 * major + minor) as u32,
        capacity: variant.capacity,
        dims: variant.dims,
        policy: best.policy,
    };
    Ok(TuningResult { before, best, row })
}

/// The alternatives to a policy, per trait.
const TRAITS: [fn(Policy, Variant) -> Vec<Policy>; 5] = [
    // Warps per block and blocks per multiprocessor: these determine registers per thread.
    |policy, _| {
        let mut all = Vec::new();
        for warps in [4, 6, 8, 16] {
            for resident in [12, 16, 20, 24, 32, 40] {
                if resident / warps > 0 && resident % warps < 2 {
                    all.push(Policy { warps, min_blocks: resident / warps, ..policy });
                }
            }
        }
        all
    },
    // Each query takes at least 2 R registers; about 64 are available for all queries.
    |policy, variant| {
        [1, 2, 3, 4, 5, 6, 8]
            .into_iter()
            .filter(|queries| queries * variant.capacity <= 1024)
            .map(|queries| Policy { queries, ..policy })
            .collect()
    },
    |policy, variant| {
        let windows = [2, 4, 8, 16].into_iter();
        windows
            .map(|window| {
                if variant.dims == 0 {
                    Policy { window, batch: window * 32, ..policy }
                } else {
                    Policy { window, ..policy }
                }
            })
            .collect()
    },
    |policy, variant| {
        let batches: &[u32] = if variant.dims == 0 { &[0] } else { &[1024, 2048, 4096] };
        let pairs = batches.iter().flat_map(|&batch| [1, 2, 3, 4].map(|slots| (batch, slots)));
        pairs
            .map(|(batch, slots)| Policy {
                batch: if batch == 0 { policy.batch } else { batch },
                slots,
                ..policy
            })
            .collect()
    },
    |policy, variant| {
        if variant.dims == 0 {
            [4, 8, 16, 32].map(|tile| Policy { tile, ..policy }).to_vec()
        } else {
            Vec::new()
        }
    },
];

/// Median time per problem, after checking that the kernel loads, does not spill, and gives the right answer.
fn trial(
    cuda: &mut Cuda,
    problems: &[Problem],
    unit: Unit,
    repeats: usize,
    expected: &mut Vec<Neighbors>,
) -> Result<Vec<f64>, String> {
    for build in BUILDS {
        let kernel = cuda.kernels.search(unit, build)?;
        let local = kernel.function.get_attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES).map_err(error_text)?;
        if local > 0 {
            return Err(format!("{local} bytes per thread are spilled"));
        }
    }
    let mut medians = Vec::new();
    for (i, problem) in problems.iter().enumerate() {
        let (mut times, found) = searches(cuda, problem, unit, repeats).map_err(|error| error.to_string())?;
        match expected.get(i) {
            None => expected.push(found),
            Some(expected) if *expected != found => return Err("the neighbours differ".to_owned()),
            Some(_) => (),
        }
        times.sort_by(f64::total_cmp);
        medians.push(times[times.len() / 2]);
    }
    Ok(medians)
}

/// The milliseconds of each repeat, after one warm-up, and the neighbours.
fn searches(cuda: &mut Cuda, problem: &Problem, unit: Unit, repeats: usize) -> Result<(Vec<f64>, Neighbors)> {
    let mut search = direct::load_unit(cuda, problem, unit)?;
    search.search(0..problem.q(), KernelBuild::Timed)?;
    let times = (0..repeats.max(1))
        .map(|_| search.search(0..problem.q(), KernelBuild::Timed))
        .collect::<Result<_, _>>()?;
    let mut found = Neighbors::default();
    search.download(&mut found)?;
    Ok((times, found))
}

/// The table with `rows` replacing those of the same kernels; everything else is unchanged.
pub fn updated_table(table: &str, rows: &[Row]) -> String {
    let mut kept: Vec<Row> = table.lines().filter_map(parse_row).collect();
    kept.retain(|row| {
        !rows.iter().any(|new| (new.arch, new.capacity, new.dims) == (row.arch, row.capacity, row.dims))
    });
    kept.extend(rows);
    // Order d = 2, 3, then any other.
    kept.sort_by_key(|row| (row.arch, row.dims.wrapping_sub(2), row.capacity));
    let mut text: String =
        table.lines().filter(|line| parse_row(line).is_none()).flat_map(|line| [line, "\n"]).collect();
    for Row { arch, capacity, dims, policy } in kept {
        let numbers = policy.to_array().map(|number| number.to_string()).join(", ");
        let _ = writeln!(text, "{{{arch}, {capacity}, {dims}, {{{numbers}}}}},");
    }
    text
}

/// The rows that the device code was compiled with.
pub fn table() -> Vec<Row> {
    TABLE.lines().filter_map(parse_row).collect()
}

fn parse_row(line: &str) -> Option<Row> {
    let numbers: Vec<u32> = line
        .strip_prefix('{')?
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [arch, capacity, dims, policy @ ..] = &numbers[..] else { return None };
    Some(Row {
        arch: *arch,
        capacity: *capacity,
        dims: *dims,
        policy: Policy::from_array(policy.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_table_has_a_default_for_every_kernel() {
        let rows = table();
        for capacity in [32, 64, 128, 256, 512, 1024] {
            for dims in [2, 3, 0] {
                assert!(
                    rows.iter().any(|row| (row.arch, row.capacity, row.dims) == (0, capacity, dims)),
                    "K = {capacity}, d = {dims}"
                );
            }
        }
        for Row { policy, dims, .. } in rows {
            let Policy { window, batch, .. } = policy;
            assert!(
                if dims == 0 { batch == window * 32 } else { batch % (window * 32) == 0 },
                "a batch is whole windows: {policy}"
            );
        }
    }

    #[test]
    fn updating_the_table_replaces_only_matching_rows() {
        let policy = Policy::from_array([4, 2, 8, 512, 3, 16, 5]);
        let row = Row { arch: 90, capacity: 64, dims: 3, policy };
        let once = updated_table(TABLE, &[row]);
        assert_eq!(once.lines().count(), TABLE.lines().count() + usize::from(!TABLE.contains("{90, 64, 3,")));
        assert!(once.contains("{90, 64, 3, {4, 2, 8, 512, 3, 16, 5}},"));
        assert!(once.starts_with("// Written by"));
        assert_eq!(updated_table(&once, &[row]), once, "writing twice is writing once");
        assert_eq!(updated_table(TABLE, &[]), TABLE, "the table is in its own order");
    }

    #[test]
    fn alternative_policies_are_valid() {
        let policy = Policy::from_array([8, 4, 8, 1024, 4, 16, 3]);
        for variant in [Variant { capacity: 32, dims: 2 }, Variant { capacity: 1024, dims: 3 }] {
            let all: Vec<Policy> =
                TRAITS.iter().flat_map(|alternatives| alternatives(policy, variant)).collect();
            assert!(all.len() > 20);
            assert!(all.iter().all(|policy| policy.batch % (policy.window * 32) == 0 && policy.window <= 32));
        }
    }

    #[test]
    fn trial_ratio_is_a_geometric_mean() {
        let trial = |outcome| Trial { policy: Policy::from_array([1; 7]), outcome };
        assert_eq!(trial(Ok(vec![2.0, 1.0])).ratio(&[1.0, 2.0]), 1.0);
        assert_eq!(trial(Err("spills".to_owned())).ratio(&[1.0]), f64::INFINITY);
    }
}
