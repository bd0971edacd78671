//! Which files `warpscope lesson` writes, and what its pictures show.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::bar::Bar;
use super::paths::{ending_in, folder};
use super::usage::Usage;
use super::{output, values};
use crate::export::{self, MadeFolder, text};
use crate::lesson::Level;
use crate::lesson::lessons::{Lesson, Take};
use crate::lesson::moments::{self, MOST_FRAMES, MOST_ON_PAPER, Moments, Selection};
use crate::lesson::paper::Theme;
use crate::lesson::picture::Panel;
use crate::lesson::picture::film::{Film, SIZE, SIZE_ON_PAPER};
use crate::lesson::picture::page::panels_ever;
use crate::lesson::player::MOST_BYTES;
use crate::palette::{DARK, HIGH_CONTRAST, LIGHT, Palette};

/// What the lesson's flags say about files.
#[derive(Debug, clap::Args)]
#[command(
    group(
        clap::ArgGroup::new("output")
            .args(["out", "png", "svg", "gif", "frames", "html", "worksheet", "key"])
            .required(true)
            .multiple(true)
    ),
    group(clap::ArgGroup::new("still").args(["png", "svg"]).multiple(true))
)]
pub struct PictureArgs {
    /// Writes the steps (steps.jsonl, all of the search) and a handout (handout.html) into a folder; files of
    /// the other flags go there, too, where they are given no name
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
    /// Writes the picture of one moment
    #[arg(long, value_name = "FILE", value_parser = ending_in("png"), help_heading = "Files")]
    png: Option<Option<PathBuf>>,
    /// Writes that as a vector graphic
    #[arg(long, value_name = "FILE", value_parser = ending_in("svg"), help_heading = "Files")]
    svg: Option<Option<PathBuf>>,
    /// Writes a range as an animation
    #[arg(long, value_name = "FILE", value_parser = ending_in("gif"), help_heading = "Files")]
    gif: Option<Option<PathBuf>>,
    /// Writes a range as numbered PNG files
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    frames: Option<Option<PathBuf>>,
    /// Writes a page that plays a range in a browser, in one file
    #[arg(long, value_name = "FILE", value_parser = ending_in("html"), help_heading = "Files")]
    html: Option<Option<PathBuf>>,
    /// Writes a worksheet: questions with their pictures and room to write
    #[arg(long, value_name = "FILE", value_parser = ending_in("html"), help_heading = "Files")]
    worksheet: Option<Option<PathBuf>>,
    /// Writes its key: the same questions with answers, reasons, and what each wrong answer means
    #[arg(long, value_name = "FILE", value_parser = ending_in("html"), help_heading = "Files")]
    key: Option<Option<PathBuf>>,
    /// Draws the questions of handout, worksheet and key; another number draws others [default: the lesson's
    /// seed]. The page of --html draws its own, anew each time
    #[arg(long, value_name = "NUMBER", value_parser = values::whole::<u64>, help_heading = "What is shown")]
    sheet: Option<u64>,
    /// The moment of --png and --svg: after so many steps [default: where the lesson's part ends, or with
    /// --break where it breaks]
    #[arg(
        long,
        value_name = "STEP",
        requires = "still",
        value_parser = values::whole::<usize>,
        help_heading = "What is shown"
    )]
    at: Option<usize>,
    /// The first moment of a range [default: where the lesson's part begins]
    #[arg(long, value_name = "STEP", value_parser = values::whole::<usize>, help_heading = "What is shown")]
    from: Option<usize>,
    /// The last moment of a range [default: where the lesson's part ends]
    #[arg(long, value_name = "STEP", value_parser = values::whole::<usize>, help_heading = "What is shown")]
    to: Option<usize>,
    /// Which steps of a range: those of this level of detail and coarser ones [default: the lesson's]
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(Level::ALL.map(Level::name)).map(|name| level(&name)),
        help_heading = "What is shown"
    )]
    level: Option<Level>,
    /// One of so many of these
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        hide_default_value = true,
        value_parser = values::whole::<usize>,
        help_heading = "What is shown"
    )]
    every: usize,
    /// At most so many, spread evenly [default: 120, and 16 in the handout]
    #[arg(long, value_name = "NUMBER", value_parser = values::whole::<usize>, help_heading = "What is shown")]
    most: Option<usize>,
    /// Of a lesson with several orders of the points, this one alone; else they stand side by side, and the
    /// page of --html lets choose
    #[arg(long, value_name = "ORDER", help_heading = "What is shown")]
    take: Option<String>,
    /// One panel alone, beside title and sentence; the page of --html has all
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(Panel::NAMED.map(|(name, _)| name)),
        help_heading = "What is shown"
    )]
    panel: Option<String>,
    /// The colours of pictures [default: light; in the handout as the reader has it]
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(["light", "dark", "high-contrast"]),
        help_heading = "How it looks"
    )]
    look: Option<String>,
    /// Width and height of a picture, 960x540 or more [default: 1280x720, and 960x540 in the handout]
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "How it looks")]
    size: Option<[f32; 2]>,
    /// How high running text is, 8 to 48; all other text goes with it [default: a 45th of the picture's
    /// height]
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u16).range(8..=48),
        help_heading = "How it looks"
    )]
    text: Option<u16>,
    /// Pixels for each point of a picture; 2 makes 2560x1440 of 1280x720
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, help_heading = "How it looks")]
    scale: f32,
    /// How long a picture of the GIF stays, in seconds; the last one stays longer
    #[arg(long, value_name = "SECONDS", default_value_t = 1.2, help_heading = "How it looks")]
    pace: f32,
    /// Leaves out of the GIF the pictures in which things are on their way to the next moment
    #[arg(long, requires = "gif", help_heading = "How it looks")]
    no_motion: bool,
}

fn level(name: &str) -> Level {
    Level::ALL.into_iter().find(|level| level.name() == name).unwrap_or(Level::Lane)
}

fn size(text: &str) -> Result<[f32; 2], String> {
    let parsed = text
        .split_once(['x', '\u{d7}'])
        .and_then(|(width, height)| Some([width.trim().parse::<u16>().ok()?, height.trim().parse().ok()?]));
    match parsed.map(|lengths| lengths.map(f32::from)) {
        Some(size) if size[0] >= SIZE_ON_PAPER[0] && size[1] >= SIZE_ON_PAPER[1] => Ok(size),
        Some(_) => Err("a picture has no room below 960x540".to_owned()),
        None => Err("a size is width x height, such as 1280x720".to_owned()),
    }
}

/// The files that are to be written.
pub struct Plan {
    steps: Vec<PathBuf>,
    handout: Option<PathBuf>,
    png: Option<PathBuf>,
    svg: Option<PathBuf>,
    gif: Option<PathBuf>,
    frames: Option<PathBuf>,
    page: Option<PathBuf>,
    worksheet: Option<PathBuf>,
    key: Option<PathBuf>,
    /// Gone again, where nothing is written into them.
    made: Vec<MadeFolder>,
}

impl PictureArgs {
    /// The files of a lesson, once it is sure that they can be written and that what is asked makes sense:
    /// before the work, not after it.
    pub fn plan(&self, takes: &[&str]) -> anyhow::Result<Plan> {
        let (low, high) = export::lesson::PACES;
        if !(low..=high).contains(&self.pace) {
            bail!(Usage(format!("--pace {}: a picture stays {low} to {high} seconds", self.pace)));
        }
        crate::draw::raster::pixels(self.size.unwrap_or(SIZE), self.scale)?;
        if let Some(take) = self.take.as_ref().filter(|take| !takes.contains(&take.as_str())) {
            bail!(Usage(format!("--take {take}: this lesson has {}", takes.join(", "))));
        }
        let name = |flag: &str, file: &Option<Option<PathBuf>>, default: &str| match (file, &self.out) {
            (None, _) => Ok(None),
            (Some(Some(path)), _) => Ok(Some(path.clone())),
            (Some(None), Some(dir)) => Ok(Some(dir.join(default))),
            (Some(None), None) => {
                bail!(Usage(format!("--{flag}: it needs a name, or --out DIR, where it is called {default}")))
            }
        };
        let mut plan = Plan {
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
        plan.is_one_of_each()?;
        for dir in self.out.iter().chain(&plan.frames) {
            plan.made.push(MadeFolder::new(dir, export::lesson::of_film)?);
        }
        for file in plan.files() {
            export::check(file)?;
        }
        if let Some(dir) = &plan.frames {
            export::check(&dir.join("frame-0001.png"))?;
        }
        Ok(plan)
    }

    /// Whether questions to print are asked for.
    pub fn asks(&self) -> bool {
        self.worksheet.is_some() || self.key.is_some()
    }

    /// Writes them, and says what was written.
    pub fn write(&self, plan: &Plan, lesson: &Lesson, takes: &[Take]) -> anyhow::Result<Vec<String>> {
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
        let (film, paper) = (film(SIZE, self.scale), film(SIZE_ON_PAPER, 1.0));
        // All that may be wrong, before anything is written.
        let lead = film.lead();
        let at =
            moments::check(&lead.recording, self.at.unwrap_or(lead.broken_at().unwrap_or(lead.range.end)))?;
        let (frames, figures) = (self.moments(MOST_FRAMES, &film)?, self.moments(MOST_ON_PAPER, &film)?);
        let mut written = Vec::new();
        let mut wrote = |path: &Path| written.push(path.display().to_string());
        // First what needs most memory: if it is refused, nothing is written.
        if let Some(path) = &plan.page {
            let all = self.moments(usize::MAX, &film)?;
            let page = export::lesson::page(&film, &all, path, &Bar::new("drawing the page"))?;
            wrote(path);
            if page.finest < Level::Lane {
                let why = match page.short {
                    Some(short) => format!("with more steps it {short}"),
                    None => format!("with more steps it would be larger than {} MB", MOST_BYTES / 1_000_000),
                };
                output::note(&format!("the page stops at level {} and coarser: {why}", page.finest.name()));
            }
        }
        for (take, path) in takes.iter().zip(&plan.steps) {
            export::lesson::steps(&take.recording, path)?;
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
            tell("pictures", &frames);
        }
        let theme = if self.look.is_some() { Theme::Film } else { Theme::Readers };
        if let Some(path) = &plan.worksheet {
            export::lesson::worksheet(&paper, theme, path, &Bar::new("drawing the worksheet"))?;
            wrote(path);
        }
        if let Some(path) = &plan.key {
            export::lesson::key(&paper, theme, path)?;
            wrote(path);
        }
        // Last: where it is, the others are.
        if let Some(path) = &plan.handout {
            export::lesson::handout(&paper, &figures, theme, path, &Bar::new("drawing the handout"))?;
            wrote(path);
            tell("the handout's pictures", &figures);
        }
        Ok(written)
    }

    /// The panel that is shown alone.
    fn zoom(&self, lesson: &Lesson, takes: &[Take]) -> anyhow::Result<Option<Panel>> {
        let Some(name) = self.panel.as_deref() else { return Ok(None) };
        let [take] = takes else {
            bail!(Usage(format!("--panel {name}: of one order at a time; choose it with --take")))
        };
        let ever = panels_ever(lesson, take);
        let named =
            |panel: &Panel| Panel::NAMED.iter().find(|(_, named)| named == panel).map(|(name, _)| *name);
        match ever.iter().find(|panel| named(panel) == Some(name)) {
            Some(panel) => Ok(Some(*panel)),
            None => {
                let names: Vec<&str> = ever.iter().filter_map(named).collect();
                bail!(Usage(format!(
                    "--panel {name}: lesson {} has no such panel; it has {}",
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

    fn moments(&self, most: usize, film: &Film) -> anyhow::Result<Moments> {
        let selection = Selection {
            from: self.from,
            to: self.to,
            level: self.level,
            every: self.every,
            most: self.most.unwrap_or(most),
        };
        Ok(selection.moments(&film.lesson, film.lead())?)
    }
}

impl Plan {
    /// All files but the frames.
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

    /// Refuses to write one file over another.
    fn is_one_of_each(&self) -> anyhow::Result<()> {
        let mut places: Vec<PathBuf> = self.frames.iter().map(|dir| resolved(dir)).collect();
        for file in self.files() {
            let place = resolved(file);
            let is_frame = self.frames.is_some()
                && place.parent() == places.first().map(PathBuf::as_path)
                && is_frame(&place);
            if is_frame || places.contains(&place) {
                bail!(Usage(format!(
                    "cannot write: two of the files would be one; give each a name of its own: {}",
                    file.display()
                )));
            }
            places.push(place);
        }
        Ok(())
    }
}

/// Where a path leads, though its end may not be there yet.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there =
        path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    // Without an end to add, joining would add a slash.
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

/// Nothing is left out unsaid.
fn tell(what: &str, moments: &Moments) {
    let (shown, all) = (moments.positions.len(), moments.all.len());
    if shown < all {
        let of = text::count(all as u64, "moment", "moments");
        output::note(&format!(
            "{what} show {} of {of} at level {}; --most {all} shows all",
            text::thousands(shown as u64),
            moments.level.name()
        ));
    }
}
