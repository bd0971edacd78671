//! Checks the text of the device code: names shared with the twins, and how the build parses `cuda/`.

#[allow(dead_code, reason = "the build script uses all of it")]
#[path = "../crates/engines/build/interface.rs"]
mod interface;
#[allow(dead_code, reason = "as above")]
#[path = "../crates/engines/build/units.rs"]
mod units;

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The functions of a Rust source outside its tests, each with its documentation.
fn rust_functions(source: &str) -> Vec<(String, String)> {
    let (mut found, mut doc) = (Vec::new(), String::new());
    for line in source.split("#[cfg(test)]").next().expect("a split has a first part").lines().map(str::trim)
    {
        if let Some(text) = line.strip_prefix("///") {
            doc += text;
        } else if line.starts_with("#[") || line.starts_with('"') || line == "))]" {
            // Attributes may come between a function and its documentation.
        } else {
            let name = line.strip_prefix("pub ").unwrap_or(line);
            if let Some(name) = name.strip_prefix("const ").unwrap_or(name).strip_prefix("fn ") {
                found.push((
                    name.split(['(', '<']).next().expect("it was found above").to_owned(),
                    doc.clone(),
                ));
            }
            doc.clear();
        }
    }
    found
}

/// The functions of a device source.
fn device_functions(source: &str) -> Vec<&str> {
    let lines = source
        .lines()
        .filter(|line| line.contains("__device__"))
        .filter_map(|line| line.split_once("__device__").map(|(_, rest)| rest));
    lines
        .filter_map(|line| line.split('(').next()?.split_whitespace().last())
        .map(|name| name.trim_start_matches(['*', '&']))
        .collect()
}

#[test]
fn lockstep_functions_exist_on_the_device() {
    assert!(compare("lockstep", &["mod.rs"]) > 30, "too few functions were found");
}

#[test]
fn index_functions_exist_on_the_device() {
    assert!(
        compare("index", &["mod.rs", "cost.rs", "bvh.rs", "observer.rs", "walk.rs"]) > 15,
        "too few functions were found"
    );
}

#[test]
fn step_functions_exist_on_the_device() {
    let of_the_host = ["mod.rs", "clusters.rs", "cost.rs", "engine.rs", "spheres.rs", "tests.rs", "walk.rs"];
    assert!(compare("step", &of_the_host) > 30, "too few functions were found");
}

#[test]
fn kd_tree_functions_exist_on_the_device() {
    assert!(compare("kdtree_threads", &["mod.rs", "tree.rs"]) > 5, "too few functions were found");
}

#[test]
fn selector_functions_exist_on_the_device() {
    assert!(
        compare("select", &["mod.rs", "cost.rs", "distances.rs", "engine.rs"]) > 25,
        "too few functions were found"
    );
}

/// Compares the functions of an engine's files; the table must list all files of its folder except
/// `of_the_host`. Returns the number of functions.
fn compare(engine: &str, of_the_host: &[&str]) -> usize {
    let table = read(&format!("crates/engines/src/{engine}/mod.rs"));
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `")?.strip_suffix("` |")?.split_once("` | `"))
        .collect();
    let folder =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engines/src").join(engine)).unwrap();
    let mut files: Vec<String> =
        folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.retain(|file| !of_the_host.contains(&file.as_str()));
    files.sort_unstable();
    let mut named: Vec<&str> = rows.iter().map(|(twin, _)| *twin).collect();
    named.sort_unstable();
    assert_eq!(named, files, "every file except the host's needs a row");
    let mut alone = Vec::new();
    let mut compared = 0;
    for (twin, device) in rows {
        let name = |path: &str| Path::new(path).file_stem().map(|name| name.to_owned());
        assert_eq!(name(twin), name(device), "twins must have the same file name");
        let source = read(device);
        let there = device_functions(&source);
        // A device constructor has the name of its type.
        for (function, doc) in rust_functions(&read(&format!("crates/engines/src/{engine}/{twin}")))
            .into_iter()
            .filter(|(function, _)| function != "new")
        {
            compared += 1;
            let namesake = there.contains(&function.as_str());
            if namesake == doc.contains("No CUDA counterpart: ") {
                alone.push(format!(
                    "{twin}: {function} has {} namesake in {device}",
                    if namesake { "a" } else { "no" }
                ));
            }
        }
    }
    assert!(
        alone.is_empty(),
        "say `No CUDA counterpart: why` in the documentation of those that have none, and of no other:\n{}",
        alone.join("\n")
    );
    compared
}

#[test]
fn functions_are_parsed_from_source() {
    let rust = "/// A.\n/// B: c.\n#[inline(always)]\npub const fn first<T>(a: T) {\n    let x = 1;\n}\nfn \
                second() {}\n#[cfg(test)]\nmod tests {\n    fn third() {}\n}\n";
    let found = rust_functions(rust);
    assert_eq!(found, [("first".to_owned(), " A. B: c.".to_owned()), ("second".to_owned(), String::new())]);
    let device = "__device__ __forceinline__ Key* first(int a) { return other(a); }\n    static __device__ \
                  __noinline__ void second(\nint third();\n";
    assert_eq!(device_functions(device), ["first", "second"]);
}

/// The table that the build reads, and its files.
#[test]
fn every_compilation_unit_has_an_entry_point() {
    for unit in units::parse(&read("cuda/units.txt")).unwrap() {
        let text = read(&format!("cuda/{}.cu", unit.source));
        let is_entry =
            |line: &str| line.starts_with("WARPSCOPE_") || line.starts_with("extern \"C\" __global__");
        assert!(text.lines().any(is_entry), "{} has no entry point", unit.source);
    }
}

/// The build fails at an unreadable header only where CUDA is built; this test fails everywhere.
#[test]
fn interface_headers_are_translated_to_rust() {
    for header in [
        "common_interface",
        "direct/interface",
        "filtered/interface",
        "index/interface",
        "kdtree/interface",
        "peaks/interface",
        "select/interface",
        "split/interface",
        "step/interface",
    ] {
        let header = format!("cuda/{header}.cuh");
        let rust = interface::to_rust(&read(&header), &header).unwrap();
        assert!(rust.contains("#[repr(C)]"), "{header}");
    }
}
