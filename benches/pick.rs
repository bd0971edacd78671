//! Times picking in the window over all rows of a cloud: clicks, dragging the query from row to row,
//! rectangles and lassos: `cargo bench --bench pick -- [--n LIST] [--times COUNT] [--out FILE]`.
//!
//! For large clouds the window does this on a thread; the time is the delay of the selection.

use std::fmt::Write as _;
use std::sync::Arc;

use warpscope::app::measure_picking;
use warpscope::cloud::{self, Source};
use warpscope::progress::NoProgress;
use warpscope::run::stats;
use warpscope::text;

struct Options {
    n: Vec<u64>,
    times: usize,
    out: Option<String>,
}

fn options() -> Options {
    let mut options = Options { n: vec![50_000, 1_000_000, 10_000_000], times: 21, out: None };
    // Cargo adds --bench.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        let number = |text: &str| {
            text.trim().parse::<f64>().unwrap_or_else(|_| panic!("invalid number `{text}`")) as u64
        };
        match word.as_str() {
            "--n" => options.n = value.split(',').map(number).collect(),
            "--times" => options.times = number(&value).max(1) as usize,
            "--out" => options.out = Some(value),
            _ => panic!("unknown option {word}"),
        }
    }
    options
}

fn main() {
    let options = options();
    println!(
        "{} cores; uniform points in 3 dimensions, {} times each",
        rayon::current_num_threads(),
        options.times
    );
    println!("{:>12} {:<22} {:>10} {:>10} {:>10} {:>12}", "n", "", "median", "95 %", "most", "found");
    let mut samples = "n,what,ms\n".to_owned();
    for &n in &options.n {
        let source = Source::Generate { spec: format!("uniform:n={n},d=3"), seed: 1 };
        let cloud =
            Arc::new(cloud::load(&source, false, &NoProgress).unwrap_or_else(|error| panic!("{error}")));
        for times in measure_picking(&cloud, options.times) {
            let ms = &times.milliseconds;
            ms.iter()
                .for_each(|ms| writeln!(samples, "{n},{},{ms}", times.what).expect("writing to a string"));
            println!(
                "{:>12} {:<22} {:>10} {:>10} {:>10} {:>12}",
                text::thousands(n),
                times.what,
                text::time(stats::median(ms)),
                text::time(stats::quantile(ms, 0.95)),
                text::time(ms[ms.len() - 1]),
                text::thousands(times.found as u64)
            );
        }
    }
    if let Some(path) = options.out {
        std::fs::write(&path, samples).unwrap_or_else(|error| panic!("cannot write: {error}: {path}"));
    }
}
