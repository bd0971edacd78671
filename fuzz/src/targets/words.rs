//! Typed text: accepted, or refused with a reason.

use warpscope::cli;
use warpscope::cloud::{ColumnChoice, generate, query_point};
use warpscope::knn::{Method, alternatives, split_methods};
use warpscope::progress::NoProgress;

use super::scratch;

/// Maximum number of values to generate, because the specs are fuzzed and not the generators.
const FEW: f64 = 5000.0;

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// A generator's spec, and the points if there are few.
pub fn generator(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(spec) = generate::check(text) else { return };
    let size = |key: &str, default: f64| spec.value(key).unwrap_or(default).max(1.0);
    let work = size("n", 1.0) * size("d", 3.0);
    if work > FEW
        || size("clusters", 1.0) * size("d", 3.0) > FEW
        || size("distinct", 1.0) * size("d", 3.0) > FEW
    {
        return;
    }
    if let Ok(points) = generate::generate(text, 7, &NoProgress) {
        let values = (0..points.values.len()).map(|at| points.values.get(at));
        assert!(
            values.into_iter().all(|value| value.is_finite() && f64::from(value as f32) == value),
            "{text}: not all values are finite f32"
        );
        assert_eq!(points.values.len() % points.columns.len(), 0, "{text}");
    }
}

/// A list of columns and a position.
pub fn columns(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match text.parse() {
        Ok(ColumnChoice::Named(names)) => assert!(
            !names.is_empty() && names.iter().all(|name| !name.is_empty() && name.trim() == name),
            "{text}"
        ),
        Ok(ColumnChoice::Default) => {}
        Err(never) => match never {},
    }
    if let Ok(at) = query_point::parse(text) {
        let again = query_point::parse(&query_point::format(&at)).expect("reading what was written");
        let bits = |at: &[f64]| at.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(
            bits(&at) == bits(&again) || at.iter().any(|value| value.is_nan()),
            "{at:?} came back as {again:?}"
        );
    }
}

/// Engines with their parameters, alone and in lists.
pub fn method(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if let Ok(method) = text.parse::<Method>() {
        let written = method.to_string();
        assert_eq!(written.parse::<Method>().as_ref(), Ok(&method), "{written}");
    }
    for one in split_methods(text) {
        for alternative in alternatives(&one).unwrap_or_default() {
            let _ = alternative.parse::<Method>();
        }
    }
}

/// The command line, one argument per line.
pub fn arguments(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let _ = cli::parses(std::iter::once("warpscope").chain(text.lines()));
}

/// A configuration file, for commands with at most a file as argument.
pub fn config(data: &[u8]) {
    let path = scratch::file("config.toml", data);
    for arguments in [
        &["knn", "a.csv"][..],
        &["run", "--input", "a.csv"],
        &["lesson", "--png", "a.png"],
        &["gui"],
        &["knn", "a.csv", "--radius", "1"],
    ] {
        let words = std::iter::once("warpscope").chain(arguments.iter().copied()).map(Into::into);
        // Errors quote file contents, including control characters, which are escaped when printed.
        if let Err(why) = cli::parses_with_defaults(path.clone(), words) {
            assert!(!why.is_empty() && why.len() < 1 << 20, "an error of {} bytes", why.len());
        }
    }
}
