//! Runs the fuzz targets briefly without libFuzzer: every seed, every stored input, and damaged copies of the
//! seeds, which are the same in every run. `WARPSCOPE_FUZZ=N` makes N copies of each seed; `scripts/fuzz`
//! searches with coverage.

#[path = "../fuzz/src/targets/mod.rs"]
mod targets;

use std::collections::BTreeSet;
use std::path::Path;

use targets::mutate::{self, ContainerFormat};
use targets::{TARGETS, Target};
use warpscope::cloud::formats;

/// Default number of damaged copies of a seed.
const COPIES: usize = 3;
/// The largest input.
const MAX_INPUT: usize = 1 << 16;

/// A small portable generator.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Damages bytes in one to three places.
    fn damage(&mut self, bytes: &mut Vec<u8>, words: &[Vec<u8>], most: usize) {
        const EXTREMES: [u64; 8] = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, u64::MAX, i64::MIN as u64];
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(16)).min(bytes.len());
            match self.below(7) {
                _ if bytes.is_empty() => bytes.push(self.next() as u8),
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = self.next() as u8,
                2 => {
                    let number = EXTREMES[self.below(EXTREMES.len())].to_le_bytes();
                    let width = (1 << self.below(4)).min(bytes.len() - at);
                    bytes[at..at + width].copy_from_slice(&number[..width]);
                }
                3 => drop(bytes.drain(at..end)),
                4 => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                _ if words.is_empty() => bytes.truncate(at),
                5 => drop(bytes.splice(at..at, words[self.below(words.len())].iter().copied())),
                _ => {
                    let word = &words[self.below(words.len())];
                    let end = (at + word.len()).min(bytes.len());
                    bytes.splice(at..end, word.iter().copied());
                }
            }
        }
        bytes.truncate(most);
    }
}

/// The words of a dictionary, whose lines are `"…"` with escapes.
fn dictionary(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/dictionaries/{name}.dict"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let word = |line: &str| {
        let mut rest = line
            .strip_prefix('"')
            .and_then(|line| line.strip_suffix('"'))
            .unwrap_or_else(|| panic!("{name}: {line}"))
            .bytes();
        let mut word = Vec::new();
        while let Some(byte) = rest.next() {
            word.push(match byte {
                b'\\' => match rest.next() {
                    Some(b'x') => {
                        let digits = [rest.next(), rest.next()].map(|digit| {
                            char::from(digit.expect("two digits")).to_digit(16).expect("hexadecimal")
                        });
                        (digits[0] << 4 | digits[1]) as u8
                    }
                    Some(other) => other,
                    None => panic!("{name}: {line}"),
                },
                byte => byte,
            });
        }
        word
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(word).collect()
}

fn briefly(name: &str) {
    let target = targets::find(name).expect("it is listed");
    let copies = std::env::var("WARPSCOPE_FUZZ")
        .ok()
        .map_or(COPIES, |copies| copies.parse().expect("WARPSCOPE_FUZZ is a number"));
    let words = dictionary(name);
    let mut random = SplitMix64(name.bytes().fold(1, |seed, byte| seed * 31 + u64::from(byte)));
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        (target.run)(seed);
    }
    // Inputs that earlier fuzzing found.
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/kept").join(name);
    for file in std::fs::read_dir(kept).into_iter().flatten() {
        (target.run)(&std::fs::read(file.expect("it is listed").path()).expect("it is readable"));
    }
    for _ in 0..copies {
        for seed in &seeds {
            run(target, &damaged(target, seed, &words, &mut random));
        }
    }
}

fn damaged(target: &Target, seed: &[u8], words: &[Vec<u8>], random: &mut SplitMix64) -> Vec<u8> {
    let how = random.next() as u32;
    mutate::damage(target, seed, MAX_INPUT.max(seed.len()), how, &mut |bytes, most| {
        random.damage(bytes, words, most)
    })
}

/// Runs a target; a failing input is saved and its path printed.
fn run(target: &Target, input: &[u8]) {
    let result = std::panic::catch_unwind(|| (target.run)(input));
    if let Err(panic) = result {
        let path = std::env::temp_dir().join(format!("fuzz-{}-{}", target.name, std::process::id()));
        std::fs::write(&path, input).expect("there is room for a small file");
        eprintln!("the input is in {}", path.display());
        std::panic::resume_unwind(panic);
    }
}

macro_rules! each {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            briefly(stringify!($name));
        })*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

each!(
    delimited words json molecule npy npz parquet arrow hdf5 texmex bigann idx ply pcd e57 las recording
    folder run_json generator columns method arguments config round
);

#[cfg(feature = "gui")]
#[test]
fn damaged_sessions_do_not_panic() {
    briefly("session");
}

#[test]
fn every_format_has_a_fuzz_target_and_test() {
    let formats: BTreeSet<&str> = formats::registry().iter().map(|format| format.name).collect();
    assert_eq!(TARGETS.iter().filter_map(|target| target.format).collect::<BTreeSet<_>>(), formats);
    for target in TARGETS {
        let name = target.name;
        assert!(TESTED.contains(&name) || name == "session", "{name} has no test here");
        for source in target.covers.split(' ') {
            assert!(
                Path::new(env!("CARGO_MANIFEST_DIR")).join(source).exists(),
                "{name} covers the missing {source}"
            );
        }
    }
}

/// Damaged files of a structured format must have valid checksums, so that most are read as far as intact
/// ones.
#[test]
fn damaged_files_have_valid_checksums() {
    for target in TARGETS.iter().filter(|target| target.structure != ContainerFormat::Plain) {
        let mut random = SplitMix64(7);
        let nothing = |random: &mut SplitMix64, seed: &[u8]| {
            let how = (random.next() as u32) << 3 | 1;
            mutate::damage(target, seed, MAX_INPUT.max(seed.len()), how, &mut |_, _| {})
        };
        for seed in (target.seeds)() {
            for _ in 0..4 {
                // A file that is taken apart and reassembled without damage is still valid.
                (target.run)(&nothing(&mut random, &seed));
            }
        }
    }
    for seed in targets::seeds::hdf5() {
        assert!(mutate::hdf5_sums_are_right(&seed));
    }
}
