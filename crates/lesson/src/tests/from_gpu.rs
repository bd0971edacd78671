//! Decoding of GPU traces. No GPU is needed: the twin writes the traces.

use proptest::prelude::*;

use super::*;
use crate::Result;
use crate::algorithms::kernel::recorder::{compare, groups_per_batch};
use crate::algorithms::radix_select::recorder::compare as compare_passes;
use crate::algorithms::tree::recorder::compare as compare_tree;
use crate::algorithms::warp_select::recorder::compare as compare_queues;
use crate::engines::cuda::trace::{
    PassTrace, QueueTrace, Trace, TraceError, TreeTrace, kind, pass_kind, queue_kind, tree_kind,
};
use crate::engines::index;
use crate::engines::lockstep::{self, Key, Lanes, Observer, PADDING, distance_of, index_of, key_of};
use crate::engines::select::radix_select::Digits;
use crate::engines::select::{self, multi_pass, warp_select};

/// Writes what `cuda/observer.cuh` writes.
struct TraceWriter {
    words: Vec<u32>,
    end: u32,
    before: Vec<Lanes<Key, 32>>,
    candidates: u32,
    slots: Vec<u32>,
    placed: u32,
    keys: Vec<u32>,
}

impl TraceWriter {
    fn changed(&mut self, keys: &[Lanes<Key, 32>]) {
        for (now, before) in keys.iter().zip(&self.before) {
            let lanes = now.iter().zip(before).enumerate().filter(|(_, (now, before))| now != before);
            self.words.push(lanes.map(|(lane, _)| 1 << lane).sum());
        }
        self.before = keys.to_vec();
    }
}

impl Observer<32> for TraceWriter {
    fn batch(&mut self, first: u32, end: u32) {
        self.end = end;
        self.words.extend([kind::BATCH, first, end]);
    }

    fn group(&mut self, base: u32, distances: &Lanes<f32, 32>, candidates: u32) {
        self.candidates = candidates;
        if base < self.end {
            self.words.extend([kind::GROUP, base, candidates]);
            if candidates != 0 {
                self.words.extend(distances.map(f32::to_bits));
            }
        }
    }

    fn slot(&mut self, lane: u32, slot: u32, key: Option<Key>) {
        self.slots.push(slot);
        if let Some(key) = key {
            self.placed |= 1 << lane;
            self.keys.extend([index_of(key), distance_of(key).to_bits()]);
        }
    }

    fn appended(&mut self) {
        self.words.extend([kind::APPENDED, self.candidates, std::mem::take(&mut self.placed)]);
        self.words.append(&mut self.slots);
        self.words.append(&mut self.keys);
    }

    fn filtered_again(&mut self, rest: u32, candidates: u32) {
        self.candidates = candidates;
        self.words.extend([kind::FILTERED_AGAIN, rest, candidates]);
    }

    fn full(&mut self) {
        self.words.push(kind::FULL);
    }

    fn padded(&mut self, first: u32) {
        self.words.extend([kind::PADDED, first]);
    }

    fn swapped(&mut self, registers: &[Lanes<Key, 32>]) {
        self.words.push(kind::SWAPPED);
        self.before = registers.to_vec();
    }

    fn layer(&mut self, size: usize, stride: usize, keys: &[Lanes<Key, 32>]) {
        self.words.extend([kind::LAYER, size as u32, stride as u32]);
        self.changed(keys);
    }

    fn minimum(&mut self, keys: &[Lanes<Key, 32>]) {
        self.words.push(kind::MINIMUM);
        self.changed(keys);
    }

    fn merged(&mut self, points_seen: u32, max_distance: f32) {
        self.words.extend([kind::MERGED, points_seen, max_distance.to_bits()]);
    }

    fn finished(&mut self) {
        self.words.push(kind::FINISHED);
    }
}

/// The twin's recording, and what a GPU would have written.
fn pair(spec: &str, row: usize, k: usize, batch: Option<usize>) -> (Recording, Vec<u32>, Vec<(u32, f32)>) {
    let problem = problem(spec, 1, row, k);
    let registers = lockstep::registers_for(k, 32);
    let before = vec![[PADDING; 32]; registers];
    let writer = TraceWriter {
        words: Vec::new(),
        end: 0,
        before,
        candidates: 0,
        slots: Vec::new(),
        placed: 0,
        keys: Vec::new(),
    };
    let watched = lockstep::observe::<32, _>(&problem, 0, batch, writer);
    (record(problem, 0, 32, batch, spec).unwrap(), watched.observer.words, watched.neighbours)
}

fn trace(twin: &Recording, words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> Trace {
    Trace::new("NVIDIA test".to_owned(), twin.shape().registers as usize, words, neighbours)
}

#[test]
fn kernel_trace_matches_the_cpu_reference() {
    for (spec, k, batch) in [
        ("uniform:n=3000,d=2", 1, None),
        ("uniform:n=3000,d=3", 33, Some(7)),
        ("uniform:n=500,d=17", 64, None),
        ("descending:n=2000,d=2", 100, Some(1)),
        ("duplicates:n=2000,d=2,distinct=5", 200, None),
        ("uniform:n=20,d=2", 32, None),
        ("uniform:n=5000,d=2", 1024, None),
        ("descending:n=5000,d=1", 1000, None),
    ] {
        let (twin, words, neighbours) = pair(spec, 9999, k, batch);
        assert_eq!(
            compare(&trace(&twin, words, neighbours), &twin).unwrap(),
            twin.steps(),
            "{spec}, k = {k}"
        );
    }
}

#[test]
fn batch_size_is_inferred() {
    for (n, batch, found) in [
        (3000, Some(7), Some(7)),
        (3000, None, None),
        (64, Some(2), None),
        (65, Some(2), Some(2)),
        (9000, None, Some(128)),
    ] {
        let recording =
            record(problem(&format!("uniform:n={n},d=2"), 1, 0, 8), 0, 32, batch, "a test").unwrap();
        assert_eq!(groups_per_batch(&recording), found, "{n}, {batch:?}");
    }
}

/// The index of the first layer's changes.
fn first_layer(words: &[u32]) -> usize {
    words.windows(4).position(|words| words == [kind::SWAPPED, kind::LAYER, 2, 1]).unwrap() + 4
}

#[test]
fn differences_from_the_cpu_reference_are_reported() {
    let (twin, words, neighbours) = pair("uniform:n=300,d=2", 0, 40, None);
    let tell = |words: Vec<u32>, neighbours: &[(u32, f32)]| {
        compare(&trace(&twin, words, neighbours.to_vec()), &twin).unwrap_err().to_string()
    };

    let mut other = words.clone();
    other[5] ^= 1 << 7;
    assert!(tell(other, &neighbours).starts_with(
        "step 3: the GPU has {\"step\":\"ballot\",\"mask\":4294967167}, but its CPU twin has \
         {\"step\":\"ballot\",\"mask\":4294967295}"
    ));
    let mut ended = words.clone();
    let batch = [kind::BATCH, 0, 300];
    ended.splice(3.., [kind::FINISHED]);
    assert_eq!((&words[..3], &ended[..3]), (&batch[..], &batch[..]));
    assert!(tell(ended, &neighbours).starts_with(
        "step 2: the GPU has {\"step\":\"finished\"}, but its CPU twin has {\"step\":\"group\""
    ));

    let layer = first_layer(&words);
    let lane = (0..32).find(|lane| words[layer] >> lane & 1 == 1).unwrap();
    let mut torn = words.clone();
    torn[layer] ^= 1 << lane;
    let (low, high) = (2 * lane, 2 * lane + 1);
    let message = tell(torn, &neighbours);
    assert!(
        message
            .contains(&format!("on the GPU element {high} changed, but its partner, element {low}, did not")),
        "{message}"
    );

    let mut moved = neighbours.clone();
    moved.swap(3, 4);
    assert_eq!(
        tell(words.clone(), &moved),
        "rank 3: the GPU's neighbours differ from the result of its own steps"
    );
    assert_eq!(
        tell(words.clone(), &neighbours[..39]),
        "rank 39: the GPU's neighbours differ from the result of its own steps"
    );
    assert_eq!(
        tell(words[..7].to_vec(), &neighbours),
        "invalid GPU trace: word 3: the trace ends before the search does"
    );
    assert_eq!(
        tell(Vec::new(), &neighbours),
        "invalid GPU trace: word 0: the trace ends before the search does"
    );
}

/// A long step is shown around its first difference.
#[test]
fn long_differences_are_shortened() {
    let (twin, mut words, neighbours) = pair("uniform:n=2000,d=2", 0, 512, None);
    let layer = first_layer(&words);
    // The pair of elements 510 and 511: the last lane's last registers.
    words[layer + 14] ^= 1 << 31;
    words[layer + 15] ^= 1 << 31;
    let message = compare(&trace(&twin, words, neighbours), &twin).unwrap_err().to_string();
    let (gpu, other) = message.split_once(", but its CPU twin has ").unwrap();
    assert!(message.len() < 320 && (gpu.contains("510]") != other.contains("510]")), "{message}");
}

/// Writes what `cuda/index/recorder.cuh` writes.
#[derive(Default)]
struct TreeWriter(Vec<u32>);

impl TreeWriter {
    fn keys(&mut self, keys: &[Key]) {
        self.0.extend(keys.iter().flat_map(|&key| [index_of(key), distance_of(key).to_bits()]));
    }
}

impl index::Observer for TreeWriter {
    fn own_leaf(&mut self, leaf: usize) {
        self.0.extend([tree_kind::OWN_LEAF, leaf as u32]);
    }

    fn entered(&mut self, height: usize, group: usize, keys: &Lanes<Key, 32>) {
        self.0.extend([tree_kind::NODE, height as u32, group as u32]);
        self.keys(keys);
    }

    fn chosen(&mut self, lane: usize, key: Key) {
        self.0.extend([tree_kind::CHILD, lane as u32]);
        self.keys(&[key]);
    }

    fn pruned(&mut self, lanes: u32) {
        self.0.extend([tree_kind::PRUNED, lanes]);
    }

    fn visited(&mut self, leaf: usize, keys: &Lanes<Key, 32>, candidates: u32) {
        self.0.extend([tree_kind::LEAF, leaf as u32, candidates]);
        self.keys(keys);
    }

    fn appended(&mut self, lanes: u32) {
        self.0.extend([tree_kind::APPENDED, lanes]);
    }

    fn merged(&mut self, last: Key) {
        self.0.push(tree_kind::MERGED);
        self.keys(&[last]);
    }

    fn filtered_again(&mut self, rest: u32, candidates: u32) {
        self.0.extend([tree_kind::FILTERED_AGAIN, rest, candidates]);
    }

    fn finished(&mut self) {
        self.0.push(tree_kind::FINISHED);
    }
}

/// The twin's recording of a search of the tree, and what a GPU would have written.
fn tree_pair(spec: &str, row: usize, k: usize) -> (Recording, Vec<u32>, Vec<(u32, f32)>) {
    let problem = problem(spec, 1, row, k);
    let twin = record_tree(problem.clone(), 0, 32, spec).unwrap();
    let (nearest, _) = index::observe(&twin.index().unwrap().tree, &problem, 0, TreeWriter::default());
    let end = fresh(&twin, twin.len());
    let neighbours = end.registers.iter().take(k).map(|&key| (index_of(key), distance_of(key))).collect();
    (twin, nearest.observer.0, neighbours)
}

/// The indices of the words of a tree's trace that steps do not contain.
fn unsaid(words: &[u32]) -> Vec<usize> {
    let (mut at, mut unsaid) = (0, Vec::new());
    while at < words.len() {
        at += match words[at] {
            tree_kind::NODE | tree_kind::LEAF => 3 + 64,
            tree_kind::CHILD => {
                unsaid.extend([at + 2, at + 3]);
                4
            }
            tree_kind::MERGED => {
                unsaid.push(at + 1);
                3
            }
            tree_kind::FILTERED_AGAIN => 3,
            tree_kind::FINISHED => 1,
            _ => 2,
        };
    }
    unsaid
}

fn tree_trace(words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> TreeTrace {
    TreeTrace::new("NVIDIA test".to_owned(), words, neighbours)
}

#[test]
fn tree_trace_matches_the_cpu_reference() {
    for (spec, row, k) in [
        ("uniform:n=2048,d=2", 1024, 32),
        ("uniform:n=5000,d=3", 17, 100),
        ("duplicates:n=900,d=2,distinct=4", 5, 16),
        ("uniform:n=20,d=17", 3, 32),
    ] {
        let (twin, words, neighbours) = tree_pair(spec, row, k);
        assert_eq!(
            compare_tree(&tree_trace(words, neighbours), &twin).unwrap(),
            twin.steps(),
            "{spec}, k = {k}"
        );
    }
}

#[test]
fn tree_trace_differences_are_reported() {
    let (twin, words, neighbours) = tree_pair("uniform:n=2048,d=2", 1024, 32);
    let tell = |words: Vec<u32>, neighbours: &[(u32, f32)]| {
        compare_tree(&tree_trace(words, neighbours.to_vec()), &twin).unwrap_err().to_string()
    };
    let mut other = words.clone();
    other[1] ^= 1;
    assert!(tell(other, &neighbours).starts_with("step 1: the GPU has {\"step\":\"own_leaf\",\"leaf\":"));
    let mut moved = neighbours.clone();
    moved.swap(3, 4);
    assert_eq!(
        tell(words.clone(), &moved),
        "rank 3: the GPU's neighbours differ from the result of its own steps"
    );
    assert_eq!(
        tell(words[..words.len() - 1].to_vec(), &neighbours),
        format!("invalid GPU trace: word {}: the trace ends before the search does", words.len() - 1)
    );
    assert_eq!(
        tell(Vec::new(), &neighbours),
        "invalid GPU trace: word 0: the trace ends before the search does"
    );
}

/// Every bit of a tree's trace is checked, except a child's key and the position at the end of a merge, which
/// steps do not contain.
#[test]
fn every_flipped_bit_of_a_tree_trace_is_detected() {
    let (twin, mut words, neighbours) = tree_pair("uniform:n=700,d=2", 0, 40);
    let unsaid = unsaid(&words);
    for at in 0..words.len() {
        for bit in 0..32 {
            words[at] ^= 1 << bit;
            let compared = compare_tree(&tree_trace(words.clone(), neighbours.clone()), &twin);
            words[at] ^= 1 << bit;
            assert_eq!(compared.is_ok(), unsaid.contains(&at), "word {at}, bit {bit}");
            if let Err(error) = compared {
                assert!(
                    matches!(error, LessonError::StepDiffers { .. } | LessonError::Trace(_)),
                    "word {at}, bit {bit}: {error}"
                );
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
}

/// Writes what `cuda/select/queue_recorder.cuh` writes.
#[derive(Default)]
struct QueueWriter(Vec<u32>);

impl QueueWriter {
    fn queue(&mut self, kind: u32, queue: &[Lanes<Key, 32>]) {
        self.0.push(kind);
        self.keys(queue.as_flattened());
    }

    fn keys(&mut self, keys: &[Key]) {
        self.0.extend(keys.iter().flat_map(|&key| [index_of(key), distance_of(key).to_bits()]));
    }
}

impl select::Observer<32> for QueueWriter {
    fn inserted(&mut self, first: usize, distances: &[f32], lane_queue: &[Lanes<Key, 32>]) {
        let took = (first as u32..)
            .zip(distances)
            .any(|(point, &distance)| lane_queue.as_flattened().contains(&key_of(distance, point)));
        if took {
            self.0.extend([queue_kind::INSERTED, first as u32]);
            self.0
                .extend((0..32).map(|lane| distances.get(lane).copied().unwrap_or(f32::INFINITY).to_bits()));
            self.keys(lane_queue.as_flattened());
        } else {
            self.0.extend([queue_kind::PASSED, first as u32]);
        }
    }

    fn checked(&mut self, largest: &Lanes<Key, 32>, limit: Key) {
        self.queue(queue_kind::CHECKED, &[*largest]);
        self.keys(&[limit]);
    }

    fn drained(&mut self) {
        self.0.push(queue_kind::DRAINED);
    }

    fn sorted(&mut self, lane_queue: &[Lanes<Key, 32>]) {
        self.queue(queue_kind::SORTED, lane_queue);
    }

    fn exchanged(&mut self, warp_queue: &[Lanes<Key, 32>], lane_queue: &[Lanes<Key, 32>]) {
        self.queue(queue_kind::EXCHANGED, warp_queue);
        self.keys(lane_queue.as_flattened());
    }

    fn merged(&mut self, warp_queue: &[Lanes<Key, 32>]) {
        self.queue(queue_kind::MERGED, warp_queue);
    }

    fn descended(&mut self, lane_queue: &[Lanes<Key, 32>]) {
        self.queue(queue_kind::DESCENDED, lane_queue);
    }

    fn limited(&mut self, limit: Key) {
        self.0.push(queue_kind::LIMITED);
        self.keys(&[limit]);
    }

    fn finished(&mut self) {
        self.0.push(queue_kind::FINISHED);
    }
}

/// The twin's recording of a warp select, and what a GPU would have written.
fn queue_pair(spec: &str, row: usize, k: usize) -> (Recording, Vec<u32>, Vec<(u32, f32)>) {
    let problem = problem(spec, 1, row, k);
    let twin = record_queues(problem.clone(), 0, 32, spec).unwrap();
    let distances = lockstep::distances_to(&problem, 0, 0..problem.n());
    let (writer, _) =
        warp_select::observe::<32, _>(&distances, k, warp_select::default_queue(k), QueueWriter::default());
    let end = fresh(&twin, twin.len());
    let neighbours = end.registers.iter().take(k).map(|&key| (index_of(key), distance_of(key))).collect();
    (twin, writer.0, neighbours)
}

/// Compares words of a warp select with its twin's recording.
fn compared_queues(twin: &Recording, words: Vec<u32>, neighbours: &[(u32, f32)]) -> Result<Vec<Step>> {
    let k = twin.shape().k as usize;
    let trace = QueueTrace::new("NVIDIA test".to_owned(), k, words, neighbours.to_vec());
    compare_queues(&trace, twin, warp_select::default_queue(k) as u32)
}

#[test]
fn queue_trace_matches_the_cpu_reference() {
    for (spec, row, k) in [
        ("uniform:n=3000,d=2", 1500, 1),
        ("uniform:n=3000,d=3", 17, 33),
        ("descending:n=2000,d=2", 1999, 100),
        ("duplicates:n=900,d=2,distinct=4", 5, 16),
        ("uniform:n=20,d=2", 3, 32),
        ("uniform:n=5000,d=17", 4999, 1000),
    ] {
        let (twin, words, neighbours) = queue_pair(spec, row, k);
        assert_eq!(compared_queues(&twin, words, &neighbours).unwrap(), twin.steps(), "{spec}, k = {k}");
    }
}

#[test]
fn queue_trace_differences_are_reported() {
    let (twin, words, neighbours) = queue_pair("uniform:n=2000,d=2", 0, 40);
    let tell = |words: Vec<u32>, neighbours: &[(u32, f32)]| {
        compared_queues(&twin, words, neighbours).unwrap_err().to_string()
    };
    assert_eq!(words[..2], [queue_kind::INSERTED, 0]);
    // The base of a group; a distance; the position in the key that lane 0 took: to the last of its three
    // places.
    for (at, step) in [(1, 2), (2 + 9, 2), (34 + 2 * 64, 3)] {
        let mut other = words.clone();
        other[at] ^= 1;
        let message = tell(other, &neighbours);
        assert!(message.starts_with(&format!("step {step}: the GPU has ")), "word {at}: {message}");
    }
    let mut moved = neighbours.clone();
    moved.swap(3, 4);
    assert_eq!(
        tell(words.clone(), &moved),
        "rank 3: the GPU's neighbours differ from the result of its own steps"
    );
    let mut longer = words.clone();
    longer.push(queue_kind::DRAINED);
    assert_eq!(
        tell(longer, &neighbours),
        format!("invalid GPU trace: word {}: the trace continues after the end of the search", words.len())
    );
    assert_eq!(
        tell(Vec::new(), &neighbours),
        "invalid GPU trace: word 0: the trace ends before the search does"
    );
}

/// Writes what `cuda/select/pass_recorder.cuh` writes.
#[derive(Default)]
struct PassWriter(Vec<u32>);

impl select::PassObserver for PassWriter {
    fn counted(&mut self, counters: &[usize]) {
        self.0.extend([pass_kind::COUNTED, counters.len() as u32]);
        self.0.extend(counters.iter().map(|&count| count as u32));
    }

    fn found(&mut self, bucket: usize, below: usize, size: usize) {
        self.0.extend([pass_kind::FOUND, bucket as u32, below as u32, size as u32]);
    }

    fn narrowed(&mut self) {
        self.0.push(pass_kind::NARROWED);
    }

    fn taken(&mut self, found: &[Key]) {
        self.0.extend([pass_kind::TAKEN, found.len() as u32]);
        self.0.extend(found.iter().flat_map(|&key| [index_of(key), distance_of(key).to_bits()]));
    }
}

/// The twin's recording of a radix select, and what a GPU would have written.
fn pass_pair(spec: &str, row: usize, k: usize) -> (Recording, Vec<u32>, Vec<(u32, f32)>) {
    let problem = problem(spec, 1, row, k);
    let twin = record_digits(problem.clone(), 0, 32, spec).unwrap();
    let distances = lockstep::distances_to(&problem, 0, 0..problem.n());
    let mut writer = PassWriter::default();
    multi_pass::observe::<Digits>(&distances, k, 5, &mut writer);
    let end = fresh(&twin, twin.len());
    let neighbours = end.registers.iter().take(k).map(|&key| (index_of(key), distance_of(key))).collect();
    (twin, writer.0, neighbours)
}

/// Compares words of a radix select with its twin's recording.
fn compared_passes(twin: &Recording, words: Vec<u32>, neighbours: &[(u32, f32)]) -> Result<Vec<Step>> {
    compare_passes(&PassTrace::new("NVIDIA test".to_owned(), words, neighbours.to_vec()), twin)
}

#[test]
fn pass_trace_matches_the_cpu_reference() {
    for (spec, row, k) in [
        ("uniform:n=3000,d=2", 1500, 1),
        ("uniform:n=3000,d=3", 17, 33),
        ("descending:n=2000,d=2", 1999, 100),
        ("duplicates:n=900,d=2,distinct=4", 5, 16),
        ("uniform:n=20,d=2", 3, 32),
        ("uniform:n=5000,d=17", 4999, 1000),
    ] {
        let (twin, words, neighbours) = pass_pair(spec, row, k);
        assert_eq!(compared_passes(&twin, words, &neighbours).unwrap(), twin.steps(), "{spec}, k = {k}");
    }
}

/// Every bit of the trace of passes is checked.
#[test]
fn every_flipped_bit_of_a_pass_trace_is_detected() {
    let (twin, mut words, neighbours) = pass_pair("uniform:n=700,d=2", 0, 40);
    for at in 0..words.len() {
        for bit in 0..32 {
            words[at] ^= 1 << bit;
            let error = compared_passes(&twin, words.clone(), &neighbours)
                .expect_err(&format!("word {at}, bit {bit}"));
            words[at] ^= 1 << bit;
            assert!(
                matches!(error, LessonError::StepDiffers { .. } | LessonError::Trace(_)),
                "word {at}, bit {bit}: {error}"
            );
        }
    }
    let tell = |words: Vec<u32>, neighbours: &[(u32, f32)]| {
        compared_passes(&twin, words, neighbours).unwrap_err().to_string()
    };
    let mut other = words.clone();
    other[2] += 1;
    assert!(tell(other, &neighbours).starts_with("step 2: the GPU has {\"step\":\"counted\""));
    let mut moved = neighbours.clone();
    moved.swap(3, 4);
    assert_eq!(
        tell(words.clone(), &moved),
        "rank 3: the GPU's neighbours differ from the result of its own steps"
    );
    for length in 0..words.len() {
        let refused = compared_passes(&twin, words[..length].to_vec(), &neighbours);
        assert!(
            matches!(refused, Err(LessonError::Trace(TraceError::Truncated { .. }))),
            "{length} words: {refused:?}"
        );
    }
    words.push(pass_kind::NARROWED);
    assert_eq!(
        tell(words.clone(), &neighbours),
        format!(
            "invalid GPU trace: word {}: the trace continues after the end of the search",
            words.len() - 1
        )
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every bit of a trace is checked, and no word makes the reader panic.
    #[test]
    fn corrupt_trace_words_are_detected(
        at in any::<prop::sample::Index>(),
        change in prop_oneof![(0u32..32).prop_map(|bit| 1 << bit), 1u32..],
    ) {
        let (twin, mut words, neighbours) = pair("uniform:n=700,d=2", 0, 40, Some(3));
        let at = at.index(words.len());
        words[at] ^= change;
        let error = compare(&trace(&twin, words, neighbours), &twin).unwrap_err();
        let known = matches!(
            error,
            LessonError::StepDiffers { .. } | LessonError::HalfSwap { .. } | LessonError::Trace(_)
        );
        prop_assert!(known, "{error}");
        prop_assert!(!error.to_string().contains('\n'));
    }

    #[test]
    fn truncated_and_foreign_tree_traces_are_rejected(
        cut in any::<prop::sample::Index>(),
        foreign in prop::collection::vec(prop_oneof![0u32..11, 0u32..70, any::<u32>()], 0..200),
    ) {
        let (twin, mut words, neighbours) = tree_pair("uniform:n=700,d=2", 0, 40);
        prop_assert!(compare_tree(&tree_trace(foreign, neighbours.clone()), &twin).is_err());
        words.truncate(cut.index(words.len()));
        let refused = matches!(
            compare_tree(&tree_trace(words, neighbours), &twin),
            Err(LessonError::Trace(TraceError::Truncated { .. }))
        );
        prop_assert!(refused);
    }

    /// No word makes the reader of queues panic, and accepted steps equal the twin's.
    #[test]
    fn corrupt_queue_words_are_detected_or_harmless(
        at in any::<prop::sample::Index>(),
        change in prop_oneof![(0u32..32).prop_map(|bit| 1 << bit), 1u32..],
    ) {
        let (twin, mut words, neighbours) = queue_pair("uniform:n=700,d=2", 0, 40);
        let at = at.index(words.len());
        words[at] ^= change;
        match compared_queues(&twin, words, &neighbours) {
            Ok(steps) => prop_assert_eq!(steps, twin.steps()),
            Err(error) => {
                let is_found = matches!(error, LessonError::StepDiffers { .. } | LessonError::Trace(_));
                prop_assert!(is_found, "{error}")
            }
        }
    }

    #[test]
    fn truncated_and_foreign_queue_traces_are_rejected(
        cut in any::<prop::sample::Index>(),
        foreign in prop::collection::vec(prop_oneof![0u32..12, 0u32..70, any::<u32>()], 0..200),
    ) {
        let (twin, mut words, neighbours) = queue_pair("uniform:n=700,d=2", 0, 40);
        prop_assert!(compared_queues(&twin, foreign, &neighbours).is_err());
        words.truncate(cut.index(words.len()));
        let refused = matches!(
            compared_queues(&twin, words, &neighbours),
            Err(LessonError::Trace(TraceError::Truncated { .. }))
        );
        prop_assert!(refused);
    }

    #[test]
    fn foreign_pass_traces_are_rejected(
        foreign in prop::collection::vec(prop_oneof![0u32..6, 0u32..70, any::<u32>()], 0..200),
    ) {
        let (twin, _, neighbours) = pass_pair("uniform:n=700,d=2", 0, 40);
        prop_assert!(compared_passes(&twin, foreign, &neighbours).is_err());
    }

    #[test]
    fn truncated_and_foreign_traces_are_rejected(
        cut in any::<prop::sample::Index>(),
        foreign in prop::collection::vec(any::<u32>(), 0..200),
    ) {
        let (twin, mut words, neighbours) = pair("uniform:n=700,d=2", 0, 40, Some(3));
        prop_assert!(compare(&trace(&twin, foreign, neighbours.clone()), &twin).is_err());
        words.truncate(cut.index(words.len()));
        let refused = matches!(
            compare(&trace(&twin, words, neighbours), &twin),
            Err(LessonError::Trace(TraceError::Truncated { .. }))
        );
        prop_assert!(refused);
    }
}
