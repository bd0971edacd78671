//! Picks the window or the command line.

fn main() {
    let file = std::env::args().nth(1).map(Into::into);
    if let Err(error) = warpscope::app::run(file) {
        eprintln!("error: {error:#}");
        std::process::exit(1);
    }
}
