//! Embeds the device code.
//!
//! If it finds an `nvcc` (in `WARPSCOPE_NVCC`, `CUDA_HOME`, `PATH`, `/usr/local/cuda`, or the folder that
//! `scripts/get-nvcc` fills), it compiles each embedded unit of `cuda/units.txt` to one fat binary, so that a
//! search only loads its own. For the other units, and without an nvcc, it only embeds the sources, for NVRTC
//! at run time. `WARPSCOPE_CUDA_ARCHS` determines the contents of the fat binaries:
//!
//! - unset, in a release build: machine code for every architecture below, and PTX for future ones. A few
//!   hundred kernels take about a minute of one core per architecture. If the driver compiled them instead,
//!   the first use of the largest kernel would take seconds.
//! - unset, in a debug build: only PTX, which the driver compiles at first use.
//! - `all`: as in a release build; a list such as `90` or `80,90`: machine code for these; `ptx`: only PTX;
//!   `none`: nothing. `scripts/run` sets it to the architecture of the machine's GPU, and to `none` without
//!   one.

#[path = "build/interface.rs"]
mod interface;
#[path = "build/units.rs"]
mod units;

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use units::{Unit, flat};

/// Turing to Blackwell: the architectures that CUDA 13 supports, one for each kind of multiprocessor.
const ARCHITECTURES: [u32; 7] = [75, 80, 86, 89, 90, 100, 120];
/// The oldest release with every feature and option that the kernels use.
const OLDEST_NVCC: [u32; 2] = [12, 8];

fn main() {
    for name in ["WARPSCOPE_NVCC", "WARPSCOPE_CUDA_ARCHS", "WARPSCOPE_NVCC_HOME", "CUDA_HOME"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=../../cuda/units.txt");
    // Paths of device code are relative to the repository's root.
    env::set_current_dir("../..").expect("crates/engines is two folders deep");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for file in files_below(Path::new("cuda")) {
        // Skip the register budget.
        if file.extension().is_none_or(|extension| extension != "cu" && extension != "cuh") {
            continue;
        }
        println!("cargo::rerun-if-changed=../../{}", file.display());
        if file.to_string_lossy().ends_with("interface.cuh") {
            translate_header(&file, &out);
        }
    }

    let units = units::parse(&fs::read_to_string("cuda/units.txt").expect("cuda/units.txt is there"))
        .unwrap_or_else(|why| panic!("{why}"));
    let mut sources: Vec<(&str, bool)> =
        units.iter().map(|unit| (unit.source.as_str(), unit.embedded)).collect();
    sources.dedup();
    for (source, _) in &sources {
        fs::write(out.join(flat(source) + ".cu"), single_source(&format!("{source}.cu")))
            .expect("OUT_DIR is writable");
    }

    let wanted = env::var("WARPSCOPE_CUDA_ARCHS").unwrap_or_else(|_| {
        if env::var("PROFILE").as_deref() == Ok("release") { "all" } else { "ptx" }.to_owned()
    });
    let embedded = if wanted == "none" {
        Err("WARPSCOPE_CUDA_ARCHS=none".to_owned())
    } else {
        compile(&out, &wanted, units.iter().filter(|unit| unit.embedded).cloned().collect())
    };

    let mut table = String::from(
        "/// (source, whether it is embedded where there is an nvcc, its text with includes resolved).\npub \
         static SOURCES: &[(&str, bool, &str)] = &[\n",
    );
    for (source, embedded) in &sources {
        table += &format!(
            "    ({source:?}, {embedded}, include_str!(concat!(env!(\"OUT_DIR\"), \"/{}.cu\"))),\n",
            flat(source)
        );
    }
    table += "];\n\n/// (source, capacity, dimensions, fat binary).\npub static EMBEDDED: &[(&str, u32, \
              u32, &[u8])] = &[\n";
    for unit in embedded.iter().flat_map(|(_, units)| units) {
        let Unit { source, k, d, .. } = unit;
        table += &format!(
            "    ({source:?}, {k}, {d}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{}\"))),\n",
            unit.file_name()
        );
    }
    let about = match &embedded {
        Ok((about, _)) | Err(about) => about,
    };
    table += &format!(
        "];\n\n/// What built them, or why there are none.\npub const EMBEDDED_ABOUT: &str = {about:?};\n"
    );
    fs::write(out.join("kernels.rs"), table).expect("OUT_DIR is writable");
}

/// Translates an interface header, such as `cuda/split/interface.cuh`, to Rust: `split_interface.rs`.
fn translate_header(header: &Path, out: &Path) {
    let name = header.display().to_string();
    let text = fs::read_to_string(header).unwrap_or_else(|error| panic!("{name}: {error}"));
    let rust = interface::to_rust(&text, &name).unwrap_or_else(|why| panic!("{why}"));
    let source = header.with_extension("rs");
    let source = source.strip_prefix("cuda").expect("listed below cuda/").to_string_lossy();
    fs::write(out.join(flat(&source)), rust).expect("OUT_DIR is writable");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .flatten()
        .map(|entry| entry.path())
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

/// An entry file with its includes resolved, because NVRTC has no include path. Files are named relative to
/// `cuda/`, like in their includes.
fn single_source(entry: &str) -> String {
    fn add(name: &str, seen: &mut Vec<String>, text: &mut String) {
        if seen.iter().any(|other| other == name) {
            return;
        }
        seen.push(name.to_owned());
        let path = Path::new("cuda").join(name);
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        *text += &format!("#line 1 \"{name}\"\n");
        for (number, line) in source.lines().enumerate() {
            if let Some(include) = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
                add(include, seen, text);
                *text += &format!("#line {} \"{name}\"\n", number + 2);
            } else if line != "#pragma once" {
                *text += line;
                *text += "\n";
            }
        }
    }
    let mut text = String::new();
    add(entry, &mut Vec::new(), &mut text);
    text
}

/// Compiles all units for the wanted architectures, in parallel; returns a description of the compiler and
/// its targets, and the compiled units.
fn compile(out: &Path, wanted: &str, mut units: Vec<Unit>) -> Result<(String, Vec<Unit>), String> {
    let (nvcc, release) = find_nvcc()?;
    let known = output(Command::new(&nvcc).arg("--list-gpu-code"))?;
    let is_known = |arch: u32| known.lines().any(|line| line.trim() == format!("sm_{arch}"));

    let targets: Vec<u32> = match wanted {
        "all" => ARCHITECTURES.into_iter().filter(|&arch| is_known(arch)).collect(),
        "ptx" => Vec::new(),
        list => list
            .split(',')
            .map(|arch| {
                arch.trim().parse().unwrap_or_else(|_| {
                    panic!("WARPSCOPE_CUDA_ARCHS={list}: write all, ptx, none, or numbers such as 80,90")
                })
            })
            .collect(),
    };
    if let Some(arch) = targets.iter().find(|&&arch| !is_known(arch)) {
        let why = format!("nvcc {release} has no code for sm_{arch}");
        println!("cargo::warning={why}: no kernels are embedded");
        return Err(why);
    }
    let options = |unit: &Unit| -> Vec<String> {
        let targets = targets.iter().filter(|&&arch| arch >= unit.oldest);
        let mut options: Vec<String> =
            targets.map(|arch| format!("-gencode=arch=compute_{arch},code=sm_{arch}")).collect();
        if wanted == "ptx" || wanted == "all" {
            options.push(format!("-gencode=arch=compute_{0},code=compute_{0}", unit.oldest));
        }
        options
    };
    units.retain(|unit| !options(unit).is_empty());

    let code = if targets.is_empty() {
        "PTX".to_owned()
    } else {
        targets.iter().map(|arch| format!("sm_{arch}")).collect::<Vec<_>>().join(", ")
    };
    let compiled = (format!("nvcc {release}, {code}"), units.clone());
    // Release builds run this with each commit, so reuse the results if the sources are unchanged.
    let (made, made_of) = (
        out.join("compiled.txt"),
        format!(
            "{} {release} {:016x}\n{:?}",
            nvcc.display(),
            hash_sources(),
            units.iter().map(&options).collect::<Vec<_>>()
        ),
    );
    if fs::read_to_string(&made).is_ok_and(|before| before == made_of)
        && units.iter().all(|unit| out.join(unit.file_name()).exists())
    {
        return Ok(compiled);
    }
    let _ = fs::remove_file(&made);

    // The largest capacities take longest: start with them, from the end.
    units.sort_by_key(|unit| unit.k);
    let jobs = Mutex::new(units);
    let failed = Mutex::new(None);
    let workers = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1usize);
    thread::scope(|scope| {
        for _ in 0..workers.clamp(1, 32) {
            scope.spawn(|| {
                while let Some(unit) = { jobs.lock().unwrap().pop() } {
                    let mut command = Command::new(&nvcc);
                    command
                        .args(["-std=c++17", "-O3", "-fatbin", "--compress-mode=size", "-Icuda"])
                        .args(options(&unit));
                    command.args([
                        format!("-DWARPSCOPE_K={}", unit.k),
                        format!("-DWARPSCOPE_D={}", unit.d),
                        "-DWARPSCOPE_BUILDS=7".to_owned(),
                    ]);
                    command.arg("-o").arg(out.join(unit.file_name())).arg(format!("cuda/{}.cu", unit.source));
                    if let Err(why) = output(&mut command) {
                        *failed.lock().unwrap() = Some(why);
                        jobs.lock().unwrap().clear();
                    }
                }
            });
        }
    });
    if let Some(why) = failed.into_inner().unwrap() {
        // A compiler that exists but fails is a broken build, not a build without a compiler.
        panic!("{} failed:\n{why}", nvcc.display());
    }
    fs::write(made, made_of).expect("OUT_DIR is writable");
    Ok(compiled)
}

/// A hash of everything that kernels are compiled from, including this program.
fn hash_sources() -> u64 {
    let mut hasher = DefaultHasher::new();
    include_str!("build.rs").hash(&mut hasher);
    let mut files = files_below(Path::new("cuda"));
    files.sort();
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).hash(&mut hasher);
    }
    hasher.finish()
}

fn output(command: &mut Command) -> Result<String, String> {
    let output =
        command.output().map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The first nvcc that is new enough, and its release.
fn find_nvcc() -> Result<(PathBuf, String), String> {
    let name = if cfg!(windows) { "nvcc.exe" } else { "nvcc" };
    let candidates: Vec<PathBuf> = match env::var_os("WARPSCOPE_NVCC") {
        Some(nvcc) => vec![nvcc.into()],
        None => {
            let cuda_home = env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin"));
            let path = env::var_os("PATH").unwrap_or_default();
            let folders = cuda_home
                .into_iter()
                .chain(env::split_paths(&path))
                .chain(["/usr/local/cuda/bin".into()])
                .chain(fetched_nvcc());
            folders.map(|folder| folder.join(name)).filter(|nvcc| nvcc.is_file()).collect()
        }
    };
    let mut why = "no nvcc was found when this program was built".to_owned();
    for nvcc in candidates {
        let version = output(Command::new(&nvcc).arg("--version"))?;
        let release = version
            .split("release ")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .unwrap_or("0")
            .to_owned();
        if release.split('.').map(|part| part.parse().unwrap_or(0)).ge(OLDEST_NVCC) {
            return Ok((nvcc, release));
        }
        why = format!(
            "{} is from CUDA {release}, older than {}.{}",
            nvcc.display(),
            OLDEST_NVCC[0],
            OLDEST_NVCC[1]
        );
        println!("cargo::warning={why}; scripts/get-nvcc fetches a newer one");
    }
    Err(why)
}

/// The folder into which `scripts/get-nvcc` installs nvcc.
fn fetched_nvcc() -> Vec<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cache")));
    let home = env::var_os("WARPSCOPE_NVCC_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(cache?.join("warpscope/nvcc-13.0")));
    let pythons = home.and_then(|home| fs::read_dir(home.join("lib")).ok());
    pythons
        .into_iter()
        .flatten()
        .flatten()
        .map(|python| python.path().join("site-packages/nvidia/cu13/bin"))
        .collect()
}
