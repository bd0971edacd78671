//! Fuzz targets for libFuzzer: the program in `fuzz_targets/` runs one [`Target`]. The targets, their
//! mutations and their seeds are in [`targets`], which does not depend on libFuzzer, so that `tests/fuzz.rs`
//! of the main package can run them in every build.

#[cfg(fuzzing)]
mod coverage;
pub mod targets;

use std::panic;

use targets::Target;

/// Finds the target that WARPSCOPE_FUZZ_TARGET names, and makes panics in our own code abort, even inside a
/// handler for decoder panics.
///
/// # Panics
/// If there is no such target.
pub fn begin() -> &'static Target {
    let name = std::env::var("WARPSCOPE_FUZZ_TARGET").unwrap_or_default();
    let target =
        targets::find(&name).unwrap_or_else(|| panic!("WARPSCOPE_FUZZ_TARGET: unknown target `{name}`"));
    // The hook for contained decoders is installed on first use; trigger that now, so that ours is on top.
    for seed in (targets::find("npz").expect("it is listed").seeds)().into_iter().take(1) {
        (targets::find("npz").expect("it is listed").run)(&seed);
    }
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let ours = info
            .location()
            .is_none_or(|at| !at.file().contains("/registry/") && !at.file().starts_with("/rustc/"));
        if ours {
            eprintln!("{info}");
            default(info);
            std::process::abort();
        }
        // Panics on a decoder thread are caught; others unwind to libFuzzer, which aborts.
        if std::thread::current().name() != Some("decoder") {
            eprintln!("{info}\n{}", std::backtrace::Backtrace::force_capture());
        }
    }));
    #[cfg(fuzzing)]
    if let Some(out) = std::env::var_os("WARPSCOPE_FUZZ_COVERAGE") {
        let folders = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
        coverage::measure(target, folders, out.as_ref()).unwrap_or_else(|why| panic!("coverage: {why}"));
        std::process::exit(0);
    }
    target
}

/// Mutates `data[..size]` in place according to the target's format, and returns the new size.
pub fn mutate(target: &Target, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut raw = |bytes: &mut Vec<u8>, most: usize| {
        let size = bytes.len();
        let most = most.max(1);
        bytes.resize(size.max(most), 0);
        let size = libfuzzer_sys::fuzzer_mutate(bytes, size.min(most), most);
        bytes.truncate(size);
    };
    let damaged = targets::mutate::damage(target, &data[..size], most, seed, &mut raw);
    data[..damaged.len()].copy_from_slice(&damaged);
    damaged.len()
}
