//! Entry point of the window and the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpscope::cli::main()
}
