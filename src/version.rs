//! The version and commit shown by `--version`, in the window's About and in saved runs.

/// The program's version and, if known at build time, its commit: `0.1.0 (1c11b87)`.
pub fn version() -> String {
    versioned(commit())
}

/// The commit that the program was built from, if known at build time.
pub fn commit() -> Option<&'static str> {
    option_env!("WARPSCOPE_COMMIT").map(str::trim).filter(|commit| !commit.is_empty())
}

fn versioned(commit: Option<&str>) -> String {
    let commit = commit
        .map(str::trim)
        .filter(|commit| !commit.is_empty())
        .map_or_else(String::new, |commit| format!(" ({commit})"));
    format!("{}{commit}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_include_the_build_commit() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(versioned(Some("1c11b87-dirty")), format!("{version} (1c11b87-dirty)"));
        assert_eq!([None, Some("")].map(versioned), [version, version]);
    }
}
