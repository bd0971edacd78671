//! Requirements on every engine of the registry, on each kind of device that it supports, and on an engine
//! outside the registry ([`dummy`]). Registering a new engine is enough to test it.
//!
//! `scripts/gpu-check` runs the GPU tests. Tests of single kernels are in `tests/cuda*.rs`.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod dummy;
mod memory;
mod parameters;
mod points;
mod refusals;
mod rules;
mod subject;

/// Defines each check as a test of the CPU engines, of the GPU engines, and of the dummy.
macro_rules! conformance {
    ($($check:path as $name:ident),+ $(,)?) => {
        mod cpu {
            $(#[test] fn $name() { $check(&crate::subject::on_devices(warpscope::knn::DeviceKind::Cpu)); })+
        }
        mod gpu {
            $(
                #[test]
                #[ignore = "needs an NVIDIA GPU"]
                fn $name() {
                    $check(&crate::subject::on_devices(warpscope::knn::DeviceKind::Gpu));
                }
            )+
        }
        mod unlisted {
            $(#[test] fn $name() { $check(&crate::dummy::subjects()); })+
        }
    };
}

conformance! {
    crate::answers::every_k_and_d as every_k_and_d,
    crate::answers::k_up_to_n as k_up_to_n,
    crate::answers::few_points as few_points,
    crate::answers::many_dimensions as many_dimensions,
    crate::answers::partial_samples as partial_samples,
    crate::answers::many_neighbours as many_neighbours,
    crate::answers::shapes as shapes,
    crate::answers::ties as ties,
    crate::answers::random_problems as random_problems,
    crate::answers::random_problems_in_many_dimensions as random_problems_in_many_dimensions,
    crate::answers::realistic_sizes as realistic_sizes,
    crate::answers::smaller_k_is_a_prefix as smaller_k_is_a_prefix,
    crate::answers::builds_agree as builds_agree,
    crate::answers::ranges_answer_their_own_queries as ranges_answer_their_own_queries,
    crate::answers::means_stay_below_the_theoretical_bound as means_stay_below_the_theoretical_bound,
    crate::parameters::every_value_gives_the_same_bits as every_value_gives_the_same_bits,
    crate::parameters::enumerated_values_give_the_same_bits as enumerated_values_give_the_same_bits,
    crate::parameters::resolved_parameters_resolve_to_themselves as resolved_parameters_resolve_to_themselves,
    crate::points::points_are_prepared_once as points_are_prepared_once,
    crate::refusals::limits_are_refused_by_number as limits_are_refused_by_number,
    crate::refusals::wrong_parameters_are_refused_by_name as wrong_parameters_are_refused_by_name,
    crate::refusals::memory_is_checked_before_the_start as memory_is_checked_before_the_start,
}
