//! Reads pages as a browser does, and compares them with the window's drawings.

use std::collections::HashMap;
use std::io::Read as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;

use super::items::{Item, Kind, items, shape_items};
use super::pack::tests::read;
use super::*;
use crate::cursor::Cursor;
use crate::invariants::badge;
use crate::lessons::{LESSONS, Overrides, named};
use crate::moments::Selection;
use crate::picture::film::SIZE;
use crate::picture::motion::{motions, offset};
use crate::picture::page::inside;
use crate::picture::sentence::sentence;
use crate::picture::{Panel, Scene, View, draw};
use crate::progress::NoProgress;

/// A lesson's film, and all of its moments.
fn film(id: &str, choice: Overrides) -> (Film, Moments) {
    let lesson = named(id).unwrap();
    let film = Film::new(lesson, lesson.record(choice, &NoProgress).unwrap(), SIZE, 1.0, LIGHT);
    let moments = Selection::for_lesson(usize::MAX).moments(lesson, film.lead()).unwrap();
    (film, moments)
}

fn page_of(id: &str, choice: Overrides) -> (Film, String, PageSummary) {
    let (film, moments) = film(id, choice);
    let mut page = Vec::new();
    let written = write(&film, &moments, &NoProgress, &mut page).unwrap();
    (film, String::from_utf8(page).unwrap(), written)
}

/// The data of a page, from its text alone.
struct ParsedPage {
    data: Value,
    items: Vec<Item>,
    rows: Vec<Vec<i64>>,
}

impl ParsedPage {
    fn new(page: &str) -> Self {
        Self::from_element("lesson", page)
    }

    /// Reads the data of the element with this id.
    fn from_element(id: &str, page: &str) -> Self {
        let packed = page
            .split(&format!("id=\"{id}\" type=\"application/octet-stream\">"))
            .nth(1)
            .and_then(|rest| rest.split('<').next())
            .expect("data");
        let mut json = String::new();
        ZlibDecoder::new(&*BASE64_STANDARD.decode(packed).expect("base64"))
            .read_to_string(&mut json)
            .expect("deflated");
        let data: Value = serde_json::from_str(&json).expect("JSON");
        let rows = serde_json::from_value(data["lists"].clone()).expect("rows of numbers");
        let mut columns: Vec<ColumnReader> =
            data["items"]["of"].as_array().expect("columns").iter().map(ColumnReader::new).collect();
        let kinds = data["items"]["kinds"].as_array().expect("kinds");
        let items = kinds
            .iter()
            .map(|kind| columns[kind.as_u64().expect("a kind") as usize].next(kind, &data["styles"]))
            .collect();
        Self { data, items, rows }
    }

    fn scene(&self, list: &Value) -> Vec<&Item> {
        read(&self.rows, list.as_u64().expect("a number") as usize)
            .into_iter()
            .map(|id| &self.items[id as usize])
            .collect()
    }

    fn says(&self, number: &Value) -> &str {
        self.data["says"][number.as_u64().expect("a number") as usize].as_str().expect("text")
    }
}

/// The columns of a kind, read from the front.
struct ColumnReader {
    styles: NumberReader,
    counts: NumberReader,
    lengths: Vec<NumberReader>,
    texts: std::vec::IntoIter<Value>,
    last: HashMap<usize, Vec<i32>>,
}

/// Whole numbers, read from the front.
struct NumberReader(std::vec::IntoIter<Value>);

impl NumberReader {
    fn new(values: &Value) -> Self {
        Self(values.as_array().expect("a column").clone().into_iter())
    }

    fn next(&mut self) -> i32 {
        self.0.next().and_then(|value| value.as_i64()).expect("a whole number") as i32
    }
}

impl ColumnReader {
    fn new(of: &Value) -> Self {
        Self {
            styles: NumberReader::new(&of["styles"]),
            counts: NumberReader::new(&of["counts"]),
            lengths: of["lengths"].as_array().expect("lengths").iter().map(NumberReader::new).collect(),
            texts: of["texts"].as_array().expect("texts").clone().into_iter(),
            last: HashMap::new(),
        }
    }

    fn next(&mut self, kind: &Value, styles: &Value) -> Item {
        let kinds = [
            Kind::Rect,
            Kind::Dot,
            Kind::Ring,
            Kind::Line,
            Kind::Polygon,
            Kind::Text,
            Kind::Clip,
            Kind::Spot,
        ];
        let kind = kinds[kind.as_u64().expect("a kind") as usize];
        let style = self.styles.next() as usize;
        let before = self.last.entry(style).or_default();
        let count = self.counts.next() as usize;
        let numbers: Vec<i32> = self.lengths[..count]
            .iter_mut()
            .enumerate()
            .map(|(at, column)| column.next() + before.get(at).unwrap_or(&0))
            .collect();
        before.clone_from(&numbers);
        let text = if matches!(kind, Kind::Text | Kind::Spot) { self.texts.next() } else { None };
        let text = text.map(|text| text.as_str().expect("a text").to_owned()).unwrap_or_default();
        Item { kind, style: styles[style].as_str().expect("CSS").into(), numbers, text }
    }
}

/// Compares the window's drawing at a position with the lists of a moment.
fn hold(film: &Film, cursor: &Cursor, asking: bool, read: &ParsedPage, scenes: &Value) {
    let view = View { asking, ..View::new(cursor, film.text) };
    let areas = data::panels(film, &view);
    assert_eq!(scenes.as_array().map(Vec::len), Some(areas.len()));
    for ((panel, area), list) in areas.into_iter().zip(scenes.as_array().expect("lists")) {
        let room = inside(area, film.text);
        let drawn = items(&draw(panel, &view, [room.width, room.height]));
        assert!(drawn.iter().eq(read.scene(list)), "{panel:?} at {}, asking: {asking}", cursor.position());
    }
}

#[test]
fn initial_data_is_a_prefix_of_the_page_data() {
    for id in ["buffer", "order", "heap"] {
        // The whole search takes long to draw.
        let choice = if id == "order" {
            Overrides { k: Some(8), width: Some(4), ..Overrides::default() }
        } else {
            Overrides::default()
        };
        let (_, page, _) = page_of(id, choice);
        let (first, all) = (ParsedPage::from_element("first", &page), ParsedPage::new(&page));
        assert_eq!(first.items[..], all.items[..first.items.len()], "lesson {id}");
        assert_eq!(first.rows[..], all.rows[..first.rows.len()], "lesson {id}");
        for field in ["layouts", "styles", "says"] {
            let [first, all] = [&first, &all].map(|read| read.data[field].as_array().expect("a list"));
            assert_eq!(first[..], all[..first.len()], "lesson {id}, {field}");
        }
        let moment = |read: &ParsedPage, field: &str| read.data["takes"][0][field][0].clone();
        for field in ["at", "layout", "scenes", "says", "badges", "place", "check", "moves"] {
            assert_eq!(moment(&first, field), moment(&all, field), "lesson {id}, {field}");
        }
        assert!(!first.items.is_empty() && first.items.len() < all.items.len());
    }
}

#[test]
fn pages_match_the_app_at_every_position() {
    for id in ["merge", "buffer", "pruning", "heap"] {
        let (film, page, written) = page_of(id, Overrides::default());
        let read = ParsedPage::new(&page);
        let (take, packed) = (film.lead(), &read.data["takes"][0]);
        let positions: Vec<usize> = serde_json::from_value(packed["at"].clone()).unwrap();
        assert_eq!(
            positions,
            (take.range.start..=take.range.end).collect::<Vec<_>>(),
            "lesson {id} has all of its part"
        );
        assert_eq!((written.finest, written.moments), (Level::Lane, positions.len()));
        let mut cursor = Cursor::new(take.recording.clone());
        for (moment, &position) in positions.iter().enumerate() {
            cursor.seek(position);
            hold(&film, &cursor, false, &read, &packed["scenes"][moment]);
            assert_eq!(read.says(&packed["says"][moment]), sentence(&cursor));
            let badge = badge(cursor.recording(), cursor.position(), cursor.state());
            let read_badge = &packed["badges"][moment];
            assert_eq!(read_badge.is_null(), badge.is_none());
            if let Some(badge) = badge {
                assert_eq!(
                    (read.says(&read_badge[0]), read_badge[1].as_bool()),
                    (badge.text.as_str(), Some(badge.holds))
                );
            }
        }
        let asked = read.data["questions"].as_array().unwrap();
        assert_eq!(asked.len(), film.lesson.questions(take).len());
        for question in asked {
            cursor.seek(positions[question["at"].as_u64().unwrap() as usize]);
            hold(&film, &cursor, true, &read, &question["scenes"]);
        }
    }
}

#[test]
fn pages_are_self_contained_and_within_the_size_limit() {
    // Lessons 5 to 7 are made smaller: they take long to draw.
    let small = Overrides { k: Some(8), width: Some(4), ..Overrides::default() };
    for lesson in &LESSONS {
        let is_small = matches!(lesson.id, "search" | "order" | "own-data");
        let (_, page, _) = page_of(lesson.id, if is_small { small.clone() } else { Overrides::default() });
        assert!(page.len() <= MAX_PAGE_BYTES, "lesson {}: {} bytes", lesson.id, page.len());
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        assert!(
            !page.contains("http:")
                && !page.contains("https:")
                && !page.contains("{script}")
                && !page.contains("src=\"")
        );
        assert_eq!(page.matches("</script>").count(), 3, "nothing in it ends its script early");
        assert!(!ParsedPage::new(&page).data.to_string().contains("http"));
    }
}

#[test]
fn levels_and_marks_match_the_player() {
    let (film, page, _) = page_of("buffer", Overrides::default());
    let (take, read) = (film.lead(), ParsedPage::new(&page));
    let packed = &read.data["takes"][0];
    let list = |name: &str| -> Vec<usize> { serde_json::from_value(packed[name].clone()).unwrap() };
    let (at, levels) = (list("at"), list("levels"));
    let mut cursor = Cursor::new(take.recording.clone());
    for level in Level::ALL {
        cursor.seek(take.range.start);
        for moment in (1..at.len()).filter(|&moment| levels[moment] <= level as usize) {
            cursor.seek(cursor.next(level));
            assert_eq!(cursor.position(), at[moment], "{level:?}");
        }
    }
    let mut merges = list("merges").into_iter().map(|moment| at[moment]);
    assert!(
        merges.clone().count() > 0
            && merges.all(|position| take.recording.merges.contains(&(position as u32 - 1)))
    );
}

/// Ideas are asked where the lesson begins; a page that begins later asks them at its own beginning.
#[test]
fn pages_starting_late_still_include_idea_questions() {
    let (film, _) = film("sort", Overrides::default());
    let from = film.lead().range.start + 3;
    let moments = Selection { from: Some(from), ..Selection::for_lesson(usize::MAX) }
        .moments(&film.lesson, film.lead())
        .unwrap();
    let mut page = Vec::new();
    write(&film, &moments, &NoProgress, &mut page).unwrap();
    let read = ParsedPage::new(std::str::from_utf8(&page).unwrap());
    let ideas: Vec<&Value> = read.data["questions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|question| question["idea"] == true)
        .collect();
    let whole = film.lesson.questions(film.lead());
    assert_eq!(ideas.len(), whole.iter().filter(|question| question.topic.is_idea()).count());
    assert!(ideas.len() >= 3 && ideas.iter().all(|idea| idea["at"] == 0 && idea["then"] == 0), "{ideas:?}");
    assert_eq!(read.data["takes"][0]["at"][0], from as u64);
}

#[test]
fn oversized_pages_drop_fine_levels_and_keep_questions() {
    let (film, moments) = film("wait", Overrides::default());
    let (whole, all) = fit_page(MAX_PAGE_BYTES, "", &film, &moments, &NoProgress).unwrap();
    let (page, less) = fit_page(whole.len() - 1, "", &film, &moments, &NoProgress).unwrap();
    assert!(page.len() < whole.len() && less.finest < all.finest && less.moments < all.moments);
    let read = ParsedPage::new(&page);
    assert_eq!(read.data["finest"], less.finest as u64);
    assert_eq!(read.data["questions"].as_array().unwrap().len(), film.lesson.questions(film.lead()).len());
    let (_, least) = fit_page(0, "", &film, &moments, &NoProgress).unwrap();
    assert_eq!(least.finest, Level::Search, "something is always written");
}

#[test]
fn all_compared_takes_are_included() {
    let (film, page, _) = page_of("order", Overrides { k: Some(8), width: Some(4), ..Overrides::default() });
    let read = ParsedPage::new(&page);
    let names: Vec<&str> =
        read.data["takes"].as_array().unwrap().iter().map(|take| take["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["shuffled", "nearest first", "farthest first"]);
    for (take, packed) in film.takes.iter().zip(read.data["takes"].as_array().unwrap()) {
        let mut cursor = Cursor::new(take.recording.clone());
        cursor.seek(take.range.end);
        hold(
            &film,
            &cursor,
            false,
            &read,
            packed["scenes"].as_array().and_then(|scenes| scenes.last()).unwrap(),
        );
        assert_eq!(
            packed["seen"].as_array().and_then(|seen| seen.last()),
            Some(&cursor.state().counts.points_seen.into())
        );
    }
}

#[test]
fn inserted_template_values_are_not_expanded() {
    assert_eq!(fill_template("a{x}b{y}c", &[("{x}", "{y}".to_owned()), ("{y}", "2".to_owned())]), "a{y}b2c");
}

/// The items that a row moves, by their place in the list, with their lengths at a fraction of the motion.
fn at(
    row: &[i32],
    items: &[Vec<i32>],
    moves_all: impl Fn(usize) -> bool,
    part: f32,
) -> Vec<(usize, Vec<f32>)> {
    let (mut found, mut rest) = (Vec::new(), row);
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at(count);
        rest = left;
        taken.to_vec()
    };
    let mut left = row.len();
    while left > 0 {
        let [first, count, corners] = take(3)[..] else { unreachable!() };
        left -= 3;
        let range = first as usize..(first + count) as usize;
        if corners > 0 {
            let numbers = take(1 + 2 * corners as usize);
            left -= numbers.len();
            let way: Vec<[f32; 2]> =
                numbers[1..].chunks(2).map(|pair| [pair[0] as f32, pair[1] as f32]).collect();
            let by = offset(&way, numbers[0] as f32, part);
            for item in range {
                let moved = |(axis, &length): (usize, &i32)| {
                    length as f32 + if axis < 2 || moves_all(item) { by[axis % 2] } else { 0.0 }
                };
                found.push((item, items[item].iter().enumerate().map(moved).collect()));
            }
        } else {
            for item in range {
                let were = take(items[item].len());
                left -= were.len();
                let between = |(&is, &was): (&i32, &i32)| is as f32 + (was - is) as f32 * (1.0 - part);
                found.push((item, items[item].iter().zip(&were).map(between).collect()));
            }
        }
    }
    found
}

fn scenes(film: &Film, cursor: &Cursor) -> Vec<(Panel, Scene)> {
    let view = View::new(cursor, film.text);
    let of = |(panel, area)| {
        let room = inside(area, film.text);
        (panel, draw(panel, &view, [room.width, room.height]))
    };
    data::panels(film, &view).into_iter().map(of).collect()
}

#[test]
fn page_motion_matches_the_app_at_every_level() {
    let mut moved = 0;
    for id in ["merge", "buffer", "wait", "wide"] {
        let (film, page, _) = page_of(id, Overrides::default());
        let read = ParsedPage::new(&page);
        let (take, packed) = (film.lead(), &read.data["takes"][0]);
        let rows: Vec<Vec<i32>> = serde_json::from_value(read.data["moves"].clone()).unwrap();
        let said: Vec<Vec<(usize, Vec<usize>)>> = serde_json::from_value(packed["moves"].clone()).unwrap();
        let positions: Vec<usize> = serde_json::from_value(packed["at"].clone()).unwrap();
        assert_eq!((said.len(), rows[0].len()), (positions.len(), 0));
        let mut cursor = Cursor::new(take.recording.clone());
        for level in Level::ALL {
            let mut from = 0;
            while from + 1 < positions.len() {
                cursor.seek(positions[from]);
                let before = scenes(&film, &cursor);
                let next = cursor.next(level).min(positions[positions.len() - 1]);
                cursor.seek(next);
                let to = positions.binary_search(&next).expect("a moment");
                let after = scenes(&film, &cursor);
                let entry = said[to]
                    .iter()
                    .find(|(back, _)| to - back == from)
                    .map(|(_, rows)| rows.clone())
                    .unwrap_or_else(|| vec![0; after.len()]);
                assert_eq!(entry.len(), after.len());
                for (at_panel, ((panel, scene), &number)) in after.iter().zip(&entry).enumerate() {
                    let same = before.get(at_panel).filter(|(was, _)| was == panel);
                    let motions = same.map_or_else(Vec::new, |(_, before)| motions(before, scene));
                    let (items, starts) = shape_items(&scene.shapes);
                    let numbers: Vec<Vec<i32>> = items.iter().map(|item| item.numbers.clone()).collect();
                    let polygon = |item: usize| matches!(items[item].kind, Kind::Line | Kind::Polygon);
                    for part in [0.0, 0.4, 1.0] {
                        let expected: Vec<(usize, Vec<i32>)> = motions
                            .iter()
                            .flat_map(|motion| {
                                let shapes = motion.from.shapes(&scene.shapes[motion.shapes.clone()], part);
                                (starts[motion.shapes.start]..)
                                    .zip(shape_items(&shapes).0)
                                    .map(|(at, item)| (at, item.numbers))
                                    .collect::<Vec<_>>()
                            })
                            .collect();
                        let found = at(&rows[number], &numbers, polygon, part);
                        assert_eq!(
                            found.len(),
                            expected.len(),
                            "{id}, {panel:?} at {next} from {}",
                            positions[from]
                        );
                        for ((at, lengths), (there, expected)) in found.iter().zip(&expected) {
                            let is_near =
                                lengths.iter().zip(expected).all(|(a, &b)| (a - b as f32).abs() < 3.0);
                            assert!(
                                at == there && lengths.len() == expected.len() && is_near,
                                "{id}, {panel:?} at {next}, {part}: {lengths:?}, {expected:?}"
                            );
                        }
                        moved += found.len();
                    }
                }
                from = to;
            }
        }
    }
    assert!(moved > 1_000, "{moved}");
}

#[test]
fn site_pages_link_to_their_neighbours_and_name_the_version() {
    let links: Vec<String> = LESSONS.iter().map(site::navigation).collect();
    for (number, links) in links.iter().enumerate() {
        let named =
            |number: Option<usize>| number.and_then(|number| LESSONS.get(number)).map(site::page_name);
        for (direction, page) in [("prev", named(number.checked_sub(1))), ("next", named(Some(number + 1)))] {
            let link = page.map(|page| format!("<a rel=\"{direction}\" href=\"{page}\">"));
            assert_eq!(links.contains(&format!("rel=\"{direction}\"")), link.is_some(), "{links}");
            assert!(link.is_none_or(|link| links.contains(&link)), "{links}");
        }
        assert!(links.contains("href=\"index.html\""), "{links}");
    }
    let (film, moments) = film("sort", Overrides::default());
    let (page, _) = site_page(&film, &moments, &NoProgress).unwrap();
    assert_eq!(page.matches(&links[film.lesson.number as usize - 1]).count(), 2, "above and below");
    let index = site::index();
    for page in [&page, &index] {
        assert!(page.contains(&format!("{}{VERSION}\">", site::GENERATOR)));
        assert!(!page.contains("{nav}") && !page.contains("Warpscope {version}") && !page.contains("{list}"));
    }
    assert_eq!(ParsedPage::new(&page).data["version"], VERSION);
    for lesson in &LESSONS {
        assert!(index.contains(&format!("href=\"{}\"", site::page_name(lesson))));
    }
}

/// The public schemas may not be redistributed, so this checks the structure that they require.
#[test]
fn the_manifest_has_an_item_and_a_page_for_each_lesson() {
    let manifest = site::manifest();
    let at = |part: &str| manifest.find(part).unwrap_or_else(|| panic!("{part}"));
    let order = [
        "<manifest",
        "<metadata>",
        "<schemaversion>1.2<",
        "<organizations default=\"lessons\">",
        "<resources>",
    ];
    assert!(order.map(at).is_sorted(), "{manifest}");
    let values = |name: &str| -> Vec<&str> {
        manifest.split(&format!(" {name}=\"")).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
    };
    let mut ids = values("identifier");
    assert_eq!(ids.len(), 2 + 2 * LESSONS.len());
    assert!(values("identifierref").iter().all(|page| ids.contains(page)));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2 + 2 * LESSONS.len(), "identifiers are unique");
    let pages: Vec<String> =
        LESSONS.iter().flat_map(|lesson| [site::page_name(lesson), site::page_name(lesson)]).collect();
    assert_eq!(values("href"), pages, "a page is its resource's only file");
    assert_eq!(manifest.matches("adlcp:scormtype=\"sco\"").count(), LESSONS.len());
}

#[test]
fn panels_have_descriptions_for_screen_readers() {
    let (_, page, _) = page_of("merge", Overrides::default());
    let read = ParsedPage::new(&page);
    for panel in read.data["layouts"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|layout| layout["panels"].as_array().unwrap())
    {
        let (name, shows) = (panel["name"].as_str().unwrap(), panel["shows"].as_str().unwrap());
        assert!(shows.len() > name.len() && shows.ends_with('.'), "{name}: {shows}");
    }
    assert!(
        page.contains("id=\"badge\" role=\"status\"")
            && page.contains("id=\"sentence\" aria-live=\"polite\"")
    );
}
