//! Embeds the commit that the program is built from. `crates/engines/build.rs` compiles the device code.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=WARPSCOPE_COMMIT={commit}");
    }
}

/// The commit of a release build, with `-dirty` if files differ from it. `None` if `WARPSCOPE_COMMIT` names
/// one or git does not know. Also `None` in debug builds, which would otherwise be rebuilt for each commit.
fn commit() -> Option<String> {
    println!("cargo::rerun-if-env-changed=WARPSCOPE_COMMIT");
    let named = env::var("WARPSCOPE_COMMIT").is_ok_and(|commit| !commit.trim().is_empty());
    if named || env::var("PROFILE").as_deref() != Ok("release") {
        return None;
    }
    let git = |args: &[&str]| {
        output(Command::new("git").args(args))
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    };
    // Ignore an outer repository that these sources were unpacked into.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != env::current_dir().and_then(fs::canonicalize).ok()? {
        return None;
    }
    // The log grows with every commit and checkout. If it is missing, cargo would rerun this script in every
    // build.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists())?;
    for path in [&log, "src", "crates", "build.rs", "cuda", "assets", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    git(&["describe", "--always", "--dirty", "--exclude", "*"])
}

fn output(command: &mut Command) -> Result<String, String> {
    let output =
        command.output().map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
