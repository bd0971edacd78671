//! The program of all targets: WARPSCOPE_FUZZ_TARGET selects one.
#![no_main]

use std::sync::LazyLock;

use warpscope_fuzz::targets::Target;

static TARGET: LazyLock<&Target> = LazyLock::new(warpscope_fuzz::begin);

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&TARGET); }, |data: &[u8]| {
    (TARGET.run)(data);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    warpscope_fuzz::mutate(&TARGET, data, size, max_size, seed)
});
