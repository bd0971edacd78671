//! Measures which branches a set of inputs reaches, with the counters that the compiler adds for libFuzzer.
//! This works on every toolchain, whereas `-C instrument-coverage` needs the tools of the compiler's own
//! LLVM.
//!
//! With `WARPSCOPE_FUZZ_COVERAGE=FILE`, a target runs each input in the given folders once, and writes a line
//! per branch: its address, and 1 if it was reached. `scripts/fuzz-coverage` maps these to source lines.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::targets::Target;

unsafe extern "C" {
    // The linker's symbols for the ends of the sections that `-sanitizer-coverage-…` creates.
    static __start___sancov_cntrs: u8;
    static __stop___sancov_cntrs: u8;
    static __start___sancov_pcs: [usize; 2];
    static __stop___sancov_pcs: [usize; 2];
}

/// Runs all inputs of these folders and writes the branches reached.
pub fn measure(target: &Target, folders: impl Iterator<Item = String>, out: &Path) -> io::Result<()> {
    // Check after each input: counters wrap around and could be zero again at the end.
    let mut reached = vec![false; counters().len()];
    let mut note = || reached.iter_mut().zip(counters()).for_each(|(reached, &count)| *reached |= count != 0);
    for folder in folders {
        for file in std::fs::read_dir(folder)? {
            (target.run)(&std::fs::read(file?.path())?);
            note();
        }
    }
    let base = base()?;
    let mut out = BufWriter::new(std::fs::File::create(out)?);
    for (place, reached) in places().iter().zip(reached) {
        // The linker leaves null addresses for functions that it dropped.
        if let Some(address) = place[0].checked_sub(base) {
            writeln!(out, "{address:x} {}", u8::from(reached))?;
        }
    }
    out.flush()
}

fn counters() -> &'static [u8] {
    let (start, stop) = (&raw const __start___sancov_cntrs, &raw const __stop___sancov_cntrs);
    // SAFETY: the linker puts both symbols at the ends of one section. Other threads may count meanwhile, but
    // a byte cannot tear.
    unsafe { std::slice::from_raw_parts(start, stop.addr() - start.addr()) }
}

/// Address and flags of each counter's branch, in the order of the counters.
fn places() -> &'static [[usize; 2]] {
    let (start, stop) = (&raw const __start___sancov_pcs, &raw const __stop___sancov_pcs);
    // SAFETY: as above; the table consists of pairs of words and is never written.
    unsafe { std::slice::from_raw_parts(start, (stop.addr() - start.addr()) / size_of::<[usize; 2]>()) }
}

/// The program's load address.
fn base() -> io::Result<usize> {
    let program = std::fs::read_link("/proc/self/exe")?;
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let first = maps
        .lines()
        .find(|line| line.ends_with(program.to_string_lossy().as_ref()))
        .and_then(|line| line.split('-').next());
    first
        .and_then(|start| usize::from_str_radix(start, 16).ok())
        .ok_or_else(|| io::Error::other("the program is missing from its memory map"))
}
