//! Writes a site of all lessons: a page each, their index and, for learning platforms, the same pages as a
//! SCORM package. All files are put in place together.

use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::lesson::from_lesson_error;
use super::{ExportError, OutputFolder};
use crate::files::{self, Batch};
use crate::lesson::lessons::LESSONS;
use crate::lesson::moments::Moments;
use crate::lesson::picture::Film;
use crate::lesson::player::site::{GENERATOR, INDEX, MANIFEST, index, manifest, page_name};
use crate::lesson::player::{self, MAX_PAGE_BYTES, PageSummary};
use crate::progress::Progress;

/// The SCORM package in the folder of a site.
pub const PACKAGE: &str = "scorm.zip";

/// Whether a site may have a file of this name. Other files in its folder are left alone.
pub fn is_site_file(name: &str) -> bool {
    name == INDEX || name == PACKAGE || LESSONS.iter().any(|lesson| page_name(lesson) == name)
}

/// The folder of a site, before its pages are written.
pub struct SiteFolder {
    dir: PathBuf,
    made: OutputFolder,
    pages: Vec<(String, String)>,
}

impl SiteFolder {
    /// Creates the folder and checks that a site could be written to it. Called before the work.
    ///
    /// # Errors
    /// [`ExportError::Io`]; [`ExportError::OtherSite`] if files of these names do not belong to a site.
    pub fn new(dir: &Path) -> Result<Self, ExportError> {
        let made = OutputFolder::new(dir, is_site_file)?;
        let names = LESSONS.iter().map(page_name).chain([INDEX, PACKAGE].map(str::to_owned));
        let is_site = |page: Vec<u8>| String::from_utf8_lossy(&page).contains(GENERATOR);
        if !files::read_small(&dir.join(INDEX), MAX_PAGE_BYTES as u64).is_ok_and(is_site)
            && let Some(file) = names.into_iter().find(|name| dir.join(name).exists())
        {
            return Err(ExportError::OtherSite { file, path: dir.to_owned() });
        }
        super::check(&dir.join(INDEX))?;
        Ok(Self { dir: dir.to_owned(), made, pages: Vec::new() })
    }

    /// Draws the page of a lesson.
    ///
    /// # Errors
    /// [`ExportError::Memory`] and [`ExportError::Cancelled`].
    pub fn add(
        &mut self,
        film: &Film,
        moments: &Moments,
        progress: &dyn Progress,
    ) -> Result<PageSummary, ExportError> {
        let name = page_name(&film.lesson);
        let (page, summary) = player::site_page(film, moments, progress)
            .map_err(|why| from_lesson_error(ExportError::Io { why, path: self.dir.join(&name) }))?;
        self.pages.push((name, page));
        Ok(summary)
    }

    /// Writes the pages, the index and, if requested, the package. Returns the paths written. On failure the
    /// folder is unchanged.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn write(self, with_package: bool) -> Result<Vec<PathBuf>, ExportError> {
        let Self { dir, made, pages } = self;
        let mut batch = Batch::new(&dir, is_site_file).map_err(ExportError::io(&dir))?;
        let mut files: Vec<(&str, Vec<u8>)> =
            pages.iter().map(|(name, page)| (name.as_str(), page.clone().into_bytes())).collect();
        if with_package {
            let package = package(&pages).map_err(ExportError::io(&dir.join(PACKAGE)))?;
            files.push((PACKAGE, package));
        }
        // Last, so that its presence means that the site is complete.
        files.push((INDEX, index().into_bytes()));
        for (name, bytes) in &files {
            batch.write(name, |out| out.write_all(bytes)).map_err(ExportError::io(&dir.join(name)))?;
        }
        let obsolete: &[&str] = if !with_package && dir.join(PACKAGE).exists() { &[PACKAGE] } else { &[] };
        batch.put(obsolete).map_err(ExportError::io(&dir))?;
        made.keep();
        Ok(files.iter().map(|(name, _)| dir.join(name)).collect())
    }
}

/// The pages and their manifest as a SCORM 1.2 package.
fn package(pages: &[(String, String)]) -> io::Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let manifest = (MANIFEST.to_owned(), manifest());
    for (name, content) in [&manifest].into_iter().chain(pages) {
        zip.start_file(name.as_str(), SimpleFileOptions::default())?;
        zip.write_all(content.as_bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(dir: &Path, with_package: bool) -> Result<Vec<PathBuf>, ExportError> {
        let mut site = SiteFolder::new(dir)?;
        site.pages.push(("sort.html".to_owned(), "a page".to_owned()));
        site.write(with_package)
    }

    #[test]
    fn a_site_replaces_an_earlier_one_and_leaves_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("new/lessons");
        let names = ["sort.html", PACKAGE, INDEX].map(|name| dir.join(name));
        assert_eq!(write(&dir, true).unwrap(), names);
        fs::write(dir.join("notes.txt"), "mine").unwrap();
        let package = zip::ZipArchive::new(fs::File::open(dir.join(PACKAGE)).unwrap()).unwrap();
        let names: Vec<_> = package.file_names().map(Result::unwrap).collect();
        assert_eq!(names, [MANIFEST, "sort.html"]);
        assert_eq!(write(&dir, false).unwrap().len(), 2);
        assert!(!dir.join(PACKAGE).exists(), "a package of other pages would remain");
        assert_eq!(fs::read_to_string(dir.join("notes.txt")).unwrap(), "mine");
    }

    #[test]
    fn folders_with_other_pages_of_these_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("sort.html"), "mine").unwrap();
        assert!(matches!(write(folder.path(), false), Err(ExportError::OtherSite { .. })));
        let dir = folder.path().join("unused");
        drop(SiteFolder::new(&dir).unwrap());
        assert!(!dir.exists(), "nothing is left if no site is written");
    }
}
