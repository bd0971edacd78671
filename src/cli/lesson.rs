//! `warpscope lesson`: writes a lesson's steps, pictures, films, handout and page, without a window.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Arg;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::bar::Bar;
use super::flags::{CloudArgs, OrderArgs};
use super::paths::protect_files;
use super::pictures::{PictureArgs, note_levels};
use super::usage::UsageError;
use super::{output, values};
use crate::cloud::{self, Order, Source, query_point};
use crate::engines::cuda::Cuda;
use crate::engines::registry;
use crate::export::site::SiteFolder;
use crate::export::text;
use crate::knn::{Descriptor, DeviceKind, EngineId, Metric, ProblemParameters, Queries};
use crate::lesson::Shape;
use crate::lesson::edits::{Edits, read_keys};
use crate::lesson::fault::{self, FAULTS, FaultInfo};
use crate::lesson::lessons::{self, Arrangement, LESSONS, Lesson, Overrides, Take};
use crate::lesson::moments::{MomentError, Selection};
use crate::lesson::own_data::UserData;
use crate::lesson::picture::Film;
use crate::lesson::picture::film::SIZE;
use crate::palette::LIGHT;
use crate::run::defaults;

#[derive(Debug, clap::Args)]
#[command(
    after_help = list(),
    mut_args(reworded)
)]
pub struct LessonArgs {
    /// Lesson, by number or name [default: search or own-data]
    ///
    /// With --input or --generate the default is `own-data`, otherwise `search`.
    #[arg(long, value_name = "LESSON")]
    lesson: Option<String>,
    /// Neighbours [default: the lesson's]
    #[arg(long, value_name = "NUMBER", value_parser = values::whole::<usize>)]
    k: Option<usize>,
    /// Lanes of the warp: 4, 8, 16 or 32 [default: the lesson's]
    #[arg(long, value_name = "NUMBER", value_parser = values::whole::<u32>)]
    width: Option<u32>,
    /// Make a deliberate mistake (listed below)
    ///
    /// Shows the step that breaks an invariant and the neighbours that are wrong.
    #[arg(long = "break", value_name = "MISTAKE")]
    mistake: Option<String>,
    /// Engine to record: the kernel's CPU twin, or a GPU
    ///
    /// On an NVIDIA GPU the kernel is compared with the twin step by step.
    #[arg(
        long,
        default_value_t = recorder(),
        value_parser = PossibleValuesParser::new(recorders()).map(|name| EngineId::new(&name))
    )]
    engine: EngineId,
    /// Seed for generated clouds and shuffled order
    ///
    /// Defaults to the lesson's, or to 0 with a cloud.
    #[arg(long, value_name = "NUMBER", value_parser = values::whole::<u64>)]
    seed: Option<u64>,
    /// Squared distances to sort or merge: 5,3,8,1,…
    ///
    /// For the lessons sort, wide and merge.
    #[arg(long, value_name = "NUMBERS", conflicts_with_all = ["input", "generate", "seed"])]
    keys: Option<String>,
    /// Position of the query in a lesson's own data
    #[arg(long, value_name = "X,Y", conflicts_with_all = ["input", "generate"], allow_hyphen_values = true)]
    query_at: Option<String>,
    /// File with the cloud for lesson own-data or order
    #[arg(long, value_name = "FILE", conflicts_with = "generate", help_heading = OWN_DATA_HEADING)]
    input: Option<PathBuf>,
    /// Generated cloud for lesson own-data or order
    ///
    /// name:key=value,…, such as uniform:n=100000,d=2.
    #[arg(long, value_name = "SPEC", help_heading = OWN_DATA_HEADING)]
    generate: Option<String>,
    #[command(flatten)]
    cloud: CloudArgs,
    /// Query row [default: the middle row]
    #[arg(long, value_name = "ROW", value_parser = values::whole::<u64>, help_heading = OWN_DATA_HEADING)]
    query: Option<u64>,
    /// Distance metric
    #[arg(
        long,
        default_value = "l2",
        value_parser = values::metrics().map(|ranking| ranking.metric().unwrap_or_default()),
        help_heading = OWN_DATA_HEADING
    )]
    metric: Metric,
    #[command(flatten)]
    order: OrderArgs,
    #[command(flatten)]
    pictures: PictureArgs,
}

/// Heading of the flags for the user's own data.
const OWN_DATA_HEADING: &str = "Your own data (lessons own-data and order)";

/// Rewords shared flags for this command.
fn reworded(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "columns" | "drop_nonfinite" => arg.requires("input").help_heading(OWN_DATA_HEADING),
        "order" => arg
            .help("Processing order of the points (lesson `order` compares several)")
            .help_heading(OWN_DATA_HEADING),
        _ => arg,
    }
}

/// The recording engine that runs everywhere.
fn recorder() -> EngineId {
    let everywhere = |engine: &&&Descriptor| engine.traces && engine.runs_on.contains(&DeviceKind::Cpu);
    registry::ENGINES.iter().find(everywhere).expect("the kernel's CPU twin records").id
}

/// The engines that can record a search step by step.
fn recorders() -> Vec<&'static str> {
    registry::ENGINES.iter().filter(|engine| engine.traces).map(|engine| engine.id.as_str()).collect()
}

/// The lessons, for `--help`.
fn list() -> String {
    let titles = LESSONS.iter().map(|lesson| {
        let mark = if lesson.minutes.is_route() { '*' } else { ' ' };
        format!(
            "{mark} {:>2}  {:<12}  {:>2} min  {}\n",
            lesson.number,
            lesson.id,
            lesson.minutes.count(),
            lesson.title
        )
    });
    let mistakes = FAULTS.iter().map(|row| format!("  {:<13} {}\n", row.id, row.title));
    let heading = |heading: &str| std::iter::once(heading.to_owned());
    heading("Lessons (* the story in 20 minutes):\n")
        .chain(titles)
        .chain(heading("\nMistakes for --break:\n"))
        .chain(mistakes)
        .collect()
}

/// # Errors
/// One sentence saying why it failed.
pub fn run(args: &LessonArgs) -> anyhow::Result<()> {
    if let Some(dir) = &args.pictures.site {
        return site(dir, args.pictures.scorm);
    }
    let own = args.source();
    let mistake =
        args.mistake.as_deref().map(fault::named).transpose().map_err(|why| UsageError(why.to_string()))?;
    let usual = match mistake {
        _ if own.is_some() => "own-data",
        Some(row) => row.lesson,
        None => "search",
    };
    let lesson = lessons::named(args.lesson.as_deref().unwrap_or(usual))?;
    let with_data = mistake.map_or(*lesson, |row| lesson.with_data_for(row.fault));
    Shape::check(args.width.unwrap_or(lesson.width), args.k.unwrap_or(lesson.k))?;
    if mistake.is_some() {
        lesson.check_has_faults().map_err(|why| UsageError(why.to_string()))?;
        if args.pictures.has_questions() {
            let why = "--worksheet, --key: not available for a search with a mistake; drop --break";
            anyhow::bail!(UsageError(why.to_owned()))
        }
        if args.engine != recorder() {
            anyhow::bail!(UsageError(format!(
                "--break: the {} engine does not support deliberate mistakes; drop --engine",
                args.engine
            )))
        }
    }
    let mut gpu = args.gpu(lesson)?;
    let choice = args.choice()?;
    let orders = match &own {
        Some(source) => lesson.orders_for(source, args.arrangement()),
        None => lesson.arrangements.to_vec(),
    };
    let names: Vec<&str> = orders.iter().map(|arrangement| arrangement.name()).collect();
    match own {
        Some(_) if !lesson.own_data => {
            anyhow::bail!(UsageError(format!(
                "--input, --generate: lesson `{}` has built-in data; for your own, use --lesson own-data or \
                 --lesson order",
                lesson.id
            )))
        }
        Some(_) if lesson.compares_orders() && args.order.order != Order::File => {
            anyhow::bail!(UsageError(format!(
                "--order: lesson `{}` shows all orders; select one with --take",
                lesson.id
            )))
        }
        None if args.has_own_cloud() => {
            let why = "--query, --metric, --order: add a cloud with --input or --generate";
            anyhow::bail!(UsageError(why.to_owned()))
        }
        _ => {}
    }
    // Checks the outputs before the work.
    let plan = args.pictures.plan(&names)?;
    protect_files("the searched cloud", &args.input, plan.files().map(Path::to_owned))?;
    let mut takes = match own {
        Some(source) => args.record(lesson, &source)?,
        None => with_data.record(choice, &Bar::new("generating"))?,
    };
    if let Some(cuda) = &mut gpu {
        takes = takes.iter().map(|take| lesson.on_gpu(take, cuda)).collect::<Result<_, _>>()?;
    }
    if let Some(row) = mistake {
        takes = takes.iter().map(|take| lesson.with_fault(take, row.fault)).collect::<Result<_, _>>()?;
    }
    let written = args.pictures.write(&plan, lesson, &takes).map_err(|why| args.usage_if_own_data(why))?;
    let broken =
        mistake.map_or_else(Vec::new, |row| takes.iter().flat_map(|take| consequences(row, take)).collect());
    output::print(&summary(lesson, &takes, broken, &written))
}

/// Writes the pages of all lessons to a folder.
fn site(dir: &Path, with_package: bool) -> anyhow::Result<()> {
    let mut folder = SiteFolder::new(dir)?;
    for lesson in &LESSONS {
        let bar = Bar::new(&format!("drawing lesson {} of {}", lesson.number, LESSONS.len()));
        let film = Film::new(lesson, lesson.record(Overrides::default(), &bar)?, SIZE, 1.0, LIGHT);
        let moments = Selection::for_lesson(usize::MAX).moments(lesson, film.lead())?;
        note_levels(&folder.add(&film, &moments, &bar)?, lesson);
    }
    let written = folder.write(with_package)?;
    let rows: Vec<Vec<String>> =
        written.iter().map(|path| vec!["wrote".to_owned(), path.display().to_string()]).collect();
    output::print(&text::table(&rows, &[]))
}

impl LessonArgs {
    /// Changes to the lesson's own data.
    fn choice(&self) -> anyhow::Result<Overrides> {
        let keys = self.keys.as_deref().map(read_keys).transpose()?;
        let query = match self.query_at.as_deref().map(query_point::parse) {
            None => None,
            Some(Ok(at)) if at.len() == 2 => Some([at[0] as f32, at[1] as f32]),
            _ => anyhow::bail!(UsageError(format!(
                "--query-at {}: expected two coordinates, such as 0.3,0.7",
                self.query_at.as_deref().unwrap_or_default()
            ))),
        };
        Ok(Overrides {
            k: self.k,
            width: self.width,
            seed: self.seed,
            edits: Edits { query, keys, ..Edits::default() },
        })
    }

    fn source(&self) -> Option<Source> {
        match (&self.input, &self.generate) {
            (Some(path), _) => Some(self.cloud.file.source(path)),
            (None, Some(spec)) => {
                Some(Source::Generate { spec: spec.clone(), seed: self.seed.unwrap_or(defaults::SEED) })
            }
            (None, None) => None,
        }
    }

    /// Opens the GPU to record on, if requested, before any work is done.
    fn gpu(&self, lesson: &Lesson) -> anyhow::Result<Option<Cuda>> {
        if registry::find(self.engine).is_none_or(|engine| !engine.runs_on.contains(&DeviceKind::Gpu)) {
            return Ok(None);
        }
        Shape::check_gpu(self.width.unwrap_or(lesson.width))?;
        Ok(Some(Cuda::open()?))
    }

    /// Turns an unknown step into a usage error if no file is searched, as the command line alone then
    /// determines the steps.
    fn usage_if_own_data(&self, why: anyhow::Error) -> anyhow::Error {
        match why.downcast_ref() {
            Some(MomentError::Past { .. }) if self.input.is_none() => UsageError(why.to_string()).into(),
            _ => why,
        }
    }

    fn has_own_cloud(&self) -> bool {
        self.query.is_some() || self.metric != Metric::L2 || self.order.order != Order::File
    }

    fn arrangement(&self) -> Arrangement {
        if self.order.order == Order::Shuffled { Arrangement::Shuffled } else { Arrangement::AsDrawn }
    }

    fn record(&self, lesson: &Lesson, source: &Source) -> anyhow::Result<Vec<Take>> {
        let cloud = Arc::new(cloud::load(source, self.cloud.drop_nonfinite, &Bar::new("reading the cloud"))?);
        let row = match self.query {
            None => cloud.len() / 2,
            Some(record) => match cloud.row_of_record(record) {
                Some(row) => row,
                None => anyhow::bail!(
                    "--query {record}: no such row, or it was dropped; rows are numbered 0 to {}",
                    cloud.record(cloud.len() - 1)
                ),
            },
        };
        let setup = ProblemParameters {
            k: self.k.unwrap_or(lesson.k),
            metric: self.metric,
            order: Order::File,
            seed: self.seed.unwrap_or(defaults::SEED),
            exclude_self: false,
            drop_zero_rows: self.cloud.drop_nonfinite,
        };
        if self.metric.is_on_sphere() {
            values::note_assumed(cloud.axes());
        }
        let queries = Queries::Rows(vec![row as u32]);
        let own = UserData { cloud: &cloud, queries: &queries, query: 0, arrangement: self.arrangement() };
        Ok(lesson.record_own(own, setup, self.width.unwrap_or(lesson.width), &Edits::default())?)
    }
}

fn summary(lesson: &Lesson, takes: &[Take], broken: Vec<Vec<String>>, written: &[String]) -> String {
    let mut rows = vec![vec!["lesson".to_owned(), format!("{}, {}", lesson.number, lesson.title)]];
    if let Some(take) = takes.first() {
        rows.push(vec!["recorded on".to_owned(), take.recording.parameters.recorder_name()]);
    }
    for take in takes {
        let recording = &take.recording;
        let [one, many] = recording.round_names();
        let (steps, merges) = (
            text::count(recording.len() as u64, "step", "steps"),
            text::count(recording.merges() as u64, one, many),
        );
        rows.push(vec![
            take.arrangement.name().to_owned(),
            format!("{steps}, {merges} of {}", text::count(recording.shape().n.into(), "point", "points")),
        ]);
    }
    rows.extend(broken);
    rows.extend(written.iter().map(|path| vec!["wrote".to_owned(), path.clone()]));
    text::table(&rows, &[])
}

/// Number of wrong neighbours to list.
const MAX_WRONG_LISTED: usize = 8;

/// What a mistake broke and led to, as table rows.
fn consequences(mistake: &FaultInfo, take: &Take) -> Vec<Vec<String>> {
    let Some(consequences) = take.recording.consequences() else { return Vec::new() };
    let row = |name: &str, text: String| vec![name.to_owned(), text];
    let mut rows = vec![row("mistake", format!("{}: {}", mistake.title, mistake.about))];
    match &consequences.broken {
        Some(broken) => {
            rows.push(row("invariant", broken.expected.clone()));
            rows.push(row(
                "broken at",
                format!("step {}: {}", text::thousands(broken.position as u64), broken.sentence),
            ));
            rows.push(row("look for", mistake.look_for.to_owned()));
        }
        None => rows.push(row("broken at", "no invariant is broken with these data".to_owned())),
    }
    rows.push(row("result", consequences.verdict()));
    for wrong in consequences.wrong.iter().take(MAX_WRONG_LISTED) {
        let rank = format!("neighbour {}", text::thousands(u64::from(wrong.rank) + 1));
        rows.push(vec![rank, format!("{}, not {}", fault::words(wrong.right), fault::words(wrong.found))]);
    }
    let more = consequences.wrong.len().saturating_sub(MAX_WRONG_LISTED);
    if more > 0 {
        rows.push(row("", format!("and {} more", text::thousands(more as u64))));
    }
    rows
}
