//! The problem being edited: text fields whose contents may be invalid.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fields::{Field, FieldError, listed, number, path, rows};
use super::files::{absolute, typed_columns};
use crate::cloud::formats::file_of;
use crate::cloud::{ColumnChoice, Order, Source, query_point};
use crate::engines::registry;
use crate::knn::{Descriptor, DeviceId, Metric, ProblemParameters};
use crate::run::{EngineChoice, QuerySpec, RunSpec, defaults};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataKind {
    #[default]
    Generate,
    File,
}

/// How queries are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueryKind {
    /// A number of rows, sampled with the seed.
    #[default]
    Count,
    All,
    /// Rows that are typed or were picked.
    Rows,
    File,
    /// Typed coordinates.
    #[serde(rename = "Place")]
    Coordinates,
    /// Rows selected in the views, if they are too many to type.
    Selected,
}

/// The fields of the left panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    pub data: DataKind,
    pub path: String,
    pub columns: String,
    pub drop_nonfinite: bool,
    pub generator: String,
    pub seed: String,
    pub queries: QueryKind,
    pub query_count: String,
    pub query_rows: String,
    /// Record numbers in the cloud that was shown when they were selected; not saved.
    #[serde(skip)]
    pub selected_rows: Arc<[u64]>,
    pub query_path: String,
    /// Coordinates, as [`query_point::format`] writes them.
    pub query_place: String,
    pub k: String,
    pub metric: Metric,
    pub order: Order,
    pub exclude_self: bool,
    pub profile: bool,
    pub engine: EngineChoice,
    /// `None` is the first device of the engine's kind.
    pub device: Option<DeviceId>,
    pub warmup: String,
    pub repeats: String,
}

impl Default for Draft {
    /// The first launch: a small cloud that is answered at once.
    fn default() -> Self {
        Self {
            data: DataKind::Generate,
            path: String::new(),
            columns: String::new(),
            drop_nonfinite: false,
            generator: "gaussian-mixture:n=20000,clusters=12".to_owned(),
            // The seed that looks best on first launch.
            seed: "1".to_owned(),
            queries: QueryKind::Count,
            query_count: defaults::QUERIES.to_string(),
            query_rows: String::new(),
            selected_rows: Arc::default(),
            query_path: String::new(),
            query_place: String::new(),
            k: defaults::K.to_string(),
            metric: Metric::L2,
            order: Order::Shuffled,
            exclude_self: false,
            profile: false,
            engine: EngineChoice::Auto,
            device: None,
            warmup: "1".to_owned(),
            repeats: "5".to_owned(),
        }
    }
}

impl Draft {
    /// Parses the data fields.
    ///
    /// # Errors
    /// The first invalid data field.
    pub fn source(&self) -> Result<Source, FieldError> {
        match self.data {
            DataKind::File => Ok(Source::File {
                path: path(Field::Path, &self.path, "Type the path of a file, or press Open…")?,
                columns: self.columns.parse().unwrap_or_default(),
            }),
            DataKind::Generate => {
                let spec = self.generator.trim();
                if spec.is_empty() {
                    return Err(FieldError::new(
                        Field::Generator,
                        "Choose a generator, for example uniform:n=100000,d=2.",
                    ));
                }
                Ok(Source::Generate { spec: spec.to_owned(), seed: self.seed()? })
            }
        }
    }

    /// Parses the seed field.
    ///
    /// # Errors
    /// If it is not a number.
    pub fn seed(&self) -> Result<u64, FieldError> {
        number(Field::Seed, &self.seed, 0, u64::MAX)
    }

    /// Parses all fields into a spec that can be run.
    ///
    /// # Errors
    /// All errors, field by field.
    pub fn to_spec(&self) -> Result<RunSpec, Vec<FieldError>> {
        let mut spec = self.read(u64::MAX)?;
        if let QuerySpec::Rows(listed) = &mut spec.queries {
            *listed = match self.queries {
                QueryKind::Selected => self.selected_rows.to_vec(),
                _ => rows(&self.query_rows).unwrap_or_default().into_iter().flatten().collect(),
            };
        }
        Ok(spec)
    }

    /// All errors, field by field, for a cloud of `rows`; cheap enough for every frame.
    pub fn errors(&self, rows: u64) -> Vec<FieldError> {
        self.read(rows).err().unwrap_or_default()
    }

    /// Sets a file with its default columns. The choice to drop rows is kept only if the path names the same
    /// file: the user has not agreed to it for another one.
    pub fn open(&mut self, path: &Path) {
        self.drop_nonfinite &= self.names(path);
        (self.data, self.path) = (DataKind::File, path.display().to_string());
        self.columns.clear();
    }

    /// Whether the path field names this file, or a dataset in it.
    pub fn names(&self, path: &Path) -> bool {
        self.data == DataKind::File && file_of(Path::new(self.path.trim())) == file_of(path)
    }

    /// The same data with default settings.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let Self { data, path, columns, drop_nonfinite, generator, seed, .. } = self.clone();
        Self { data, path, columns, drop_nonfinite, generator, seed, ..Self::default() }
    }

    /// Fills in the data fields from a source.
    pub fn set_source(&mut self, source: &Source) {
        match source {
            Source::File { path, columns } => {
                (self.data, self.path, self.columns) =
                    (DataKind::File, path.display().to_string(), typed_columns(columns));
            }
            Source::Generate { spec, seed } => {
                (self.data, self.generator, self.seed) = (DataKind::Generate, spec.clone(), seed.to_string())
            }
            // No data field holds coordinates.
            Source::Coordinates(_) => {}
        }
    }

    /// The path changed from `before`: drops settings that belong to the loaded file.
    pub fn leave(&mut self, before: &str, loaded: &Path) {
        let loaded = absolute(loaded);
        let [was, is] = [before, &self.path].map(|text| path(Field::Path, text, "").ok());
        if was.as_ref() == Some(&loaded) && is != was {
            self.columns.clear();
        }
        let [was, is] = [was, is].map(|path| path.as_deref().map(file_of));
        self.drop_nonfinite &= was != Some(file_of(&loaded)) || is == was;
    }

    /// The fields for a run that is shown; fields that the spec does not set stay as typed.
    pub fn from_spec(spec: &RunSpec, typed: &Self) -> Self {
        let mut draft = Self {
            seed: spec.seed.to_string(),
            k: spec.k.to_string(),
            metric: spec.metric,
            order: spec.order,
            exclude_self: spec.exclude_self,
            engine: spec.engine.clone(),
            device: spec.device,
            warmup: spec.warmup.to_string(),
            repeats: spec.repeats.to_string(),
            drop_nonfinite: spec.drop_nonfinite,
            ..typed.clone()
        };
        draft.set_source(&spec.data);
        match &spec.queries {
            QuerySpec::All => draft.queries = QueryKind::All,
            QuerySpec::Count(count) => {
                (draft.queries, draft.query_count) = (QueryKind::Count, count.to_string())
            }
            QuerySpec::Rows(rows) => (draft.queries, draft.query_rows) = (QueryKind::Rows, listed(rows)),
            QuerySpec::File { path, .. } => {
                (draft.queries, draft.query_path) = (QueryKind::File, path.display().to_string())
            }
            QuerySpec::At(at) => {
                (draft.queries, draft.query_place) = (QueryKind::Coordinates, query_point::format(at))
            }
        }
        draft
    }

    /// The largest k allowed. For an engine that this build does not have, the limit of `auto`.
    pub fn max_k(&self) -> usize {
        let known = self.engine.engines().next().is_some();
        let limit = if known { self.engine.k_limit() } else { EngineChoice::Auto.k_limit() };
        ProblemParameters::reported_k(limit, self.exclude_self)
    }

    /// The largest number of neighbours in a cloud of `rows`.
    pub fn most_found(&self, rows: u64) -> u64 {
        rows.saturating_sub(self.exclude_self.into()).max(1)
    }

    /// The number of queries, if that is how they are chosen.
    pub fn count(&self) -> Option<u64> {
        match self.queries() {
            Ok(QuerySpec::Count(count)) => Some(count),
            _ => None,
        }
    }

    /// Parses everything except typed rows, which are validated but not expanded. An error of k names at most
    /// `rows`, although a larger k is valid.
    fn read(&self, rows: u64) -> Result<RunSpec, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut keep = |error: FieldError| {
            // The source and the run share the seed field, so its error would appear twice.
            if !errors.contains(&error) {
                errors.push(error);
            }
        };
        let data = self.source().map_err(&mut keep).ok();
        let queries = self.queries().map_err(&mut keep).ok();
        let most = self.max_k() as u64;
        let k = number(Field::K, &self.k, 1, most)
            .or_else(|_| number(Field::K, &self.k, 1, most.min(self.most_found(rows))))
            .map_err(&mut keep)
            .ok();
        let seed = self.seed().map_err(&mut keep).ok();
        self.engine_errors().into_iter().for_each(&mut keep);
        let warmup = number(Field::Warmup, &self.warmup, 0, 10_000).map_err(&mut keep).ok();
        let repeats = number(Field::Repeats, &self.repeats, 1, 10_000).map_err(&mut keep).ok();
        match (data, queries, k, seed, warmup, repeats) {
            (Some(data), Some(queries), Some(k), Some(seed), Some(warmup), Some(repeats))
                if errors.is_empty() =>
            {
                Ok(RunSpec {
                    data,
                    queries,
                    k: k as usize,
                    metric: self.metric,
                    engine: self.engine.clone(),
                    device: self.device,
                    order: self.order,
                    exclude_self: self.exclude_self,
                    seed,
                    warmup: warmup as u32,
                    repeats: repeats as u32,
                    drop_nonfinite: self.drop_nonfinite,
                    profile: self.profile,
                })
            }
            _ => Err(errors),
        }
    }

    fn engine_errors(&self) -> Vec<FieldError> {
        let EngineChoice::Named(method) = &self.engine else { return Vec::new() };
        let wrong = |field, sentence: String| vec![FieldError::new(field, sentence)];
        let Some(engine) = registry::find(method.engine) else {
            return wrong(
                Field::Engine,
                format!("This build has no engine {}; choose another one.", method.engine),
            );
        };
        let declared = |name: &str| engine.parameters.iter().find(|parameter| parameter.name == name);
        if let Some((name, _)) = method.parameters.iter().find(|(name, _)| declared(name).is_none()) {
            return wrong(Field::Engine, format!("{} has no parameter {name}; choose Reset.", engine.id));
        }
        let refused = |(name, value)| {
            let parameter = declared(name).filter(|parameter| !parameter.values.allow(value))?;
            Some(FieldError::new(
                Field::Parameter(parameter.name),
                format!("“{value}” is not allowed; {name} may be {}.", parameter.values),
            ))
        };
        method.parameters.iter().filter_map(refused).collect()
    }

    /// Selects an engine with default parameters; keeps the device if the engine runs there.
    pub fn choose_engine(&mut self, engine: &Descriptor) {
        self.engine = EngineChoice::named(engine.id);
        self.device = self.device.filter(|device| engine.runs_on.contains(&device.kind()));
    }

    /// Sets a parameter of the chosen engine as typed; an empty value unsets it. Characters that no value
    /// contains are removed, so that the method can be written and parsed again.
    pub fn set_parameter(&mut self, name: &str, typed: &str) {
        let EngineChoice::Named(method) = &mut self.engine else { return };
        let value: String = typed.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if value.is_empty() { method.parameters.unset(name) } else { method.parameters.set(name, value) }
    }

    fn queries(&self) -> Result<QuerySpec, FieldError> {
        Ok(match self.queries {
            QueryKind::All => QuerySpec::All,
            QueryKind::Count => {
                QuerySpec::Count(number(Field::QueryCount, &self.query_count, 1, u64::from(u32::MAX))?)
            }
            QueryKind::Rows => {
                rows(&self.query_rows)?;
                QuerySpec::Rows(Vec::new())
            }
            QueryKind::Coordinates => {
                QuerySpec::At(query_point::parse(&self.query_place).map_err(|part| {
                    let what = if part.is_empty() {
                        "A coordinate is missing".to_owned()
                    } else {
                        format!("“{part}” is not a number")
                    };
                    FieldError::new(
                        Field::QueryPlace,
                        format!("{what}; write a place as its coordinates, for example 0.5,-1."),
                    )
                })?)
            }
            QueryKind::Selected if self.selected_rows.is_empty() => {
                return Err(FieldError::new(
                    Field::QueryRows,
                    "Select points in Plane or Space, then press Use as queries.",
                ));
            }
            QueryKind::Selected => QuerySpec::Rows(Vec::new()),
            QueryKind::File => QuerySpec::File {
                path: path(
                    Field::QueryPath,
                    &self.query_path,
                    "Type the path of a file of queries, or press Browse…",
                )?,
                columns: ColumnChoice::Default,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::fields::typed_rows;
    use crate::app::testing::{MemoryStorage, folder};
    use crate::knn::AllowedValues;

    fn errors(change: impl FnOnce(&mut Draft)) -> Vec<FieldError> {
        let mut draft = Draft::default();
        change(&mut draft);
        draft.to_spec().expect_err("the field is wrong")
    }

    #[test]
    fn the_default_draft_is_valid() {
        let spec = Draft::default().to_spec().expect("the default problem");
        assert_eq!((spec.k, spec.queries, spec.repeats), (32, QuerySpec::Count(1000), 5));
    }

    #[test]
    fn run_specs_round_trip_through_drafts() {
        let file = |path: &str| Source::File {
            path: path.into(),
            columns: ColumnChoice::Named(vec!["lon".to_owned(), "0".to_owned()]),
        };
        let generated = Source::Generate { spec: "uniform:n=50,d=2".to_owned(), seed: 7 };
        let queries = [
            QuerySpec::All,
            QuerySpec::Count(12),
            QuerySpec::Rows(vec![0, 5, 10, 11, 12]),
            QuerySpec::At(vec![-0.125, 1e-300]),
            QuerySpec::File { path: "/there/q.csv".into(), columns: ColumnChoice::Default },
        ];
        for data in [file("/there/a b.csv"), generated] {
            for queries in &queries {
                let spec = RunSpec {
                    data: data.clone(),
                    queries: queries.clone(),
                    k: 9,
                    metric: Metric::Angular,
                    order: Order::File,
                    exclude_self: true,
                    engine: EngineChoice::named(crate::knn::EngineId::new("kdtree")),
                    device: Some(DeviceId::Cpu),
                    seed: 7,
                    warmup: 3,
                    repeats: 4,
                    drop_nonfinite: true,
                    profile: false,
                };
                assert_eq!(Draft::from_spec(&spec, &Draft::default()).to_spec().as_ref(), Ok(&spec));
            }
        }
    }

    #[test]
    fn engine_parameters_round_trip_through_drafts() {
        let spec = Draft::default().to_spec().expect("the default problem");
        for engine in registry::ENGINES {
            let mut draft = Draft::default();
            draft.choose_engine(engine);
            for parameter in engine.parameters {
                let value = match &parameter.values {
                    AllowedValues::Numbers(range) => range.end().to_string(),
                    AllowedValues::Words(words) => words[0].to_owned(),
                };
                draft.set_parameter(parameter.name, &value);
            }
            let asked = draft.to_spec().expect("all are allowed");
            assert_eq!(asked.engine.parameters().iter().len(), engine.parameters.len());
            assert_eq!(Draft::from_spec(&asked, &Draft::default()).to_spec().as_ref(), Ok(&asked));
            assert_eq!(
                serde_json::from_str::<Draft>(&serde_json::to_string(&draft).expect("JSON"))
                    .expect("the same"),
                draft
            );
            for parameter in engine.parameters {
                draft.set_parameter(parameter.name, " ");
            }
            let left = RunSpec { engine: EngineChoice::named(engine.id), ..spec.clone() };
            assert_eq!(draft.to_spec(), Ok(left), "empty fields use the engine's defaults");
        }
    }

    #[test]
    fn invalid_parameters_are_preserved_and_reported() {
        for engine in registry::ENGINES {
            for parameter in engine.parameters {
                let mut draft = Draft::default();
                draft.choose_engine(engine);
                draft.set_parameter(parameter.name, "1,2=3:x é");
                assert_eq!(
                    serde_json::from_str::<Draft>(&serde_json::to_string(&draft).expect("JSON"))
                        .expect("the same"),
                    draft
                );
                let errors = draft.errors(u64::MAX);
                assert_eq!(
                    errors.iter().map(|error| error.field).collect::<Vec<_>>(),
                    [Field::Parameter(parameter.name)]
                );
                assert_eq!(
                    errors[0].sentence,
                    format!("“123x” is not allowed; {} may be {}.", parameter.name, parameter.values)
                );
                assert!(draft.to_spec().is_err());
            }
        }
    }

    #[test]
    fn unknown_engines_and_parameters_are_reported() {
        let named = |method: &str| {
            errors(|draft| draft.engine = EngineChoice::Named(method.parse().expect("a method")))
        };
        assert_eq!(
            named("quantum:qubits=3"),
            [FieldError::new(Field::Engine, "This build has no engine quantum; choose another one.")]
        );
        let known = registry::ENGINES[0].id;
        assert_eq!(
            named(&format!("{known}:qubits=3"))[0].sentence,
            format!("{known} has no parameter qubits; choose Reset.")
        );
    }

    #[test]
    fn switching_engines_preserves_supported_devices() {
        for engine in registry::ENGINES {
            for device in [DeviceId::Cpu, DeviceId::Gpu(1)] {
                let mut draft = Draft { device: Some(device), ..Draft::default() };
                draft.choose_engine(engine);
                assert_eq!(draft.device.is_some(), engine.runs_on.contains(&device.kind()));
            }
        }
    }

    /// Drafts written when engines were variants of an enum, in sessions and in window settings.
    #[test]
    fn drafts_with_old_engine_names_still_open() {
        const SESSION: &str = concat!(
            r#"{"data":"Generate","path":"","columns":"","drop_nonfinite":false,"#,
            r#""generator":"uniform:n=50,d=2","seed":"1",
            "queries":"Count","query_count":"40","query_rows":"","query_path":"","#,
            r#""query_place":"","k":"8","metric":"l2","order":"shuffled",
            "exclude_self":false,"profile":false,"engine":"ENGINE","warmup":"1","repeats":"5"}"#,
        );
        const WINDOW: &str = concat!(
            r#"(data:Generate,path:"",columns:"",drop_nonfinite:false,"#,
            r#"generator:"uniform:n=50,d=2",seed:"1",queries:Count,
            query_count:"40",query_rows:"",query_path:"",query_place:"",k:"8",metric:l2,"#,
            r#"order:shuffled,exclude_self:false,profile:false,
            engine:ENGINE,warmup:"1",repeats:"5")"#,
        );
        let usual = Draft {
            generator: "uniform:n=50,d=2".to_owned(),
            query_count: "40".to_owned(),
            k: "8".to_owned(),
            ..Draft::default()
        };
        // Names that are not Rust identifiers were written as raw identifiers.
        for (name, variant) in [
            ("auto", "auto"),
            ("cuda", "cuda"),
            ("cuda-split", "r#cuda-split"),
            ("lockstep", "lockstep"),
            ("kdtree", "kdtree"),
        ] {
            let expected = Draft { engine: name.parse().expect("an engine"), ..usual.clone() };
            assert_eq!(
                serde_json::from_str::<Draft>(&SESSION.replace("ENGINE", name)).expect("JSON"),
                expected
            );
            assert_eq!(
                eframe::get_value(&MemoryStorage(WINDOW.replace("ENGINE", variant)), ""),
                Some(expected),
                "{variant}"
            );
        }
    }

    #[test]
    fn drop_nonfinite_applies_only_to_the_current_file() {
        let folder = folder();
        let (scans, other) = (folder.path().join("a.e57"), folder.path().join("b.csv"));
        std::fs::write(&scans, "").expect("a file");
        let path = format!("{}:north", scans.display());
        let mut draft = Draft { data: DataKind::File, path, drop_nonfinite: true, ..Draft::default() };
        draft.open(&scans);
        assert!(draft.drop_nonfinite, "another scan of the same file");
        draft.open(&other);
        assert_eq!((draft.drop_nonfinite, Path::new(&draft.path)), (false, &*other));
    }

    #[test]
    fn numbers_accept_exponents_and_thousands_separators() {
        let draft = Draft { query_count: "1e3".to_owned(), k: " 1,000 ".to_owned(), ..Draft::default() };
        let spec = draft.to_spec().expect("numbers");
        assert_eq!((spec.queries, spec.k), (QuerySpec::Count(1000), 1000));
    }

    #[test]
    fn each_invalid_field_has_one_error() {
        assert_eq!(
            errors(|draft| draft.k = "0".to_owned())[0].sentence,
            "k = 0: must be a whole number from 1 to 4,294,967,295."
        );
        assert_eq!(errors(|draft| draft.k = "many".to_owned())[0].field, Field::K);
        let place = |text: &str| {
            errors(|draft| (draft.queries, draft.query_place) = (QueryKind::Coordinates, text.to_owned()))
                .remove(0)
                .sentence
        };
        assert_eq!(
            place("1, east"),
            "“east” is not a number; write a place as its coordinates, for example 0.5,-1."
        );
        assert_eq!(
            place(""),
            "A coordinate is missing; write a place as its coordinates, for example 0.5,-1."
        );
        assert_eq!(
            errors(|draft| (draft.k, draft.exclude_self) = ("4294967295".to_owned(), true))[0].sentence,
            "k = 4294967295: must be a whole number from 1 to 4,294,967,294."
        );
        assert_eq!(errors(|draft| draft.data = DataKind::File)[0].field, Field::Path);
        assert_eq!(errors(|draft| draft.seed = "-1".to_owned()).len(), 1, "the seed error is reported once");
        let both = errors(|draft| (draft.k, draft.repeats) = (String::new(), "0".to_owned()));
        assert_eq!(both.iter().map(|error| error.field).collect::<Vec<_>>(), [Field::K, Field::Repeats]);
    }

    #[test]
    fn row_lists_accept_ranges() {
        let draft =
            |text: &str| Draft { queries: QueryKind::Rows, query_rows: text.to_owned(), ..Draft::default() };
        assert_eq!(
            draft("0,5, 10-12").to_spec().map(|spec| spec.queries),
            Ok(QuerySpec::Rows(vec![0, 5, 10, 11, 12]))
        );
        assert_eq!(rows("0-9999999"), Ok(vec![0..=9_999_999]), "validated without expanding");
        assert!(rows("0-9999999,10000000").is_err());
        assert_eq!(draft("3-1").errors(u64::MAX), draft("3-1").to_spec().unwrap_err());
        assert!(rows("3-1").is_err());
        assert!(rows("0-99999999999").is_err());
        assert!(rows("x").is_err());
        assert!(rows("").is_err());
    }

    #[test]
    fn short_selections_are_written_as_text() {
        assert_eq!(typed_rows([0, 5, 10, 11, 12].into_iter()).as_deref(), Some("0,5,10-12"));
        assert_eq!(typed_rows(0..100_000).as_deref(), Some("0-99999"));
        assert_eq!(typed_rows((0..100_000).map(|row| row * 2)), None);
        let listed: Arc<[u64]> = (0..100_000).map(|row| row * 2).collect();
        let draft =
            Draft { queries: QueryKind::Selected, selected_rows: Arc::clone(&listed), ..Draft::default() };
        assert_eq!(draft.to_spec().map(|spec| spec.queries), Ok(QuerySpec::Rows(listed.to_vec())));
        assert_eq!(errors(|draft| draft.queries = QueryKind::Selected)[0].field, Field::QueryRows);
    }

    #[test]
    fn quotes_around_pasted_paths_are_removed() {
        let draft = Draft {
            data: DataKind::File,
            path: " '/a b.csv' ".to_owned(),
            columns: "lon,lat".to_owned(),
            ..Draft::default()
        };
        let columns = ColumnChoice::Named(vec!["lon".to_owned(), "lat".to_owned()]);
        assert_eq!(draft.source(), Ok(Source::File { path: "/a b.csv".into(), columns }));
    }
}
