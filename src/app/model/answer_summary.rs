//! Summary of an answer in words: how many neighbours, within which distance, and of which classes.

use std::collections::HashMap;

use super::answer::{PickedPoint, QueryAnswer};
use super::files::{RoleChoice, Roles};
use crate::app::features::picking::state::ExtraColumns;
use crate::cloud::formats::Cell;
use crate::cloud::roles::words_of;
use crate::exact::RowVectors;
use crate::knn::Metric;
use crate::text;

/// Number of classes listed; the rest are counted together.
pub const MAX_CLASSES: usize = 5;

/// Number of neighbours with a name and a picture beside the answer.
pub const MAX_NAMED: usize = 8;

/// Headings of columns that name rows, best first.
const NAMES: [&str; 10] = ["name", "title", "city", "place", "station", "town", "label", "id", "key", "code"];

/// Headings of label columns, best first.
const LABELS: [&str; 16] = [
    "label",
    "class",
    "target",
    "species",
    "category",
    "classification",
    "type",
    "kind",
    "group",
    "cluster",
    "state",
    "region",
    "continent",
    "country",
    "genre",
    "digit",
];

/// Class counts of the neighbours, by a column of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassCounts {
    pub column: String,
    /// Most frequent first, at most [`MAX_CLASSES`].
    pub counts: Vec<(String, usize)>,
    /// Neighbours of all other classes.
    pub others: usize,
    /// Neighbours of the query's class, and neighbours in total, without the query's own row; `None` if the
    /// query is not a row or has no class.
    pub same_class: Option<(usize, usize)>,
}

/// One of the nearest neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedNeighbor {
    pub row: u32,
    /// From the file, or `row 12`, with the label: `row 12 (setosa)`.
    pub name: String,
    /// The label of a row without a name, else its name.
    pub caption: String,
    /// The distance to the query, with its unit.
    pub distance: String,
}

/// Facts for the summary of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSummary {
    /// Number of neighbours found.
    pub found: usize,
    /// What the query is called: a name from the file, a row number, or a point.
    pub query_name: String,
    /// The label of a query that is a row without a name.
    pub query_label: Option<String>,
    /// The distance of the farthest neighbour, with its unit.
    pub within: String,
    /// The first [`MAX_NAMED`], without the query's own row.
    pub nearest: Vec<NamedNeighbor>,
    /// Ascending distances, without the query's own row.
    pub distances: Vec<f64>,
    /// Their unit; `None` for the cloud's own unit.
    pub unit: Option<&'static str>,
    pub classes: Option<ClassCounts>,
    /// Whether the query itself is the only neighbour found.
    pub is_itself: bool,
    /// Wording for points at distance 0: under the angular distance they need not coincide.
    pub at_zero: &'static str,
    /// Whether the query itself counts among the k nearest.
    pub counts_itself: bool,
}

impl AnswerSummary {
    /// What a query at arbitrary coordinates is called.
    pub const PLACE: &str = "this place";

    /// Builds the summary. `table` holds the file's other columns for the neighbours, once read; `roles` the
    /// known label and name columns.
    pub fn new(
        answered: &QueryAnswer,
        picked: Option<PickedPoint>,
        table: Option<&ExtraColumns>,
        roles: &Roles,
    ) -> Self {
        let metric = answered.record.spec.metric;
        // From the answer: a query that is dragged or picked may be ahead of it.
        let own = answered.record.query_cloud.is_none().then(|| answered.row());
        let neighbors: Vec<(u32, f32)> = answered.neighbors().collect();
        let place_of_own = own.and_then(|own| answered.rows_to_look_up().iter().position(|&row| row == own));
        let others = || neighbors.iter().filter(|&&(row, _)| Some(row) != own);
        // In f64, as exports: squared chords in f32 have few digits at short distances on the globe.
        let vectors = RowVectors::new(metric, &answered.record.cloud);
        let from = vectors.vector(answered.query_cloud(), answered.row() as usize);
        let distance_to =
            |row: u32| vectors.between(&from, &vectors.vector(&answered.record.cloud, row as usize));
        let distances: Vec<f64> = others().map(|&(row, _)| distance_to(row)).collect();
        let farthest = distances.iter().copied().fold(0.0, f64::max);
        let classes = table.and_then(|table| classes(table, roles, neighbors.len(), place_of_own));
        let query_name = query_name(answered, picked, table, roles);
        let is_itself = !neighbors.is_empty() && distances.is_empty();
        let has_names = table.is_some_and(|table| label_and_name(table, roles)[1].is_some());
        // Neighbours come first among the rows of the table.
        let names = table.map_or_else(Vec::new, |table| names(table, roles));
        let query_label = place_of_own.and_then(|place| names.get(place)?.clone()).filter(|_| !has_names);
        let mut names = names.into_iter();
        let nearest = neighbors.iter().map(|&neighbor| (neighbor, names.next().flatten()));
        let nearest = nearest.filter(|((row, _), _)| Some(*row) != own).take(MAX_NAMED);
        let nearest = nearest.map(|((row, _), text)| {
            let number = row_name(answered, row);
            let name = match &text {
                Some(name) if has_names => name.clone(),
                Some(label) => format!("{number} ({label})"),
                None => number.clone(),
            };
            let distance = distance_text(metric, distance_to(row));
            NamedNeighbor { row, name, caption: text.unwrap_or(number), distance }
        });
        Self {
            found: distances.len(),
            query_name,
            query_label,
            within: at_most_text(metric, farthest),
            nearest: nearest.collect(),
            distances,
            unit: metric.unit(),
            classes,
            is_itself,
            at_zero: at_zero(metric),
            counts_itself: own.is_some() && !answered.record.spec.exclude_self,
        }
    }

    pub fn sentence(&self) -> String {
        match self.found {
            0 if self.is_itself => format!(
                "{} is its own nearest; raise k, or tick “Don't count the point itself”.",
                text::sentence_case(&self.query_name)
            ),
            0 => format!("Nothing was found near {}.", self.query_name),
            _ if self.distances.iter().all(|&distance| distance == 0.0) => {
                let (points, are) = match self.found as u64 {
                    1 => ("point".to_owned(), "is"),
                    others if self.counts_itself => (text::count(others, "other", "others"), "are"),
                    points => (text::count(points, "point", "points"), "are"),
                };
                format!("The {points} nearest to {} {are} {}.", self.query_name, self.at_zero)
            }
            found => {
                let first = self.nearest.first().map_or_else(String::new, |nearest| {
                    format!("Nearest to {}: {} at {}.", self.query_name, nearest.name, nearest.distance)
                });
                let others = if self.counts_itself { " others" } else { "" };
                let count = text::thousands(found as u64);
                if found > 1 {
                    format!("{first} All {count}{others} lie within {}.", self.within)
                } else {
                    first
                }
            }
        }
    }
}

impl ClassCounts {
    pub fn sentence(&self) -> String {
        let counts = self.counts.iter().map(|(kind, count)| format!("{kind} {count}"));
        let others = (self.others > 0).then(|| format!("others {}", self.others));
        format!("{}: {}", self.column, counts.chain(others).collect::<Vec<_>>().join(", "))
    }
}

/// What the query is called: a name from the file, a row number, or a point.
pub fn query_name(
    answered: &QueryAnswer,
    picked: Option<PickedPoint>,
    table: Option<&ExtraColumns>,
    roles: &Roles,
) -> String {
    let own = answered.record.query_cloud.is_none().then(|| answered.row());
    let place = own.and_then(|own| answered.rows_to_look_up().iter().position(|&row| row == own));
    match (table.zip(place).and_then(|(table, place)| name(table, roles, place)), own, picked) {
        (Some(name), ..) => name,
        (None, Some(row), _) => row_name(answered, row),
        (None, None, Some(PickedPoint::Query(query))) => format!("query {}", text::thousands(query as u64)),
        _ => AnswerSummary::PLACE.to_owned(),
    }
}

fn row_name(answered: &QueryAnswer, row: u32) -> String {
    format!("row {}", text::thousands(answered.record.cloud.record(row as usize)))
}

fn at_zero(metric: Metric) -> &'static str {
    if metric.compares_directions() { "in the same direction" } else { "at the same place" }
}

pub fn distance_text(metric: Metric, distance: f64) -> String {
    let unit = metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    format!("{}{unit}", text::digits(distance, 4))
}

/// The distance rounded up, so that it stays an upper bound.
fn at_most_text(metric: Metric, distance: f64) -> String {
    let step = 10f64.powf(distance.max(f64::MIN_POSITIVE).log10().floor() - 3.0);
    // A tolerance, so that a number of four digits is not rounded up.
    distance_text(metric, if distance > 0.0 { (distance / step - 1e-6).ceil() * step } else { 0.0 })
}

/// The accepted column whose heading contains the earliest of `wanted`.
fn headed(table: &ExtraColumns, wanted: &[&str], accepts: impl Fn(usize) -> bool) -> Option<usize> {
    let columns = &table.cells()?.columns;
    let place = |column: usize| {
        wanted
            .iter()
            .position(|wanted| words_of(&columns[column]).any(|word| word.eq_ignore_ascii_case(wanted)))
    };
    (0..columns.len())
        .filter(|&column| accepts(column))
        .filter_map(|column| Some((place(column)?, column)))
        .min()
        .map(|(_, column)| column)
}

fn texts(table: &ExtraColumns, column: usize) -> Vec<Option<String>> {
    (0..table.rows.len()).map(|place| table.cell(place, column).and_then(cell_text)).collect()
}

/// Like [`texts`], for a column with a role. In a chosen column, numbers count as text too.
fn texts_of(table: &ExtraColumns, column: usize, choice: &RoleChoice) -> Vec<Option<String>> {
    (0..table.rows.len()).map(|place| text_of(table.cell(place, column)?, choice)).collect()
}

fn text_of(cell: &Cell, choice: &RoleChoice) -> Option<String> {
    match (cell, choice) {
        (Cell::Number(value), RoleChoice::Column(_)) => Some(text::coordinate(*value)),
        _ => cell_text(cell),
    }
}

/// Truncates a text to fit a sentence.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    if text.chars().count() <= MAX_CHARS {
        text.to_owned()
    } else {
        text.chars().take(MAX_CHARS).chain(['…']).collect()
    }
}

/// A cell as text. Only integers count, because other numbers cannot be class labels.
fn cell_text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()),
        Cell::Number(value) if value.fract() == 0.0 => Some(text::coordinate(*value)),
        Cell::Number(_) | Cell::Missing => None,
    }
}

fn is_text(table: &ExtraColumns, column: usize) -> bool {
    (0..table.rows.len()).any(|place| matches!(table.cell(place, column), Some(Cell::Text(_))))
}

/// Number of distinct texts, and number of rows with a text.
fn variety(texts: &[Option<String>]) -> (usize, usize) {
    let mut there: Vec<&String> = texts.iter().flatten().collect();
    let rows = there.len();
    there.sort_unstable();
    there.dedup();
    (there.len(), rows)
}

/// Index of the chosen column; the outer `None` means that the user did not choose.
fn chosen(table: &ExtraColumns, choice: &RoleChoice) -> Option<Option<usize>> {
    match choice {
        RoleChoice::Inferred => None,
        RoleChoice::Nothing => Some(None),
        RoleChoice::Column(of) => {
            Some(table.cells().and_then(|others| others.columns.iter().position(|column| *column == of.name)))
        }
    }
}

/// The label column: the known one, else by heading, else the text column with the most repetition.
fn label_column(table: &ExtraColumns, roles: &Roles) -> Option<usize> {
    if let Some(known) = chosen(table, &roles.label) {
        return known;
    }
    let named = chosen(table, &roles.name).flatten();
    let repeats = |column: usize| {
        let (different, rows) = variety(&texts(table, column));
        Some(column) != named && rows > 1 && different * 2 <= rows
    };
    let by_heading = headed(table, &LABELS, repeats);
    by_heading.or_else(|| {
        let columns = 0..table.cells().map_or(0, |others| others.columns.len());
        columns
            .filter(|&column| is_text(table, column) && repeats(column))
            .min_by_key(|&column| variety(&texts(table, column)).0)
    })
}

fn classes(table: &ExtraColumns, roles: &Roles, neighbors: usize, own: Option<usize>) -> Option<ClassCounts> {
    let column = label_column(table, roles)?;
    let texts = texts_of(table, column, &roles.label);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (_, text) in texts.iter().enumerate().take(neighbors).filter(|&(place, _)| Some(place) != own) {
        *counts.entry(text.as_deref().unwrap_or("–")).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> =
        counts.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let same_class = own.and_then(|place| texts[place].as_ref()).map(|of_query| {
        let same_class = counts.iter().find(|(kind, _)| kind == of_query).map_or(0, |(_, count)| *count);
        (same_class, total)
    });
    let others = counts.iter().skip(MAX_CLASSES).map(|(_, count)| count).sum();
    counts.truncate(MAX_CLASSES);
    counts.iter_mut().for_each(|(kind, _)| *kind = shortened(kind));
    Some(ClassCounts { column: table.cells()?.columns[column].clone(), counts, others, same_class })
}

/// The column that names rows; `kind` is the label column.
fn name_column(table: &ExtraColumns, roles: &Roles, kind: Option<usize>) -> Option<usize> {
    if let Some(known) = chosen(table, &roles.name) {
        return known;
    }
    let names_rows = |column: usize| Some(column) != kind && is_text(table, column);
    let by_heading = headed(table, &NAMES, names_rows);
    by_heading.or_else(|| {
        let columns = 0..table.cells().map_or(0, |others| others.columns.len());
        columns
            .filter(|&column| names_rows(column))
            .max_by_key(|&column| (variety(&texts(table, column)).0, usize::MAX - column))
    })
}

/// The headings of the label column and the name column, chosen or inferred.
pub fn label_and_name<'a>(table: &'a ExtraColumns, roles: &Roles) -> [Option<&'a str>; 2] {
    let kind = label_column(table, roles);
    let heading = |column: usize| table.cells()?.columns.get(column).map(String::as_str);
    [kind, name_column(table, roles, kind)].map(|column| column.and_then(heading))
}

/// The names of the rows; `None` for rows without a name.
pub fn names(table: &ExtraColumns, roles: &Roles) -> Vec<Option<String>> {
    let kind = label_column(table, roles);
    let texts = match name_column(table, roles, kind) {
        Some(column) => texts_of(table, column, &roles.name),
        None => kind.map(|kind| texts_of(table, kind, &roles.label)).unwrap_or_default(),
    };
    texts.into_iter().map(|text| text.as_deref().map(shortened)).collect()
}

/// A row's name, with its label if that is text: `West Union, IL`.
fn name(table: &ExtraColumns, roles: &Roles, place: usize) -> Option<String> {
    let kind = label_column(table, roles);
    let column = name_column(table, roles, kind)?;
    let name = shortened(&table.cell(place, column).and_then(|cell| text_of(cell, &roles.name))?);
    let kind = kind
        .filter(|&kind| is_text(table, kind))
        .and_then(|kind| table.cell(place, kind).and_then(cell_text));
    Some(kind.map_or_else(|| name.clone(), |kind| format!("{name}, {kind}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::features::picking::state::ExtraCells;
    use crate::app::testing::cloud;

    fn table(columns: &[&str], rows: Vec<Vec<Cell>>) -> ExtraColumns {
        let others = ExtraCells {
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            total: columns.len(),
            rows,
        };
        let numbers = (0..others.rows.len() as u32).collect();
        ExtraColumns { cloud: cloud(9, 2, 1), rows: numbers, found: Arc::new(Ok(others)) }
    }

    #[test]
    fn rows_are_named_by_the_name_column() {
        let row = |city: &str, state: &str| vec![Cell::Number(7.0), text(city), text(state)];
        let rows = vec![
            row("Ames", "IA"),
            row("Boone", "IA"),
            vec![Cell::Number(7.0), Cell::Missing, text("IA")],
            row("Tama", "IA"),
        ];
        let all = names(&table(&["pop", "city", "state"], rows.clone()), &Roles::default());
        assert_eq!(all, [Some("Ames".to_owned()), Some("Boone".to_owned()), None, Some("Tama".to_owned())]);
        assert!(
            names(&table(&["pop"], vec![vec![Cell::Number(0.5)]; 3]), &Roles::default())
                .iter()
                .all(Option::is_none),
            "numbers are not names"
        );
    }

    #[test]
    fn coincident_neighbours_are_reported() {
        let counted = |distances: &[f64], within: &str, itself: bool| {
            let (query_name, within) = ("Holtsville, NY".to_owned(), within.to_owned());
            AnswerSummary {
                found: distances.len(),
                query_name,
                query_label: None,
                within,
                nearest: vec![NamedNeighbor {
                    row: 7,
                    name: "Calverton".to_owned(),
                    caption: "Calverton".to_owned(),
                    distance: distance_text(Metric::Haversine, distances[0]),
                }],
                distances: distances.to_vec(),
                unit: Some("km"),
                classes: None,
                is_itself: false,
                at_zero: at_zero(Metric::L2),
                counts_itself: itself,
            }
            .sentence()
        };
        let summary = |distances: &[f64], within: &str| counted(distances, within, false);
        assert_eq!(
            counted(&[0.0, 0.0], "0 km", true),
            "The 2 others nearest to Holtsville, NY are at the same place."
        );
        assert!(counted(&[0.0, 2.0], "2 km", true).ends_with("All 2 others lie within 2 km."));
        assert_eq!(
            summary(&[0.0, 0.0], "0 km"),
            "The 2 points nearest to Holtsville, NY are at the same place."
        );
        assert_eq!(summary(&[0.0], "0 km"), "The point nearest to Holtsville, NY is at the same place.");
        assert_eq!(
            summary(&[0.0, 2.0], "2 km"),
            "Nearest to Holtsville, NY: Calverton at 0 km. All 2 lie within 2 km."
        );
        assert_eq!(summary(&[2.0], "2 km"), "Nearest to Holtsville, NY: Calverton at 2.000 km.");
    }

    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    #[test]
    fn rows_are_named_and_counted_by_label() {
        let row = |zip: f64, city: &str, state: &str| vec![Cell::Number(zip), text(city), text(state)];
        let rows = vec![
            row(1.0, "Woodburn", "IA"),
            row(2.0, "Osceola", "IA"),
            row(3.0, "Davis City", "MO"),
            row(4.0, "Lacona", "IA"),
        ];
        let table = table(&["zip_code", "city", "state"], rows);
        assert_eq!(name(&table, &Roles::default(), 0).as_deref(), Some("Woodburn, IA"));
        let classes = classes(&table, &Roles::default(), 4, Some(0)).expect("states");
        assert_eq!((classes.sentence().as_str(), classes.same_class), ("state: IA 2, MO 1", Some((2, 3))));
    }

    #[test]
    fn label_columns_are_not_used_as_names() {
        let rows = (0..20)
            .map(|at| vec![Cell::Number(f64::from(at) + 0.5), Cell::Number(f64::from(at % 8))])
            .collect();
        let table = table(&["weight", "digit"], rows);
        assert_eq!(name(&table, &Roles::default(), 3), None);
        let classes = classes(&table, &Roles::default(), 20, None).expect("digits");
        // Digits 0 to 3 three times each, 4 to 7 twice.
        assert_eq!((classes.counts.len(), classes.others, classes.same_class), (MAX_CLASSES, 6, None));
        assert_eq!(classes.sentence(), "digit: 0 3, 1 3, 2 3, 3 3, 4 2, others 6");
    }

    #[test]
    fn text_columns_with_unknown_headers_are_used() {
        let rows = ["ab", "cd", "ef", "gh"]
            .map(|name| vec![text(name), text(if name < "d" { "low" } else { "high" })])
            .to_vec();
        let table = table(&["one", "two"], rows);
        assert_eq!(name(&table, &Roles::default(), 1).as_deref(), Some("cd, low"));
        assert_eq!(classes(&table, &Roles::default(), 4, Some(1)).expect("kinds").same_class, Some((1, 3)));
    }

    #[test]
    fn chosen_columns_take_precedence() {
        use crate::app::model::files::FileColumn;
        let row = |city: &str, state: &str, size: f64| vec![text(city), text(state), Cell::Number(size)];
        let table = table(
            &["city", "state", "size"],
            vec![row("Ames", "IA", 1.5), row("Boone", "IA", 1.5), row("Tama", "MO", 2.5)],
        );
        let by = |name: &str| RoleChoice::Column(FileColumn { name: name.to_owned(), key: name.to_owned() });
        assert_eq!(
            label_and_name(&table, &Roles::default()),
            [None, Some("city")],
            "two of three rows are too few for a label"
        );
        let roles = Roles { label: by("size"), name: by("state"), ..Roles::default() };
        assert_eq!(
            (label_and_name(&table, &roles), name(&table, &roles, 2).as_deref()),
            ([Some("size"), Some("state")], Some("MO"))
        );
        assert_eq!(classes(&table, &roles, 3, Some(0)).expect("sizes").sentence(), "size: 1.5 1, 2.5 1");
        let none = Roles { label: RoleChoice::Nothing, name: RoleChoice::Nothing, ..Roles::default() };
        assert_eq!((label_and_name(&table, &none), names(&table, &none)), ([None, None], Vec::new()));
    }

    #[test]
    fn bounds_are_rounded_up() {
        assert_eq!(
            [0.341_328, 0.3413, 2978.0, 2978.2, 0.0].map(|distance| at_most_text(Metric::L2, distance)),
            ["0.3414", "0.3413", "2,978", "2,979", "0"]
        );
    }

    #[test]
    fn numeric_columns_give_no_names_or_classes() {
        let table = table(&["height"], vec![vec![Cell::Number(0.25)], vec![Cell::Missing]]);
        assert_eq!(
            (name(&table, &Roles::default(), 0), classes(&table, &Roles::default(), 2, None)),
            (None, None)
        );
    }
}
