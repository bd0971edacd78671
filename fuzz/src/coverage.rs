//! Which places of the program a set of inputs reaches, by the counters that the compiler put there for
//! libFuzzer. That works on every toolchain; what `-C instrument-coverage` writes needs tools of the
//! compiler's own LLVM.
//!
//! With `WARPSCOPE_FUZZ_COVERAGE=FILE`, a target runs the inputs in the folders that it is given, once, and
//! writes a line for each place: its address in the program, and 1 if it was reached. `scripts/fuzz-coverage`
//! makes lines of them.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::targets::Target;

unsafe extern "C" {
    // The linker's names for the ends of the sections that `-sanitizer-coverage-…` makes.
    static __start___sancov_cntrs: u8;
    static __stop___sancov_cntrs: u8;
    static __start___sancov_pcs: [usize; 2];
    static __stop___sancov_pcs: [usize; 2];
}

/// Runs every input of these folders and writes what they reach.
pub fn measure(target: &Target, folders: impl Iterator<Item = String>, out: &Path) -> io::Result<()> {
    // Counters wrap around; one that happens to be zero between two inputs would be missed after all of them.
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
        // The linker leaves no address of a function that it dropped.
        if let Some(address) = place[0].checked_sub(base) {
            writeln!(out, "{address:x} {}", u8::from(reached))?;
        }
    }
    out.flush()
}

fn counters() -> &'static [u8] {
    let (start, stop) = (&raw const __start___sancov_cntrs, &raw const __stop___sancov_cntrs);
    // SAFETY: the linker puts both at the ends of one section. Other threads may count meanwhile; a byte is
    // read whole.
    unsafe { std::slice::from_raw_parts(start, stop.addr() - start.addr()) }
}

/// Address and flags of the place of each counter, in their order.
fn places() -> &'static [[usize; 2]] {
    let (start, stop) = (&raw const __start___sancov_pcs, &raw const __stop___sancov_pcs);
    // SAFETY: as above; the table is of pairs of words and never written.
    unsafe { std::slice::from_raw_parts(start, (stop.addr() - start.addr()) / size_of::<[usize; 2]>()) }
}

/// Where the program was loaded.
fn base() -> io::Result<usize> {
    let program = std::fs::read_link("/proc/self/exe")?;
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let first = maps
        .lines()
        .find(|line| line.ends_with(program.to_string_lossy().as_ref()))
        .and_then(|line| line.split('-').next());
    first
        .and_then(|start| usize::from_str_radix(start, 16).ok())
        .ok_or_else(|| io::Error::other("the program is not among its own mappings"))
}
