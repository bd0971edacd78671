//! Configuration files that never end, never begin, or are too large.

use std::process::Command;

use crate::jobs::TestDir;

/// The error line of a call with a configuration, or a description of how it ended. The call is limited to
/// ten seconds and 1 GB of memory.
fn with_config(place: &TestDir, file: &str) -> String {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -v 1000000; exec timeout -s KILL 10 \"$0\" info cloud.npy"])
        .arg(env!("CARGO_BIN_EXE_warpscope"));
    let output = place.run_in(&mut shell).env("WARPSCOPE_CONFIG", file).output().unwrap();
    format!("{:?}: {}", output.status.code(), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_configuration_must_be_a_small_regular_file() {
    let place = TestDir::new(false);
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    std::fs::write(place.path("large.toml"), format!("[sweep]\nk = [{}]\n", ["1"; 600_000].join(",")))
        .unwrap();
    for file in ["/dev/zero", "/dev/full", "pipe"] {
        assert_eq!(
            with_config(&place, file),
            format!(
                "Some(1): error: cannot read the configuration: not a regular file; write it to disk first: \
                 {file}\n"
            )
        );
    }
    let large = "Some(1): error: cannot read the configuration: 1200014 bytes exceed the limit of 1 MiB: \
                 large.toml\n";
    assert_eq!(with_config(&place, "large.toml"), large);
}
