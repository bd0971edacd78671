//! Names, states and column roles of files; sample clouds.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::pictures::RowImageChoice;
use crate::cloud::formats::file_of;
use crate::cloud::roles::{self, Role};
use crate::cloud::{ColumnChoice, PointCloud, Source};

/// The last component of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Size and modification time. While they are unchanged, the file is not read again to look for changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    pub bytes: u64,
    /// Modification time since 1970 UTC.
    pub modified: Duration,
}

impl FileState {
    /// The state of a source's file; `None` for other sources, or if the system does not report it.
    pub fn read(source: &Source) -> Option<Self> {
        let Source::File { path, .. } = source else { return None };
        let meta = file_of(path).metadata().ok()?;
        Some(Self { bytes: meta.len(), modified: meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()? })
    }

    /// Whether the file was certainly last modified before `then`: some file systems store times in steps of
    /// two seconds.
    pub fn is_before(self, then: SystemTime) -> bool {
        const STEP: Duration = Duration::from_secs(2);
        then.duration_since(UNIX_EPOCH).is_ok_and(|then| self.modified + STEP < then)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    pub path: PathBuf,
    /// Whether the points are stored in it.
    pub points: bool,
    /// The data it shows. Only a session of the same data overwrites the file without asking.
    pub data: Option<Source>,
}

impl SessionFile {
    pub fn is_of(&self, cloud: Option<&PointCloud>) -> bool {
        let key = |source: &Source| data_file(source).ok_or_else(|| source.clone());
        self.data.as_ref().map(key) == cloud.map(|cloud| key(cloud.source()))
    }
}

/// The file of a source, ignoring datasets and columns; `None` for generated data.
pub fn data_file(source: &Source) -> Option<PathBuf> {
    if let Source::File { path, .. } = source { Some(absolute(&file_of(path))) } else { None }
}

/// The absolute path, independent of the next working directory.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

// Column roles (coordinate, label, name, ignored), and numeric columns that were left out.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    Coordinate,
    /// The one column that classifies rows.
    Label,
    /// The one column that names rows.
    Name,
    Ignored,
}

impl ColumnRole {
    /// What a column can be used as.
    pub const USES: [Self; 3] = [Self::Coordinate, Self::Label, Self::Name];

    pub fn text(self) -> &'static str {
        match self {
            Self::Coordinate => "Coordinate",
            Self::Label => "Label",
            Self::Name => "Name",
            Self::Ignored => "Ignored",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::Coordinate => "Searched as a dimension.",
            Self::Label => {
                "A row's class: colours points and counts neighbours by class. At most one column."
            }
            Self::Name => "A row's name in tooltips, tables and answers. At most one column.",
            Self::Ignored => "Not searched; listed with each point.",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileColumn {
    pub name: String,
    /// Identifies the column: its name, or its number if another column has the same name.
    pub key: String,
}

/// The column chosen for a role, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleChoice {
    /// Not chosen by the user; inferred from headers and values.
    #[default]
    #[serde(rename = "guessed")]
    Inferred,
    Nothing,
    #[serde(rename = "by")]
    Column(FileColumn),
}

impl RoleChoice {
    pub fn column(&self) -> Option<&FileColumn> {
        if let Self::Column(column) = self { Some(column) } else { None }
    }
}

/// The columns for labels and names, and whether rows are images.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Roles {
    pub label: RoleChoice,
    pub name: RoleChoice,
    pub pictures: RowImageChoice,
}

impl Roles {
    /// `label state, name city`; `None` if nothing was chosen.
    pub fn sentence(&self) -> Option<String> {
        let roles = [("label", &self.label), ("name", &self.name)];
        let chosen: Vec<String> = roles
            .iter()
            .filter_map(|(role, choice)| Some(format!("{role} {}", choice.column()?.name)))
            .collect();
        (!chosen.is_empty()).then(|| chosen.join(", "))
    }
}

/// The column choices for a file, remembered for the next time it is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRoles {
    /// The file's absolute path.
    pub path: String,
    /// The coordinate columns, as typed.
    pub columns: String,
    pub roles: Roles,
}

impl FileRoles {
    /// Longer choices are not saved, to keep the settings small.
    pub const MAX_LENGTH: usize = 16 << 10;

    /// The path under which a source's choices are stored; `None` if it is not a file, or its path is not
    /// UTF-8.
    pub fn path_of(source: &Source) -> Option<&str> {
        if let Source::File { path, .. } = source { path.to_str() } else { None }
    }
}

pub fn typed_columns(columns: &ColumnChoice) -> String {
    match columns {
        ColumnChoice::Default => String::new(),
        ColumnChoice::Named(names) => column_ranges(names).unwrap_or_else(|| names.join(",")),
    }
}

/// A numeric column that was not used as a coordinate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedColumn {
    pub name: String,
    /// 0-based number among all columns of the file.
    pub number: usize,
    /// Identifies the column: its name, or its number if another column has the same name.
    pub key: String,
    pub role: Role,
}

/// `d64 looks like a label`, `id looks like a row number`; lists the first few.
pub fn unused_columns_sentence(left_out: &[UnusedColumn]) -> String {
    const MAX_NAMED: usize = 6;
    let one = |column: &UnusedColumn| {
        let looks = match column.role {
            Role::Label => "looks like a label",
            Role::Id => "looks like a row number",
            Role::MostlyEmpty => "is mostly empty",
            Role::Time => "looks like a time",
            Role::Color => "looks like a colour channel",
            Role::Direction => "looks like a direction component",
            _ => "is not named as a coordinate",
        };
        format!("{} {looks}", column.name)
    };
    let mut said: Vec<String> = left_out.iter().take(MAX_NAMED).map(one).collect();
    if left_out.len() > MAX_NAMED {
        said.push(format!("and {} more", left_out.len() - MAX_NAMED));
    }
    said.join(", ")
}

/// 0-based column numbers as typed, runs as ranges; `None` if one is a name.
pub fn column_ranges(names: &[String]) -> Option<String> {
    let numbers: Option<Vec<usize>> = names.iter().map(|name| name.parse().ok()).collect();
    Some(roles::ranges(&numbers?))
}

// Sample clouds that ship with the program.

#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub title: &'static str,
    pub about: &'static str,
    pub material: SampleSource,
}

/// Where a sample comes from.
#[derive(Clone, Copy, Debug)]
pub enum SampleSource {
    File {
        name: &'static str,
        text: &'static str,
    },
    /// A generator spec, used with the seed field.
    Spec(&'static str),
}

pub static SAMPLES: [Sample; 3] = [
    Sample {
        title: "Capitals of the world",
        about: "161 capitals by longitude and latitude, to within ten kilometres, with country and \
                continent.",
        material: SampleSource::File {
            name: "capitals.csv",
            text: include_str!("../../../assets/samples/capitals.csv"),
        },
    },
    Sample {
        title: "A swiss roll",
        about: "20,000 points on a rolled sheet in three dimensions.",
        material: SampleSource::Spec("swiss-roll:n=20000"),
    },
    Sample {
        title: "Ten clusters in 16 dimensions",
        about: "5,000 points about ten centres; principal components show them apart.",
        material: SampleSource::Spec("gaussian-mixture:n=5000,d=16,clusters=10"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{file_in, folder};
    use crate::cloud::load;
    use crate::progress::NoProgress;

    #[test]
    fn consecutive_columns_are_written_as_ranges() {
        assert_eq!(column_ranges(&["0", "1", "2", "5"].map(str::to_owned)).as_deref(), Some("0-2,5"));
        assert_eq!(column_ranges(&["x".to_owned()]), None);
    }

    #[test]
    fn chosen_roles_are_described() {
        let column =
            |name: &str| RoleChoice::Column(FileColumn { name: name.to_owned(), key: name.to_owned() });
        let said = |label, name| Roles { label, name, ..Roles::default() }.sentence();
        assert_eq!(said(column("state"), column("city")).as_deref(), Some("label state, name city"));
        assert_eq!(said(RoleChoice::Nothing, column("city")).as_deref(), Some("name city"));
        assert_eq!(said(RoleChoice::Inferred, RoleChoice::Nothing), None);
    }

    #[test]
    fn omitted_columns_are_described_by_role() {
        let column =
            |name: &str, role| UnusedColumn { name: name.to_owned(), number: 0, key: name.to_owned(), role };
        let told = [
            column("d64", Role::Label),
            column("id", Role::Id),
            column("dme", Role::MostlyEmpty),
            column("feet", Role::Other),
        ];
        let said = "d64 looks like a label, id looks like a row number, dme is mostly empty, feet is not \
                    named as a coordinate";
        assert_eq!(unused_columns_sentence(&told), said);
        let many: Vec<UnusedColumn> = (0..8).map(|at| column(&format!("f{at}"), Role::MostlyEmpty)).collect();
        assert!(
            unused_columns_sentence(&many).ends_with("f5 is mostly empty, and 2 more"),
            "{}",
            unused_columns_sentence(&many)
        );
    }

    /// Each opens, and has the columns that its text promises.
    #[test]
    fn every_sample_opens() {
        let folder = folder();
        let sizes = SAMPLES.map(|sample| {
            let source = match sample.material {
                SampleSource::File { name, text } => {
                    let path = file_in(&folder, name, text);
                    Source::File { path, columns: Default::default() }
                }
                SampleSource::Spec(spec) => Source::Generate { spec: spec.to_owned(), seed: 1 },
            };
            let cloud = load(&source, false, &NoProgress).expect("a cloud");
            (cloud.len(), cloud.dims())
        });
        assert_eq!(sizes, [(161, 2), (20_000, 3), (5_000, 16)]);
    }
}
