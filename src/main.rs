//! Picks the window or the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpscope::cli::main()
}
