//! `seeds FOLDER` writes each target's seeds into a subfolder of its name. Without a folder, lists the
//! targets and the sources that each covers.

use std::io;
use std::path::PathBuf;

use warpscope_fuzz::targets::TARGETS;

/// libFuzzer's entry point. Unused here, but required for linking.
#[allow(improper_ctypes_definitions, reason = "the signature that libfuzzer-sys declares")]
#[unsafe(no_mangle)]
pub extern "C" fn rust_fuzzer_test_input(_: &[u8]) -> i32 {
    0
}

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.covers));
        return Ok(());
    };
    for target in TARGETS {
        let folder = folder.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (at, seed) in (target.seeds)().into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{at:02}")), seed)?;
        }
    }
    Ok(())
}
