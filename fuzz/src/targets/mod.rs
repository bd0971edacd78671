//! The fuzz targets. A target is a function that takes any bytes, and panics if the program violates one of
//! its guarantees.
//!
//! | module | contents |
//! |---|---|
//! | [`readers`] | every format of the registry |
//! | [`saved`] | recordings, sessions, run folders, `run.json` |
//! | [`words`] | generator specs, lists of columns, methods, the command line, configuration files |
//! | [`round`] | written files read back unchanged |
//! | [`mutate`] | mutations that keep checksums, lengths and compression valid |
//! | [`seeds`] | small valid inputs of all of them |
//!
//! Shared with `tests/fuzz.rs` of the main package, so it uses only crates that both have.

pub mod mutate;
pub mod readers;
pub mod round;
pub mod saved;
mod scratch;
pub mod seeds;
pub mod words;

use mutate::ContainerFormat;

/// A fuzz target.
pub struct Target {
    /// Name of the target and of its corpus.
    pub name: &'static str,
    /// The format of `cloud::formats::registry()` that it reads.
    pub format: Option<&'static str>,
    /// The sources that it should cover, as path prefixes; scripts/fuzz counts their lines.
    pub covers: &'static str,
    /// How inputs are mutated besides changing plain bytes.
    pub structure: ContainerFormat,
    pub run: fn(&[u8]),
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Finds a target by name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

const fn reader(
    name: &'static str,
    format: &'static str,
    covers: &'static str,
    structure: ContainerFormat,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
) -> Target {
    Target { name, format: Some(format), covers, structure, run, seeds }
}

const fn other(
    name: &'static str,
    covers: &'static str,
    structure: ContainerFormat,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
) -> Target {
    Target { name, format: None, covers, structure, run, seeds }
}

/// All targets. Each has a dictionary in `dictionaries/`.
pub const TARGETS: &[Target] = &[
    reader(
        "delimited",
        "delimited text",
        "crates/cloud/src/formats/delimited crates/cloud/src/formats/cell.rs \
         crates/cloud/src/formats/vector_cell.rs",
        ContainerFormat::Plain,
        readers::delimited,
        seeds::delimited,
    ),
    reader(
        "words",
        "word vectors",
        "crates/cloud/src/formats/words.rs",
        ContainerFormat::Plain,
        readers::words,
        seeds::words,
    ),
    reader(
        "json",
        "JSON",
        "crates/cloud/src/formats/json",
        ContainerFormat::Plain,
        readers::json,
        seeds::json,
    ),
    reader(
        "molecule",
        "XYZ file of atoms",
        "crates/cloud/src/formats/molecule.rs",
        ContainerFormat::Plain,
        readers::molecule,
        seeds::molecule,
    ),
    reader(
        "npy",
        "NumPy array",
        "crates/cloud/src/formats/npy.rs",
        ContainerFormat::Plain,
        readers::npy,
        seeds::npy,
    ),
    reader(
        "npz",
        "NumPy archive",
        "crates/cloud/src/formats/npz.rs crates/cloud/src/formats/npy.rs",
        ContainerFormat::Zip,
        readers::npz,
        seeds::npz,
    ),
    reader(
        "parquet",
        "Parquet file",
        "crates/cloud/src/formats/arrow",
        ContainerFormat::Parquet,
        readers::parquet,
        seeds::parquet,
    ),
    reader(
        "arrow",
        "Arrow or Feather file",
        "crates/cloud/src/formats/arrow",
        ContainerFormat::Arrow,
        readers::arrow,
        seeds::arrow,
    ),
    reader(
        "hdf5",
        "HDF5 file",
        "crates/cloud/src/formats/hdf5",
        ContainerFormat::Hdf5,
        readers::hdf5,
        seeds::hdf5,
    ),
    reader(
        "texmex",
        "TEXMEX vector file",
        "crates/cloud/src/formats/vectors.rs",
        ContainerFormat::Plain,
        readers::texmex,
        seeds::texmex,
    ),
    reader(
        "bigann",
        "Big-ANN vector file",
        "crates/cloud/src/formats/vectors.rs",
        ContainerFormat::Plain,
        readers::bigann,
        seeds::bigann,
    ),
    reader(
        "idx",
        "IDX file",
        "crates/cloud/src/formats/idx.rs",
        ContainerFormat::Plain,
        readers::idx,
        seeds::idx,
    ),
    reader(
        "ply",
        "PLY file",
        "crates/cloud/src/formats/ply.rs",
        ContainerFormat::Plain,
        readers::ply,
        seeds::ply,
    ),
    reader(
        "pcd",
        "PCD file",
        "crates/cloud/src/formats/pcd.rs crates/cloud/src/formats/lzf.rs",
        ContainerFormat::Plain,
        readers::pcd,
        seeds::pcd,
    ),
    reader("e57", "E57 file", "crates/cloud/src/formats/e57", ContainerFormat::E57, readers::e57, seeds::e57),
    reader(
        "las",
        "LAS or LAZ file",
        "crates/cloud/src/formats/las",
        ContainerFormat::Las,
        readers::las,
        seeds::las,
    ),
    other("recording", "src/run/recording", ContainerFormat::Zip, saved::recording, seeds::recording),
    other("folder", "src/run/compare", ContainerFormat::Folder, saved::folder, seeds::folder),
    other(
        "run_json",
        "src/run/spec.rs src/run/record.rs",
        ContainerFormat::Plain,
        saved::run_json,
        seeds::run_json,
    ),
    #[cfg(feature = "gui")]
    other(
        "session",
        "src/app/features/saved/state.rs",
        ContainerFormat::Plain,
        saved::session,
        seeds::session,
    ),
    other(
        "generator",
        "crates/cloud/src/generate",
        ContainerFormat::Plain,
        words::generator,
        seeds::generator,
    ),
    other(
        "columns",
        "crates/cloud/src/table.rs crates/cloud/src/query_point.rs",
        ContainerFormat::Plain,
        words::columns,
        seeds::columns,
    ),
    other(
        "method",
        "crates/knn/src/method.rs crates/knn/src/id.rs",
        ContainerFormat::Plain,
        words::method,
        seeds::method,
    ),
    other("arguments", "src/cli", ContainerFormat::Plain, words::arguments, seeds::arguments),
    other("config", "src/cli/config.rs", ContainerFormat::Plain, words::config, seeds::config),
    other("round", "src/export/table src/export/numpy.rs", ContainerFormat::Plain, round::trip, seeds::round),
];
