//! Names of files whose ending says what is in them: refused before the work, not after it.

use std::path::PathBuf;

use crate::export::ExportError;
use crate::export::table::TableFormat;

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

/// Takes the name of a table.
pub fn table_path(text: &str) -> Result<PathBuf, ExportError> {
    let path = PathBuf::from(text);
    TableFormat::of(&path).map(|_| path)
}

/// Takes the name of a folder, but not one that ends as a file that another flag writes: endings and their flags. A folder
/// that is there may be called as it likes.
pub fn folder(files: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Result<PathBuf, String> + Clone + Send + Sync + 'static {
    move |name| {
        if name.is_empty() {
            return Err("a folder has a name; the current one is called .".to_owned());
        }
        let path = PathBuf::from(name);
        let ends = |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
        match files.iter().find(|(ending, _)| ends(ending)).filter(|_| !path.is_dir()) {
            Some((ending, flag)) => Err(format!("it is a folder, and .{ending} is how a file's name ends; {flag} writes that file")),
            None => Ok(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_not_called_like_a_file_of_another_flag() {
        let place = tempfile::tempdir().unwrap();
        let there = place.path().join("there.csv");
        std::fs::create_dir(&there).unwrap();
        let out = folder(&[("csv", "--neighbors"), ("warpscope", "--record")]);
        assert!(out("").is_err());
        for name in ["out", "run.2", "a.csv/run", "csv", there.to_str().unwrap()] {
            assert_eq!(out(name), Ok(name.into()));
        }
        for (name, flag) in [("a.csv", "--neighbors"), ("a.CSV", "--neighbors"), ("b/a.warpscope", "--record")] {
            assert!(out(name).unwrap_err().ends_with(&format!("; {flag} writes that file")), "{name}");
        }
    }

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
