//! Names of files whose ending says what is in them: refused before the work, not after it.

use std::path::PathBuf;

/// Takes names that end so, with the dot or without, in either case. What is no regular file, such as a pipe, may be called
/// as it likes.
pub fn ending_in(ending: &'static str) -> impl Fn(&str) -> Result<PathBuf, String> + Clone + Send + Sync + 'static {
    move |name| {
        let path = PathBuf::from(name);
        let special = path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        let fits = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
        if fits || special { Ok(path) } else { Err(format!("it is written as .{ending}, and the name must end in that")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_endings_are_refused() {
        let png = ending_in("png");
        for name in ["a.png", "b/A.PNG", "two.dots.png"] {
            assert_eq!(png(name), Ok(name.into()));
        }
        for name in ["a.jpg", "a", "png", ".png", "a.png/b", "a.png.gz"] {
            assert_eq!(png(name).unwrap_err(), "it is written as .png, and the name must end in that");
        }
        #[cfg(unix)]
        assert!(png("/dev/null").is_ok());
    }
}
