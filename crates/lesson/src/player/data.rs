//! The data of the page: the moments of the takes, their drawings, and the questions. `docs/lesson-page.md`
//! describes the format.

use std::collections::HashMap;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::VERSION;
use super::items::{self, DrawingHash, Item, ItemColumns, code, hundredths, items, panel_hash};
use super::pack::{Interner, ListInterner, encode_motions};
use crate::algorithms::Baseline;
use crate::cursor::{Cursor, Level};
use crate::feedback::{subjects, why};
use crate::invariants::badge;
use crate::lessons::Take;
use crate::memory;
use crate::picture::page::{about, areas, inside, position_at, progress as place, subject};
use crate::picture::scene::{Area, Scene};
use crate::picture::sentence::sentence;
use crate::picture::{Film, Panel, View, draw};
use crate::progress::Progress;
use crate::questions::{Answer, AnswerForm, Question, Reply};

/// Version of the format; see `docs/lesson-page.md`.
pub const SCHEMA: u32 = 2;

/// Maximum count of numbers in items and lists: far more than fit into a page.
const MAX_NUMBERS: usize = 20_000_000;

/// Memory per number while writing the page: in columns, as JSON in a growing vector, and compressed. With
/// texts and names, JSON takes 16 bytes per number.
const BYTES_PER_NUMBER: u64 = 64;

/// The data of a page.
#[derive(Debug, Default, Serialize)]
pub struct PageData {
    schema: u32,
    version: &'static str,
    number: u32,
    id: &'static str,
    title: &'static str,
    goal: String,
    paragraph: String,
    summary: String,
    /// The initial level, by number.
    level: usize,
    /// The finest level, by number.
    pub finest: usize,
    #[serde(serialize_with = "values")]
    styles: Interner<Arc<str>>,
    #[serde(serialize_with = "columns")]
    pub items: Vec<(u32, Item)>,
    pub lists: Rows,
    #[serde(serialize_with = "values")]
    pub layouts: Interner<Layout>,
    /// Sentences, and positions in words.
    #[serde(serialize_with = "values")]
    pub says: Interner<String>,
    /// Motions in a panel; the first row is empty.
    #[serde(serialize_with = "values")]
    moves: Interner<Vec<i32>>,
    pub takes: Vec<TakeData>,
    pub questions: Vec<QuestionData>,
    #[serde(skip)]
    known: Interner<Item>,
    /// The last drawing of each panel in each place.
    #[serde(skip)]
    last: HashMap<(usize, Panel), DrawnPanel>,
    #[serde(skip)]
    weight: usize,
}

/// A panel's scene, its list of items, and their hash.
#[derive(Debug)]
struct DrawnPanel {
    scene: Arc<Scene>,
    list: u32,
    check: u32,
}

/// Lists of items ([`ListInterner`]), serialised as their rows.
#[derive(Debug, Default)]
pub struct Rows(pub ListInterner);

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.rows.serialize(serializer)
    }
}

fn values<T: Serialize, S: Serializer>(table: &Interner<T>, serializer: S) -> Result<S::Ok, S::Error> {
    table.values.serialize(serializer)
}

fn columns<S: Serializer>(items: &[(u32, Item)], serializer: S) -> Result<S::Ok, S::Error> {
    ItemColumns::new(items).serialize(serializer)
}

/// A take. All lists except the marks have one entry per moment.
#[derive(Debug, Default, Serialize)]
pub struct TakeData {
    name: String,
    about: String,
    /// Number of steps of the whole search.
    steps: usize,
    /// Names of hits, ends of rounds, and changes of the bound.
    marks: [Option<&'static str>; 3],
    /// Name of a round, singular and plural.
    round: [&'static str; 2],
    width: u32,
    registers: u32,
    /// Whether elements are striped across the warp, as in warp select.
    across: bool,
    /// Positions: completed steps.
    pub at: Vec<usize>,
    /// The coarsest level that stops there, by number.
    levels: Vec<usize>,
    pub layout: Vec<u32>,
    /// The list of each panel.
    pub scenes: Vec<Vec<u32>>,
    /// The panel that the sentence is about, by its place in the layout.
    subjects: Vec<usize>,
    pub says: Vec<u32>,
    /// The badge below the sentence, as a number of `says`, and whether the invariant holds.
    pub badges: Vec<Option<(u32, bool)>>,
    place: Vec<u32>,
    pub check: Vec<u32>,
    /// Motions from earlier moments from which some level steps here: how many moments back, and a row number
    /// per panel.
    moves: Vec<Vec<(usize, Vec<u32>)>>,
    /// Points seen, by which takes are aligned.
    seen: Vec<u32>,
    /// Numbers of moments.
    hits: Vec<usize>,
    merges: Vec<usize>,
    changes: Vec<usize>,
}

/// The scenes of a moment's panels.
type Scenes = Vec<(Panel, Arc<Scene>)>;

/// The drawing of a moment.
#[derive(Debug, Serialize)]
pub struct MomentDrawing {
    #[serde(skip)]
    drawn: Scenes,
    layout: u32,
    scenes: Vec<u32>,
    subject: usize,
    place: u32,
    /// The hash of the drawing.
    check: u32,
}

/// The moments of a film's takes at a level, within a range of the leading take. `None` if a page cannot hold
/// them.
///
/// # Errors
/// [`io::ErrorKind::Interrupted`] if `progress` is cancelled, [`io::ErrorKind::OutOfMemory`] with a
/// [`memory::InsufficientMemory`].
pub fn pack(
    film: &Film,
    range: &RangeInclusive<usize>,
    level: Level,
    finest: Level,
    progress: &dyn Progress,
) -> io::Result<Option<PageData>> {
    let mut data = PageData::new(film, level, finest);
    let ranges = ranges(film, range);
    let pool = film.lesson.pool(&film.takes, film.lesson.seed);
    for (number, (take, range)) in film.takes.iter().zip(ranges).enumerate() {
        let of_take =
            pool.iter().filter(|(of, _)| *of == number).filter_map(|(_, question)| within(question, &range));
        let questions: Vec<Question> = of_take.collect();
        let positions = stops(take, &range, finest, &questions);
        let Some(packed) = data.take(film, take, positions, progress)? else { return Ok(None) };
        let mut cursor = Cursor::new(take.recording.clone());
        for question in questions {
            cursor.seek(question.at);
            let drawn = data.moment(film, &cursor, true);
            cursor.seek(question.shown_at());
            data.questions.push(question_data(&question, number, &packed.at, drawn, &cursor));
        }
        data.takes.push(packed);
    }
    Ok(Some(data))
}

/// The first moment alone: its tables are prefixes of those of [`pack`].
///
/// # Errors
/// [`io::ErrorKind::Interrupted`] if `progress` is cancelled.
pub fn pack_first_moment(
    film: &Film,
    range: &RangeInclusive<usize>,
    level: Level,
    finest: Level,
    progress: &dyn Progress,
) -> io::Result<PageData> {
    let mut data = PageData::new(film, level, finest);
    if let Some((take, range)) = film.takes.iter().zip(ranges(film, range)).next() {
        let packed = data.take(film, take, vec![*range.start()], progress)?;
        data.takes.extend(packed);
    }
    Ok(data)
}

/// The range of each take, given that of the leading take: the others cover the same points.
fn ranges(film: &Film, lead: &RangeInclusive<usize>) -> Vec<RangeInclusive<usize>> {
    let mut cursor = Cursor::new(film.lead().recording.clone());
    let mut seen = |position: usize| {
        cursor.seek(position);
        cursor.state().counts.points_seen
    };
    let (first, last) = (seen(*lead.start()), seen(*lead.end()));
    let whole = &film.lead().range;
    let of = |(number, take): (usize, &Take)| {
        if number == film.leading() {
            return lead.clone();
        }
        let start =
            if *lead.start() == whole.start { take.range.start } else { position_at(&take.recording, first) };
        let end = if *lead.end() == whole.end { take.range.end } else { position_at(&take.recording, last) };
        start..=end.max(start)
    };
    film.takes.iter().enumerate().map(of).collect()
}

/// A question within a range, `None` for a step outside. No step answers a question about an idea, so it is
/// moved into the range.
fn within(question: &Question, range: &RangeInclusive<usize>) -> Option<Question> {
    let mut question = question.clone();
    if question.topic.is_idea() {
        question.at = question.at.clamp(*range.start(), *range.end());
    }
    (range.contains(&question.at) && range.contains(&question.shown_at())).then_some(question)
}

/// The positions at a level in a range, the range's ends, and those of questions.
fn stops(take: &Take, range: &RangeInclusive<usize>, level: Level, questions: &[Question]) -> Vec<usize> {
    let (start, end) = (*range.start(), *range.end());
    let mut stops: Vec<usize> =
        (start + 1..=end).filter(|&at| take.recording.level(at - 1) <= level).collect();
    stops.extend([start, end]);
    stops.extend(questions.iter().flat_map(|question| [question.at, question.shown_at()]));
    stops.sort_unstable();
    stops.dedup();
    stops
}

impl PageData {
    /// The texts of the lesson, without moments.
    fn new(film: &Film, level: Level, finest: Level) -> Self {
        let lesson = &film.lesson;
        let says = |text| lesson.fill_in(text, film.lead().recording.shape());
        let mut data = Self {
            schema: SCHEMA,
            version: VERSION,
            number: lesson.number,
            id: lesson.id,
            title: lesson.title,
            goal: says(lesson.goal),
            paragraph: says(lesson.paragraph),
            summary: says(lesson.summary),
            level: level.min(finest) as usize,
            finest: finest as usize,
            ..Self::default()
        };
        data.moves.number(Vec::new());
        data
    }

    /// The number and title of the lesson.
    pub fn heading(&self) -> String {
        format!("Lesson {}: {}", self.number, self.title)
    }

    fn take(
        &mut self,
        film: &Film,
        take: &Take,
        positions: Vec<usize>,
        progress: &dyn Progress,
    ) -> io::Result<Option<TakeData>> {
        let recording = &take.recording;
        let (shape, total) = (recording.shape(), positions.len());
        let marked = |steps: &[u32]| {
            steps.iter().filter_map(|&step| positions.binary_search(&(step as usize + 1)).ok()).collect()
        };
        let mut packed = TakeData {
            name: take.arrangement.name().replace('-', " "),
            about: about(recording),
            steps: recording.len(),
            marks: recording.mark_names(),
            round: recording.round_names(),
            width: shape.width,
            registers: shape.registers,
            across: matches!(recording.baseline(), Baseline::WarpSelect(_)),
            hits: marked(&recording.hits),
            merges: marked(&recording.merges),
            changes: marked(&recording.changes),
            levels: positions
                .iter()
                .map(|&at| if at == positions[0] { 0 } else { recording.level(at - 1) as usize })
                .collect(),
            ..TakeData::default()
        };
        let mut cursor = Cursor::new(recording.clone());
        // The previous moment at each level.
        let mut stopped: [Option<(usize, Scenes)>; Level::ALL.len()] = Default::default();
        for (number, &position) in positions.iter().enumerate() {
            if progress.cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            cursor.seek(position);
            let says = sentence(&cursor);
            let MomentDrawing { drawn, layout, scenes, subject, place, check } =
                self.moment(film, &cursor, false);
            let stops = if number + 1 == total { 0 } else { packed.levels[number] };
            packed.moves.push(self.moves_to(number, &drawn, &stopped[stops..]));
            stopped[stops..].fill(Some((number, drawn)));
            packed.layout.push(layout);
            packed.scenes.push(scenes);
            packed.subjects.push(subject);
            packed.place.push(place);
            let badge = badge(recording, position, cursor.state());
            packed.check.push(items::with_texts(
                check,
                &says,
                badge.as_ref().map(|badge| badge.text.as_str()),
            ));
            packed.says.push(self.says.number(says));
            packed.badges.push(badge.map(|badge| (self.says.number(badge.text), badge.holds)));
            if film.takes.len() > 1 {
                packed.seen.push(cursor.state().counts.points_seen);
            }
            let weight = self.weight + self.lists.0.weight;
            if weight > MAX_NUMBERS {
                return Ok(None);
            }
            memory::check(weight as u64 * BYTES_PER_NUMBER)
                .map_err(|short| io::Error::new(io::ErrorKind::OutOfMemory, short))?;
            progress.update(number as u64 + 1, total as u64);
        }
        packed.at = positions;
        Ok(Some(packed))
    }

    /// Draws the moment at a cursor, and adds what is new to the tables.
    fn moment(&mut self, film: &Film, cursor: &Cursor, asking: bool) -> MomentDrawing {
        let view = View { asking, ..View::new(cursor, film.text) };
        let areas = panels(film, &view);
        let (mut check, mut scenes, mut shown) =
            (DrawingHash::default(), Vec::with_capacity(areas.len()), Vec::with_capacity(areas.len()));
        for (at, &(panel, area)) in areas.iter().enumerate() {
            let room = inside(area, film.text);
            let scene = Arc::new(draw(panel, &view, [room.width, room.height]));
            let drawn = match self.last.remove(&(at, panel)) {
                // Most steps change few panels.
                Some(last) if last.scene == scene => last,
                _ => {
                    let items = items(&scene);
                    let check = panel_hash(&items);
                    let ids = items.into_iter().map(|item| self.item(item)).collect();
                    DrawnPanel { list: self.lists.0.number((at, panel), ids), check, scene }
                }
            };
            check.add(&format!("{}\n", drawn.check));
            scenes.push(drawn.list);
            shown.push((panel, drawn.scene.clone()));
            self.last.insert((at, panel), drawn);
        }
        let layout = self.layouts.number(layout(&areas, film.text));
        let about = subject(&film.lesson, &view);
        MomentDrawing {
            drawn: shown,
            layout,
            scenes,
            subject: areas.iter().position(|(panel, _)| Some(*panel) == about).unwrap_or(0),
            place: self.says.number(place(&view)),
            check: check.number(),
        }
    }

    /// The motions to a moment from the previous moment of each level.
    fn moves_to(
        &mut self,
        number: usize,
        drawn: &Scenes,
        stopped: &[Option<(usize, Scenes)>],
    ) -> Vec<(usize, Vec<u32>)> {
        let mut all: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut last = None;
        for (from, before) in stopped.iter().flatten() {
            if last == Some(*from) {
                continue;
            }
            last = Some(*from);
            let row = |(at, (panel, scene)): (usize, &(Panel, Arc<Scene>))| match before.get(at) {
                Some((was, before)) if was == panel && !Arc::ptr_eq(before, scene) => {
                    encode_motions(before, scene)
                }
                _ => Vec::new(),
            };
            let rows: Vec<Vec<i32>> = drawn.iter().enumerate().map(row).collect();
            if rows.iter().all(Vec::is_empty) {
                continue;
            }
            self.weight += rows.iter().map(Vec::len).sum::<usize>();
            all.push((number - from, rows.into_iter().map(|row| self.moves.number(row)).collect()));
        }
        all
    }

    fn item(&mut self, item: Item) -> u32 {
        let style = self.styles.number(item.style.clone());
        let id = self.known.number(item);
        if let Some(new) = self.known.values.get(self.items.len()) {
            self.weight += new.numbers.len() + 2;
            self.items.push((style, new.clone()));
        }
        id
    }
}

// Questions in the page.

/// A question, and its moment drawn without hints to the answer.
#[derive(Debug, Serialize)]
pub struct QuestionData {
    take: usize,
    /// The numbers of its moment and of the one that shows the answer.
    at: usize,
    then: usize,
    #[serde(flatten)]
    drawn: MomentDrawing,
    /// The kind, by its number.
    kind: u32,
    /// Whether it is about the whole search, or about an idea.
    all: bool,
    idea: bool,
    /// Its place in a round.
    rank: u32,
    /// The position of the step that its text reveals, and whether two questions can share such a step.
    tells: usize,
    shared: bool,
    text: String,
    /// The options.
    options: Vec<String>,
    /// The label of the answer: `Lane`, `Slot`, `Bucket` or `Number`; for lanes, what they do; else empty.
    noun: &'static str,
    answer: AnswerData,
    /// The answer in words, and why.
    right: String,
    why: String,
    slips: Vec<(AnswerData, String)>,
    /// Its targets.
    about: Vec<String>,
}

/// An answer, or a reply.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum AnswerData {
    Lanes(u32),
    /// A number and its tolerance.
    Number(u32, u32),
    YesNo(bool),
    /// The number of an option.
    Choice(u32),
}

/// The data of a question about a take with these positions. The cursor is at the position that shows the
/// answer.
pub fn question_data(
    question: &Question,
    take: usize,
    positions: &[usize],
    drawn: MomentDrawing,
    cursor: &Cursor,
) -> QuestionData {
    let recording = cursor.recording();
    let moment = |position: usize| positions.partition_point(|&at| at < position);
    QuestionData {
        take,
        at: moment(question.at),
        then: moment(question.shown_at()),
        drawn,
        kind: question.topic as u32,
        all: question.topic.is_about_all(),
        idea: question.topic.is_idea(),
        rank: question.topic.rank(),
        tells: question.revealed_step(),
        shared: question.topic.shares_steps(),
        text: question.text.clone(),
        options: question.options.clone(),
        noun: match question.topic.info().form {
            AnswerForm::Lanes { doing, .. } => doing,
            AnswerForm::Number { noun, .. } => noun,
            AnswerForm::YesNo | AnswerForm::Choice => "",
        },
        answer: answer_data(
            question.answer.reply(),
            if let Answer::Number { within, .. } = question.answer { within } else { 0 },
        ),
        right: question.right(recording.shape().width),
        why: why(question, cursor),
        slips: question
            .misconceptions
            .iter()
            .map(|misconception| (answer_data(misconception.reply, 0), misconception.explanation.clone()))
            .collect(),
        about: subjects(question, recording).into_iter().map(code).collect(),
    }
}

fn answer_data(reply: Reply, within: u32) -> AnswerData {
    match reply {
        Reply::Lanes(mask) => AnswerData::Lanes(mask),
        Reply::Number(number) => AnswerData::Number(number, within),
        Reply::YesNo(yes) => AnswerData::YesNo(yes),
        Reply::Choice(option) => AnswerData::Choice(option),
    }
}

// The layout of a moment's panels.

/// The layout of panels, in hundredths of a point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Layout {
    /// Width and height of the whole.
    pub size: [i32; 2],
    /// Padding inside a panel.
    pub pad: i32,
    pub panels: Vec<PanelPlacement>,
}

/// A panel's place in a [`Layout`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PanelPlacement {
    /// Its name, and what it shows.
    pub name: &'static str,
    pub shows: &'static str,
    /// x, y, width, height.
    pub at: [i32; 4],
}

/// The panels of a moment and their areas, without the sentence, which the page shows as text.
pub fn panels(film: &Film, view: &View<'_>) -> Vec<(Panel, Area)> {
    let mut areas = areas(&film.lesson, view, film.size);
    areas.retain(|(panel, _)| *panel != Panel::Sentence);
    areas
}

/// The layout of panels with these areas, for running text of a size.
pub fn layout(areas: &[(Panel, Area)], text: f32) -> Layout {
    let least = |of: fn(&Area) -> f32| areas.iter().map(|(_, area)| of(area)).fold(f32::INFINITY, f32::min);
    let most = |of: fn(&Area) -> f32| areas.iter().map(|(_, area)| of(area)).fold(0.0, f32::max);
    let (left, top) = (least(|area| area.x), least(|area| area.y));
    let size =
        [most(|area| area.x + area.width) - left, most(|area| area.y + area.height) - top].map(hundredths);
    let place = |&(panel, area): &(Panel, Area)| PanelPlacement {
        name: panel.name(),
        shows: panel.shows(),
        at: [area.x - left, area.y - top, area.width, area.height].map(hundredths),
    };
    let unit = Area { x: 0.0, y: 0.0, width: 100.0, height: 100.0 };
    Layout { size, pad: hundredths(inside(unit, text).x), panels: areas.iter().map(place).collect() }
}
