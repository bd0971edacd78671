//! The commands under test, and a folder with their inputs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    Search,
    Lesson,
    Other,
}

/// A command to run at decreasing limits.
pub struct Job {
    pub name: &'static str,
    pub kind: JobKind,
    pub args: &'static str,
    /// Whether the short test includes it.
    pub short: bool,
}

const fn job(kind: JobKind, short: bool, name: &'static str, args: &'static str) -> Job {
    Job { name, kind, args, short }
}

use JobKind::{Lesson, Other, Search};

pub const JOBS: &[Job] = &[
    job(Search, true, "knn -o .csv", "knn cloud.npy 2000 -k 10 -o o.csv"),
    job(Search, false, "knn", "knn cloud.npy -k 10"),
    job(Search, false, "knn printed", "knn cloud.npy -k 10 --out - --format csv"),
    job(Search, false, "knn all -o .csv", "knn cloud.npy -k 10 -o o.csv"),
    job(Search, false, "knn -o .tsv", "knn cloud.npy -k 10 -o o.tsv"),
    job(Search, false, "knn -o .parquet", "knn cloud.npy -k 10 -o o.parquet"),
    job(Search, false, "knn -o .arrow", "knn cloud.npy -k 10 -o o.arrow"),
    job(Search, false, "knn -o .npz", "knn cloud.npy -k 10 -o o.npz"),
    job(Search, false, "knn -o .npy", "knn cloud.npy -k 10 -o o.npy"),
    job(Search, false, "knn -o .ivecs", "knn cloud.npy -k 10 -o o.ivecs"),
    job(Search, false, "knn -o .ibin", "knn cloud.npy -k 10 -o o.ibin"),
    job(Search, false, "knn FILE", "knn cloud.npy other.npy -k 64 -o o.ibin"),
    job(Search, false, "knn cosine", "knn cloud.npy -k 10 --metric cosine -o o.npy"),
    job(Search, false, "knn inner-product", "knn cloud.npy 500 -k 1000 --metric inner-product -o o.csv"),
    job(Search, false, "knn --radius", "knn cloud.npy --radius 0.02 -o o.csv"),
    job(Search, true, "knn --graph csr", "knn cloud.npy -k 10 --graph g.npz --graph-as csr --symmetrise"),
    job(Search, false, "knn --graph directed", "knn cloud.npy -k 10 --graph g.npz --graph-as csr"),
    job(Search, false, "knn --graph umap", "knn cloud.npy -k 10 --graph g.npz --graph-as umap"),
    job(Search, false, "knn --graph mutual", "knn cloud.npy -k 10 --graph g.parquet --mutual"),
    job(Search, false, "knn --graph .csv", "knn cloud.npy -k 10 --graph g.csv --symmetrise"),
    job(Search, false, "run", "run --input cloud.npy --k 32 --queries all --out run"),
    job(Search, false, "run --record", "run --input cloud.npy --k 32 --queries 5000 --record r.warpscope"),
    job(Search, false, "verify", "verify --input cloud.npy --queries 100 --k 16"),
    job(Search, false, "recall", "recall truth.ibin --input cloud.npy --queries 1000 --at 1,10"),
    job(
        Search,
        false,
        "sweep",
        "sweep --generate uniform:d=3 --n 5e4 --q 1000 --k 32 --engine lockstep,kdtree,bvh --repeats 1 \
         --out s.csv",
    ),
    job(Search, false, "analyse", "analyse cloud.npy -k 10 --lof --density --lid --hubness --out a.csv"),
    job(Search, false, "compare", "compare old old"),
    job(Lesson, true, "lesson --png", "lesson --png o.png --size 2400x1350"),
    job(Lesson, false, "lesson --png largest", "lesson --png o.png --size 16384x16384"),
    job(Lesson, false, "lesson --gif", "lesson --gif o.gif --max-pictures 8 --size 2000x1125"),
    job(Lesson, false, "lesson --frames", "lesson --frames f --max-pictures 8 --size 2000x1125"),
    job(Lesson, true, "lesson own-data", "lesson --lesson own-data --input wide.npy --svg o.svg"),
    job(
        Lesson,
        false,
        "lesson own-data, many",
        "lesson --lesson own-data --generate uniform:n=1000000,d=2 --png o.png",
    ),
    job(
        Lesson,
        false,
        "lesson, farthest first",
        "lesson --lesson own-data --input far.npy --query 0 --order file --k 4 --width 4 --png o.png",
    ),
    job(Lesson, false, "lesson order", "lesson --lesson order --input wide.npy --svg o.svg"),
    job(Lesson, false, "lesson --out", "lesson --out l --html --worksheet --key"),
    job(Other, true, "generate", "generate uniform:n=500000,d=8 o.npy"),
    job(Other, false, "generate .csv", "generate gaussian-mixture:n=300000,d=3 o.csv"),
    job(Other, true, "info", "info cloud.npy"),
    job(Other, false, "info .csv", "info table.csv"),
    #[cfg(feature = "gui")]
    job(Other, true, "gui --png", "gui cloud.npy --png w.png --size 640x480"),
    job(Other, true, "--config", "knn cloud.npy 10 -k 3 --config large.toml"),
];

/// A folder with inputs; all reads and writes happen there.
pub struct TestDir(tempfile::TempDir);

impl TestDir {
    pub fn new(large: bool) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let n = if large { 60_000 } else { 40_000 };
        fs::write(place.path("cloud.npy"), npy(n, 3)).unwrap();
        fs::write(place.path("other.npy"), npy(n / 10, 3)).unwrap();
        fs::write(place.path("wide.npy"), npy(n / 10, 1024)).unwrap();
        // The query is the first row, and each point is nearer to it than the one before.
        let away = |at: usize| if at == 0 { 0.0 } else { (10 * n - at) as f32 };
        fs::write(place.path("far.npy"), npy_of(10 * n, 1, (0..10 * n).map(away))).unwrap();
        let row = |row: u32| format!("{},{},{}\n", row, row * 7919 % 997, row * 31 % 1009);
        fs::write(
            place.path("table.csv"),
            "x,y,z\n".to_owned() + &(0..n as u32).map(row).collect::<String>(),
        )
        .unwrap();
        // A list of 200,000 numbers, within the size limit of a configuration.
        fs::write(place.path("large.toml"), format!("[sweep]\nk = [{}]\n", ["10"; 200_000].join(",")))
            .unwrap();
        if large {
            for args in [
                "run --input cloud.npy --queries 1000 --k 8 --out old",
                "knn cloud.npy 1000 -k 10 -o truth.ibin",
            ] {
                let done = place
                    .run_in(Command::new(env!("CARGO_BIN_EXE_warpscope")).args(args.split(' ')))
                    .output()
                    .unwrap();
                assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
            }
        }
        place
    }

    /// Another folder with links to the same inputs.
    pub fn copy(&self) -> Self {
        let copy = Self(tempfile::tempdir().unwrap());
        // Settings and caches are not shared.
        for input in
            fs::read_dir(&self.0).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != "home")
        {
            std::os::unix::fs::symlink(input.path(), copy.path(input.file_name().to_str().unwrap())).unwrap();
        }
        copy
    }

    /// A file in a [`copy`](Self::copy) that is not one of the inputs.
    pub fn written(&self) -> Option<String> {
        let mut entries = fs::read_dir(&self.0).unwrap().map(Result::unwrap);
        let entry =
            entries.find(|entry| !entry.file_type().unwrap().is_symlink() && entry.file_name() != "home")?;
        Some(entry.file_name().to_string_lossy().into_owned())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A command that runs in the folder.
    pub fn run_in<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for variable in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
            command.env(variable, self.path("home"));
        }
        command
            .current_dir(self.0.path())
            .env("WARPSCOPE_CONFIG", "")
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("WAYLAND_DISPLAY")
    }
}

/// Pseudo-random points, as a .npy file of 32-bit floats.
fn npy(n: usize, d: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    npy_of(n, d, (0..n * d).map(next))
}

fn npy_of(n: usize, d: usize, values: impl Iterator<Item = f32>) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {d}), }}");
    // Magic, version and length take ten bytes; data start at a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((length as u16).to_le_bytes());
    file.extend(format!("{header:<width$}\n", width = length - 1).into_bytes());
    values.for_each(|value| file.extend(value.to_le_bytes()));
    file
}
