//! Output files of `warpscope lesson`, and the contents of its pictures.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::bar::Bar;
use super::flags::SchemaArgs;
use super::paths::{ending_in, folder};
use super::usage::UsageError;
use super::{output, values};
use crate::export::{self, OutputFolder, text};
use crate::lesson::Level;
use crate::lesson::lessons::{Lesson, Take};
use crate::lesson::moments::{self, MAX_FRAMES, MAX_PRINTED, Moments, Selection};
use crate::lesson::picture::Panel;
use crate::lesson::picture::film::{Film, PRINT_SIZE, SIZE};
use crate::lesson::picture::page::panels_ever;
use crate::lesson::player::{MAX_PAGE_BYTES, PageSummary};
use crate::lesson::print::Theme;
use crate::palette::{DARK, HIGH_CONTRAST, LIGHT, Palette};

/// Flags of `lesson` about files.
#[derive(Debug, clap::Args)]
#[command(
    group(
        clap::ArgGroup::new("output")
            .args(["out", "png", "svg", "gif", "frames", "html", "worksheet", "key", "site"])
            .required(true)
            .multiple(true)
    ),
    group(clap::ArgGroup::new("still").args(["png", "svg"]).multiple(true))
)]
pub struct PictureArgs {
    /// Folder for the steps, the handout and other files
    ///
    /// steps.jsonl (the whole search) and handout.html. Files of other flags go here if they have no name.
    #[arg(
        long,
        value_name = "DIR",
        value_parser = folder(&[
            ("png", "--png"),
            ("svg", "--svg"),
            ("gif", "--gif"),
            ("html", "--html"),
            ("worksheet", "--worksheet"),
            ("key", "--key"),
        ]),
        help_heading = "Files"
    )]
    out: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Files")]
    schema: SchemaArgs,
    /// Picture of one moment
    #[arg(long, value_name = "FILE", value_parser = ending_in("png"), help_heading = "Files")]
    png: Option<Option<PathBuf>>,
    /// Picture of one moment, as a vector graphic
    #[arg(long, value_name = "FILE", value_parser = ending_in("svg"), help_heading = "Files")]
    svg: Option<Option<PathBuf>>,
    /// Animation of a range of steps
    #[arg(long, value_name = "FILE", value_parser = ending_in("gif"), help_heading = "Files")]
    gif: Option<Option<PathBuf>>,
    /// Folder of numbered PNG files of a range of steps
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    frames: Option<Option<PathBuf>>,
    /// Web page that plays a range of steps, in one file
    #[arg(long, value_name = "FILE", value_parser = ending_in("html"), help_heading = "Files")]
    html: Option<Option<PathBuf>>,
    /// Worksheet: questions with pictures and room to write
    #[arg(long, value_name = "FILE", value_parser = ending_in("html"), help_heading = "Files")]
    worksheet: Option<Option<PathBuf>>,
    /// Key of the worksheet, with answers and reasons
    ///
    /// The same questions, and what each wrong answer means.
    #[arg(long, value_name = "FILE", value_parser = ending_in("html"), help_heading = "Files")]
    key: Option<Option<PathBuf>>,
    /// Folder for a page of every lesson, with an index
    ///
    /// Needs no network. Files of an earlier site in the folder are replaced together.
    #[arg(long, value_name = "DIR", conflicts_with_all = NOT_FOR_SITES.split(' '), help_heading = "Files")]
    pub site: Option<PathBuf>,
    /// Also write the site as a SCORM 1.2 package, DIR/scorm.zip
    ///
    /// For learning platforms: each lesson reports its score, time and place.
    #[arg(long, requires = "site", help_heading = "Files")]
    pub scorm: bool,
    /// Seed for the questions [default: the lesson's seed]
    ///
    /// For handout, worksheet and key. The page of --html draws new questions each time.
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = values::whole::<u64>,
        help_heading = "Selection of steps"
    )]
    sheet: Option<u64>,
    /// Step shown by --png and --svg
    ///
    /// By default the end of the lesson's part, or with --break the step where it breaks.
    #[arg(
        long,
        value_name = "STEP",
        requires = "still",
        value_parser = values::whole::<usize>,
        help_heading = "Selection of steps"
    )]
    at: Option<usize>,
    /// First step of a range [default: start of the lesson's part]
    #[arg(
        long,
        value_name = "STEP",
        value_parser = values::whole::<usize>,
        help_heading = "Selection of steps"
    )]
    from: Option<usize>,
    /// Last step of a range [default: end of the lesson's part]
    #[arg(
        long,
        value_name = "STEP",
        value_parser = values::whole::<usize>,
        help_heading = "Selection of steps"
    )]
    to: Option<usize>,
    /// Finest level of detail of steps [default: the lesson's]
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(Level::ALL.map(Level::name)).map(|name| level(&name)),
        help_heading = "Selection of steps"
    )]
    level: Option<Level>,
    /// Include only every n-th of these steps
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        hide_default_value = true,
        value_parser = values::whole::<usize>,
        help_heading = "Selection of steps"
    )]
    every: usize,
    /// Maximum number of pictures [default: 120; handout: 16]
    ///
    /// If there are more steps, evenly spaced ones are shown.
    #[arg(
        long,
        alias = "most",
        value_name = "NUMBER",
        value_parser = values::whole::<usize>,
        help_heading = "Selection of steps"
    )]
    max_pictures: Option<usize>,
    /// Order of the points to show, in lessons with several
    ///
    /// By default the orders are shown side by side, and the page of --html offers all.
    #[arg(long, value_name = "ORDER", help_heading = "Selection of steps")]
    take: Option<String>,
    /// Show one panel with title and sentence
    ///
    /// The page of --html has all panels.
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(Panel::NAMED.map(|(name, _)| name)),
        help_heading = "Selection of steps"
    )]
    panel: Option<String>,
    /// Theme [default: light; handout: the reader's]
    #[arg(
        long = "theme",
        alias = "look",
        value_name = "THEME",
        value_parser = PossibleValuesParser::new(["light", "dark", "high-contrast"]),
        help_heading = "Appearance"
    )]
    look: Option<String>,
    /// Size of a picture, at least 960x540 [default: 1280x720]
    ///
    /// In the handout the default is 960x540.
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Appearance")]
    size: Option<[f32; 2]>,
    /// Height of running text, 8 to 48
    ///
    /// All other text scales with it. The default is 1/45 of the picture's height.
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u16).range(8..=48),
        help_heading = "Appearance"
    )]
    text: Option<u16>,
    /// Scale factor; 2 turns 1280x720 into 2560x1440
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, help_heading = "Appearance")]
    scale: f32,
    /// Seconds per picture of the GIF; the last one stays longer
    #[arg(long, value_name = "SECONDS", default_value_t = 1.2, help_heading = "Appearance")]
    pace: f32,
    /// Omit the GIF's transitions between moments
    #[arg(long, requires = "gif", help_heading = "Appearance")]
    no_motion: bool,
}

/// Flags about one lesson and its other files.
const NOT_FOR_SITES: &str = "lesson k width mistake engine seed keys query_at input generate query metric \
     order out png svg gif frames html worksheet key sheet at from to level every max_pictures take panel \
     look size text scale pace";

fn level(name: &str) -> Level {
    Level::ALL.into_iter().find(|level| level.name() == name).unwrap_or(Level::Lane)
}

fn size(text: &str) -> Result<[f32; 2], String> {
    let parsed = text
        .split_once(['x', '\u{d7}'])
        .and_then(|(width, height)| Some([width.trim().parse::<u16>().ok()?, height.trim().parse().ok()?]));
    match parsed.map(|lengths| lengths.map(f32::from)) {
        Some(size) if size[0] >= PRINT_SIZE[0] && size[1] >= PRINT_SIZE[1] => Ok(size),
        Some(_) => Err("must be at least 960x540".to_owned()),
        None => Err("expected WIDTHxHEIGHT, such as 1280x720".to_owned()),
    }
}

/// The files to write.
pub struct OutputPaths {
    steps: Vec<PathBuf>,
    handout: Option<PathBuf>,
    png: Option<PathBuf>,
    svg: Option<PathBuf>,
    gif: Option<PathBuf>,
    frames: Option<PathBuf>,
    page: Option<PathBuf>,
    worksheet: Option<PathBuf>,
    key: Option<PathBuf>,
    /// New folders, removed again if they stay empty.
    made: Vec<OutputFolder>,
}

impl PictureArgs {
    /// The files of a lesson, after checking that they can be written and that the flags make sense. Called
    /// before the work.
    pub fn plan(&self, takes: &[&str]) -> anyhow::Result<OutputPaths> {
        let (low, high) = export::lesson::PACE_RANGE;
        if !(low..=high).contains(&self.pace) {
            bail!(UsageError(format!("--pace {}: must be between {low} and {high} seconds", self.pace)));
        }
        crate::draw::raster::pixels(self.size.unwrap_or(SIZE), self.scale)?;
        if let Some(take) = self.take.as_ref().filter(|take| !takes.contains(&take.as_str())) {
            bail!(UsageError(format!("--take {take}: unknown order; available: {}", takes.join(", "))));
        }
        let name = |flag: &str, file: &Option<Option<PathBuf>>, default: &str| match (file, &self.out) {
            (None, _) => Ok(None),
            (Some(Some(path)), _) => Ok(Some(path.clone())),
            (Some(None), Some(dir)) => Ok(Some(dir.join(default))),
            (Some(None), None) => {
                bail!(UsageError(format!(
                    "--{flag}: file name missing; add one, or --out DIR to write DIR/{default}"
                )))
            }
        };
        let mut plan = OutputPaths {
            steps: self
                .out
                .iter()
                .flat_map(|dir| takes.iter().map(|take| dir.join(steps_file(take, takes.len()))))
                .collect(),
            handout: self.out.as_ref().map(|dir| dir.join("handout.html")),
            png: name("png", &self.png, "lesson.png")?,
            svg: name("svg", &self.svg, "lesson.svg")?,
            gif: name("gif", &self.gif, "lesson.gif")?,
            frames: name("frames", &self.frames, "frames")?,
            page: name("html", &self.html, "lesson.html")?,
            worksheet: name("worksheet", &self.worksheet, "worksheet.html")?,
            key: name("key", &self.key, "key.html")?,
            made: Vec::new(),
        };
        plan.check_distinct()?;
        for dir in self.out.iter().chain(&plan.frames) {
            plan.made.push(OutputFolder::new(dir, export::lesson::is_frame_file)?);
        }
        for file in plan.files() {
            export::check(file)?;
        }
        if let Some(dir) = &plan.frames {
            export::check(&dir.join("frame-0001.png"))?;
        }
        Ok(plan)
    }

    /// Whether questions were requested.
    pub fn has_questions(&self) -> bool {
        self.worksheet.is_some() || self.key.is_some()
    }

    /// Writes the files and returns their names.
    pub fn write(&self, plan: &OutputPaths, lesson: &Lesson, takes: &[Take]) -> anyhow::Result<Vec<String>> {
        let shown: Vec<Take> = match &self.take {
            Some(name) => takes.iter().filter(|take| take.arrangement.name() == name).cloned().collect(),
            None => takes.to_vec(),
        };
        let zoom = self.zoom(lesson, &shown)?;
        let film = |size: [f32; 2], scale: f32| {
            let film = Film::new(lesson, shown.clone(), self.size.unwrap_or(size), scale, self.palette());
            Film {
                text: self.text.map_or(film.text, f32::from),
                motion: !self.no_motion,
                zoom,
                seed: self.sheet.unwrap_or(film.seed),
                ..film
            }
        };
        let (film, paper) = (film(SIZE, self.scale), film(PRINT_SIZE, 1.0));
        // Checks everything that may be wrong before writing anything.
        let lead = film.lead();
        let at =
            moments::check(&lead.recording, self.at.unwrap_or(lead.broken_at().unwrap_or(lead.range.end)))?;
        let (frames, figures) = (self.moments(MAX_FRAMES, &film)?, self.moments(MAX_PRINTED, &film)?);
        let mut written = Vec::new();
        let mut wrote = |path: &Path| written.push(path.display().to_string());
        // The page needs most memory, so it comes first: if it is refused, nothing is written.
        if let Some(path) = &plan.page {
            let all = self.moments(usize::MAX, &film)?;
            let page = export::lesson::page(&film, &all, path, &Bar::new("drawing the page"))?;
            wrote(path);
            note_levels(&page, lesson);
        }
        for (take, path) in takes.iter().zip(&plan.steps) {
            export::lesson::steps(&take.recording, self.schema.schema.number(), path)?;
            wrote(path);
        }
        if let Some(path) = &plan.png {
            export::lesson::picture(&film, at, path)?;
            wrote(path);
        }
        if let Some(path) = &plan.svg {
            export::lesson::drawing(&film, at, path)?;
            wrote(path);
        }
        if let Some(path) = &plan.gif {
            export::lesson::gif(&film, &frames, self.pace, path, &Bar::new("drawing the GIF"))?;
            wrote(path);
        }
        if let Some(dir) = &plan.frames {
            let files = export::lesson::frames(&film, &frames, dir, &Bar::new("drawing the frames"))?;
            wrote(&dir.join(format!("frame-0001.png to frame-{:04}.png", files.len())));
        }
        if plan.gif.is_some() || plan.frames.is_some() {
            note_skipped("pictures", &frames);
        }
        let theme = if self.look.is_some() { Theme::Film } else { Theme::Adaptive };
        if let Some(path) = &plan.worksheet {
            export::lesson::worksheet(&paper, theme, path, &Bar::new("drawing the worksheet"))?;
            wrote(path);
        }
        if let Some(path) = &plan.key {
            export::lesson::key(&paper, theme, path)?;
            wrote(path);
        }
        // Written last, so that its presence means that all files were written.
        if let Some(path) = &plan.handout {
            export::lesson::handout(&paper, &figures, theme, path, &Bar::new("drawing the handout"))?;
            wrote(path);
            note_skipped("the handout's pictures", &figures);
        }
        Ok(written)
    }

    /// The panel to show alone.
    fn zoom(&self, lesson: &Lesson, takes: &[Take]) -> anyhow::Result<Option<Panel>> {
        let Some(name) = self.panel.as_deref() else { return Ok(None) };
        let [take] = takes else {
            bail!(UsageError(format!("--panel {name}: requires a single order; select one with --take")))
        };
        let ever = panels_ever(lesson, take);
        let named =
            |panel: &Panel| Panel::NAMED.iter().find(|(_, named)| named == panel).map(|(name, _)| *name);
        match ever.iter().find(|panel| named(panel) == Some(name)) {
            Some(panel) => Ok(Some(*panel)),
            None => {
                let names: Vec<&str> = ever.iter().filter_map(named).collect();
                bail!(UsageError(format!(
                    "--panel {name}: lesson `{}` does not have this panel; available: {}",
                    lesson.id,
                    names.join(", ")
                )))
            }
        }
    }

    fn palette(&self) -> Palette {
        match self.look.as_deref() {
            Some("dark") => DARK,
            Some("high-contrast") => HIGH_CONTRAST,
            _ => LIGHT,
        }
    }

    fn moments(&self, max_pictures: usize, film: &Film) -> anyhow::Result<Moments> {
        let selection = Selection {
            from: self.from,
            to: self.to,
            level: self.level,
            every: self.every,
            max: self.max_pictures.unwrap_or(max_pictures),
        };
        Ok(selection.moments(&film.lesson, film.lead())?)
    }
}

impl OutputPaths {
    /// All files except the frames.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let pictures = self.png.iter().chain(&self.svg).chain(&self.gif);
        self.steps
            .iter()
            .chain(&self.handout)
            .chain(pictures)
            .chain(&self.page)
            .chain(&self.worksheet)
            .chain(&self.key)
            .map(PathBuf::as_path)
    }

    /// Refuses two outputs with the same path.
    fn check_distinct(&self) -> anyhow::Result<()> {
        let mut places: Vec<PathBuf> = self.frames.iter().map(|dir| resolved(dir)).collect();
        for file in self.files() {
            let place = resolved(file);
            let is_frame = self.frames.is_some()
                && place.parent() == places.first().map(PathBuf::as_path)
                && is_frame(&place);
            if is_frame || places.contains(&place) {
                bail!(UsageError(format!(
                    "cannot write: two outputs have the same path; rename one: {}",
                    file.display()
                )));
            }
            places.push(place);
        }
        Ok(())
    }
}

/// The canonical path; the last components need not exist yet.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there =
        path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    // Joining an empty rest would add a slash.
    there.map_or(
        path.clone(),
        |(above, rest)| if rest.as_os_str().is_empty() { above } else { above.join(rest) },
    )
}

fn is_frame(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("frame-") && name.ends_with(".png"))
}

fn steps_file(take: &str, takes: usize) -> String {
    if takes == 1 { "steps.jsonl".to_owned() } else { format!("steps-{take}.jsonl") }
}

/// Notes that a page lacks fine levels, and why.
pub fn note_levels(page: &PageSummary, lesson: &Lesson) {
    if page.finest < Level::Lane {
        let why = match page.short {
            Some(short) => format!("with more steps it {short}"),
            None => format!("with more steps it would be larger than {} MB", MAX_PAGE_BYTES / 1_000_000),
        };
        output::note(&format!(
            "the page of lesson `{}` includes steps at level {} and coarser only: {why}",
            lesson.id,
            page.finest.name()
        ));
    }
}

/// Notes how many moments were skipped.
fn note_skipped(what: &str, moments: &Moments) {
    let (shown, all) = (moments.positions.len(), moments.all.len());
    if shown < all {
        let of = text::count(all as u64, "moment", "moments");
        output::note(&format!(
            "{what} show {} of {of} at level {}; --max-pictures {all} shows all",
            text::thousands(shown as u64),
            moments.level.name()
        ));
    }
}
