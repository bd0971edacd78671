//! Checks every text with a number: each lesson is replayed, each sentence of each moment is parsed by a row
//! of [`ROWS`], and its numbers are compared with the points and with a search reimplemented here. A sentence
//! with a number that no row parses is a failure: add a row.

use std::collections::HashMap;

use super::super::invariants::badge;
use super::super::lessons::{LESSONS, Overrides};
use super::super::meter::Strategy;
use super::super::picture::scene::{Ink, Shape as Drawn};
use super::super::picture::sentence::step_sentence;
use super::super::picture::{Panel, View, draw, page};
use super::*;
use crate::algorithms::heap::HeapStep;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::algorithms::tree::TreeStep;
use crate::algorithms::warp_select::WarpSelectStep;
use crate::algorithms::{Baseline, SpecificStep};
use crate::engines::lockstep::{Key, PADDING, distance_of, distances_to, index_of, key_of};
use crate::text::significant;

/// A moment of a recording: its step, the states around it, and the search so far, restated.
struct ReferenceMoment {
    recording: Arc<Recording>,
    step: Option<Step>,
    before: State,
    now: State,
    /// The keys of all points, by position.
    keys: Vec<Key>,
    /// The search after the step, and before it.
    search: ReferenceSearch,
    last: ReferenceSearch,
    /// Positions of the points that would be candidates if each were merged at once.
    one_by_one: Vec<u32>,
}

/// The search of the kernel or of a tree in terms of sets of keys: without registers, slots and networks.
#[derive(Clone, Default)]
struct ReferenceSearch {
    /// The points that were decided: all before this position.
    seen: u32,
    /// Keys of a tree's points whose distances were computed.
    looked: Vec<Key>,
    /// The K smallest keys that were merged, ascending.
    nearest: Vec<Key>,
    /// The candidates since, in their order.
    buffer: Vec<Key>,
    candidates: u64,
    merges: u64,
    layers: u64,
    shuffles: u64,
    /// Keys of the current group or leaf, by lane.
    group: Vec<Key>,
    /// Lanes of the last vote: those that took part, those that voted, and the voters without a slot.
    asked: u32,
    votes: u32,
    rest: u32,
    /// Pairs that the last layer exchanged.
    swapped: u64,
}

impl ReferenceSearch {
    /// The k-th key; [`PADDING`] where fewer were merged.
    fn kth(&self, shape: Shape) -> Key {
        self.nearest.get(shape.k as usize - 1).copied().unwrap_or(PADDING)
    }

    fn max_distance(&self, shape: Shape) -> f32 {
        distance_of(self.kth(shape))
    }

    /// Lanes of a mask whose key is a candidate: nearer than the k-th or, in a tree, equally near and
    /// earlier.
    fn candidates_in(&self, mask: u32, shape: Shape, is_tree: bool) -> u32 {
        let is = |key: Key| {
            if is_tree { key < self.kth(shape) } else { distance_of(key) < self.max_distance(shape) }
        };
        (0..)
            .zip(&self.group)
            .filter(|&(lane, &key)| mask >> lane & 1 == 1 && key != PADDING && is(key))
            .fold(0, |mask, (lane, _)| mask | 1 << lane)
    }

    fn follow(&mut self, step: &Step, keys: &[Key], shape: Shape) {
        let is_tree = !self.looked.is_empty();
        let capacity = shape.capacity() as usize;
        // All points of a group are decided once none of its lanes waits.
        let end = |group: &[Key]| index_of(*group.iter().rfind(|&&key| key != PADDING).unwrap()) + 1;
        match step {
            Step::Batch { first, .. } => self.seen = *first,
            Step::Group { base, .. } => {
                self.group = keys.iter().skip(*base as usize).take(shape.width as usize).copied().collect();
                self.seen = *base;
            }
            Step::Own(SpecificStep::Tree(TreeStep::Leaf { keys, .. })) => {
                self.group.clone_from(keys);
                self.looked.extend(keys.iter().filter(|&&key| key != PADDING));
            }
            Step::Ballot { .. } | Step::FilteredAgain { .. } => {
                self.asked = if let Step::FilteredAgain { .. } = step {
                    self.rest
                } else {
                    u32::MAX >> (32 - shape.width)
                };
                self.votes = self.candidates_in(self.asked, shape, is_tree);
                self.rest = self.votes;
                if self.rest == 0 && !is_tree {
                    self.seen = end(&self.group);
                }
            }
            Step::Appended { .. } => {
                while self.rest != 0 && self.buffer.len() < capacity {
                    let key = self.group[self.rest.trailing_zeros() as usize];
                    self.buffer.push(key);
                    self.candidates += 1;
                    self.rest &= self.rest - 1;
                    if !is_tree {
                        self.seen = index_of(key) + 1;
                    }
                }
                if self.buffer.len() < capacity && !is_tree {
                    self.seen = end(&self.group);
                }
            }
            Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Inserted { placed })) => {
                self.votes = placed.iter().fold(0, |mask, taken| mask | 1 << taken.lane);
                self.seen = end(&self.group);
            }
            Step::Layer { shuffle, .. } => {
                self.layers += 1;
                self.shuffles += if shuffle.is_some() { u64::from(shape.registers) } else { 0 };
            }
            Step::MaxDistance { .. } => {
                self.nearest.append(&mut self.buffer);
                self.nearest.sort_unstable();
                self.nearest.truncate(capacity);
                self.merges += 1;
            }
            Step::Padded { .. } | Step::Finished if !is_tree => self.seen = shape.n,
            _ => {}
        }
    }
}

/// The values of a template's holes: `#` an integer, `~` a distance, `@` lanes, `%` a ballot.
struct TemplateValues(Vec<String>);

impl TemplateValues {
    fn n(&self, at: usize) -> u64 {
        self.0[at].replace(',', "").parse().unwrap()
    }

    fn is(&self, numbers: &[u64]) -> bool {
        numbers.iter().enumerate().all(|(at, &number)| self.n(at) == number)
    }

    /// Whether a text is this distance in three digits.
    fn d(&self, at: usize, distance: f32) -> bool {
        let text = self.0[at].as_str();
        match distance {
            0.0 => text == "0" || text == "0.00",
            distance if distance.is_infinite() => text == "\u{221e}",
            distance => text == significant(distance.into()),
        }
    }

    /// Lanes as a mask.
    fn m(&self, at: usize) -> u32 {
        let words = self.0[at].to_lowercase();
        if let Some(all) = words.strip_prefix("all ") {
            return u32::MAX >> (32 - all.strip_suffix(" lanes").unwrap().parse::<u32>().unwrap());
        }
        let rest = words.strip_prefix("lanes ").or(words.strip_prefix("lane ")).unwrap();
        let parts = rest.split(", ").flat_map(|part| part.split(" and "));
        parts.fold(0, |mask, part| {
            let (first, last) = part.split_once(" to ").unwrap_or((part, part));
            (first.parse::<u32>().unwrap()..=last.parse().unwrap()).fold(mask, |mask, lane| mask | 1 << lane)
        })
    }

    fn x(&self, at: usize) -> u32 {
        u32::from_str_radix(self.0[at].strip_prefix("0x").unwrap(), 16).unwrap()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Matches a text with a template: the holes above, `*` for anything without a digit, and `[a|b]` for
/// alternatives.
fn read(template: &str, text: &str, found: &mut Vec<String>) -> bool {
    let Some(first) = template.chars().next() else { return text.is_empty() };
    let rest = &template[first.len_utf8()..];
    let kept = found.len();
    let hole = |length: usize, found: &mut Vec<String>, keep: bool| {
        if keep {
            found.push(text[..length].to_owned());
        }
        let fits = read(rest, &text[length..], found);
        if !fits {
            found.truncate(kept);
        }
        fits
    };
    let run = |is: &dyn Fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    match first {
        '#' => {
            let length = text[..run(&|c| c.is_ascii_digit() || c == ',')].trim_end_matches(',').len();
            length > 0 && hole(length, found, true)
        }
        '~' => {
            let length = run(&|c| c.is_ascii_digit() || ".,e-\u{221e}".contains(c));
            let length = text[..length].trim_end_matches([',', '.', 'e', '-']).len();
            length > 0 && hole(length, found, true)
        }
        '%' => {
            text.starts_with("0x")
                && hole(
                    2 + text[2..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len() - 2),
                    found,
                    true,
                )
        }
        '@' => {
            let lower = text.to_lowercase();
            if lower.starts_with("all ") && !lower.starts_with("all lanes") {
                let length = text.find(" lanes").map_or(0, |at| at + 6);
                return length > 0 && hole(length, found, true);
            }
            let Some(words) = ["lanes ", "lane "].into_iter().find(|words| lower.starts_with(words)) else {
                return false;
            };
            let mut length = words.len()
                + text[words.len()..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - words.len());
            loop {
                let more = [", ", " to ", " and "].into_iter().find(|more| {
                    text[length..].starts_with(more)
                        && text[length + more.len()..].starts_with(|c: char| c.is_ascii_digit())
                });
                let Some(more) = more else { break };
                let number = length + more.len();
                length = number
                    + text[number..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - number);
            }
            length > words.len() && hole(length, found, true)
        }
        '*' => (0..=run(&|c| !c.is_ascii_digit()))
            .rev()
            .filter(|&length| text.is_char_boundary(length))
            .any(|length| hole(length, found, false)),
        '[' => {
            let mut depth = 0;
            let close = template.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '[') - i32::from(*c == ']');
                depth == 0
            });
            let (inside, after) = (&template[1..close.unwrap().0], &template[close.unwrap().0 + 1..]);
            let (mut depth, mut start, mut choices) = (0, 0, Vec::new());
            for (at, c) in inside.char_indices() {
                depth += i32::from(c == '[') - i32::from(c == ']');
                if c == '|' && depth == 0 {
                    choices.push(&inside[start..at]);
                    start = at + 1;
                }
            }
            choices.push(&inside[start..]);
            choices.into_iter().any(|choice| {
                found.truncate(kept);
                read(&format!("{choice}{after}"), text, found)
            })
        }
        _ => text.starts_with(first) && read(rest, &text[first.len_utf8()..], found),
    }
}

type Row = (&'static str, fn(&ReferenceMoment, &TemplateValues) -> bool);

impl ReferenceMoment {
    fn shape(&self) -> Shape {
        self.now.shape
    }

    fn k(&self) -> u64 {
        self.now.shape.k.into()
    }

    fn n(&self) -> u64 {
        self.now.shape.n.into()
    }

    fn w(&self) -> u64 {
        self.now.shape.width.into()
    }

    /// K.
    fn all(&self) -> u64 {
        self.now.shape.capacity().into()
    }

    fn bound(&self) -> f32 {
        self.search.max_distance(self.now.shape)
    }

    /// The known neighbours. After the minimum of a merge, they come from both lists.
    fn known(&self) -> u64 {
        let is_taken = self.words(|step| {
            matches!(
                step,
                Step::Minimum { .. }
                    | Step::Own(SpecificStep::Tree(TreeStep::Merged))
                    | Step::Layer { pass: SortPass::Resort, .. }
            )
        });
        (self.search.nearest.len() + if is_taken { self.search.buffer.len() } else { 0 })
            .min(self.k() as usize) as u64
    }

    /// The k-th key of the warp's queue, or of a tree's result.
    fn kth(&self) -> f32 {
        distance_of(self.now.registers[self.now.shape.k as usize - 1])
    }

    /// Distances of points sorted.
    fn sorted(&self) -> Vec<Key> {
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        keys
    }

    /// The pairs of elements that a layer compares and that were in the wrong order before it.
    fn swaps(&self) -> u64 {
        let Some(Step::Layer { layer, .. }) = &self.step else { return u64::MAX };
        let keys = &self.before.registers;
        let pairs = (0..keys.len() as u32).filter(|low| low & layer.stride == 0);
        pairs
            .filter(|&low| {
                (keys[low as usize] > keys[(low ^ layer.stride) as usize]) == (low & layer.size == 0)
                    && keys[low as usize] != keys[(low ^ layer.stride) as usize]
            })
            .count() as u64
    }

    fn layer(&self) -> [u64; 2] {
        if let Some(Step::Layer { layer, .. }) = &self.step {
            [layer.size.into(), layer.stride.into()]
        } else {
            [0, 0]
        }
    }

    /// Keys that came from the buffer, in a minimum.
    fn taken_keys(&self) -> u64 {
        self.now.registers.iter().filter(|key| !self.before.registers.contains(key)).count() as u64
    }

    /// Steps of a merge of K keys: log K (log K + 1) / 2 layers, a minimum, log K layers.
    fn steps(&self) -> u64 {
        let [sort, last] = self.layers();
        sort + 1 + last
    }

    fn layers(&self) -> [u64; 2] {
        let log = u64::from(self.now.shape.capacity().ilog2());
        [log * (log + 1) / 2, log]
    }

    /// Layers of a sort that stay within lanes: strides below R.
    fn inside(&self) -> u64 {
        let (log, lane) =
            (u64::from(self.now.shape.capacity().ilog2()), u64::from(self.now.shape.registers.ilog2()));
        (1..=log).map(|size| size.min(lane)).sum()
    }

    /// How many points would have been candidates so far, had each been merged at once.
    fn one_by_one(&self) -> u64 {
        self.one_by_one.iter().filter(|&&point| point < self.search.seen).count() as u64
    }

    /// The lanes of the last vote, divided by the current circle: inside and not yet among the nearest, and
    /// outside.
    fn divided(&self) -> [u64; 2] {
        let is_tree = self.now.descent().is_some();
        let votes = self.search.votes;
        let mut search = self.search.clone();
        if self.words(|step| matches!(step.tree(), Some(TreeStep::Merged))) {
            // A tree's merge is one step.
            search.nearest.append(&mut search.buffer);
            search.nearest.sort_unstable();
        }
        let inside = search.candidates_in(votes, self.shape(), is_tree);
        let lane = |lane: u32| self.search.group.get(lane as usize).copied().filter(|&key| key != PADDING);
        let count = |is: &dyn Fn(u32, Key) -> bool| {
            (0..self.shape().width).filter(|&at| lane(at).is_some_and(|key| is(at, key))).count() as u64
        };
        let near = &search.nearest[..search.nearest.len().min(self.shape().k as usize)];
        let accepted = count(&|at, key| inside >> at & 1 == 1 && !near.contains(&key));
        let rejected = count(&|at, key| {
            self.search.asked >> at & 1 == 1 && inside >> at & 1 == 0 && !near.contains(&key)
        });
        [accepted, rejected]
    }

    fn words(&self, step: fn(&Step) -> bool) -> bool {
        self.step.as_ref().is_some_and(step)
    }

    fn batch(&self) -> u64 {
        let sizes =
            self.recording.steps().iter().find_map(|step| {
                if let Step::Batch { first, end } = step { Some(end - first) } else { None }
            });
        sizes.unwrap().into()
    }

    fn batches(&self) -> u64 {
        self.n().div_ceil(self.batch())
    }

    fn group(&self) -> [u64; 2] {
        let keys: Vec<u32> =
            self.search.group.iter().filter(|&&key| key != PADDING).map(|&key| index_of(key)).collect();
        [keys[0].into(), (*keys.last().unwrap()).into()]
    }

    fn smallest(&self) -> (u64, f32) {
        let (lane, key) = self.search.group.iter().enumerate().min_by_key(|(_, key)| **key).unwrap();
        (lane as u64, distance_of(*key))
    }

    /// The last pass of radix select, worked out from the distances: wanted rank, number of points, digit,
    /// points before it and in it.
    fn pass(&self, pass: usize) -> [u64; 5] {
        let bits = self.shape().width.ilog2();
        let kth = distance_of(self.sorted()[self.k() as usize - 1]).to_bits();
        let (of, digit) = ((31 - pass as u32 * bits), (31u32.saturating_sub((pass as u32 + 1) * bits)));
        let prefix = |bits: u32, low: u32| (u64::from(bits)) >> low;
        let left: Vec<u32> = self
            .keys
            .iter()
            .map(|&key| distance_of(key).to_bits())
            .filter(|&bits| prefix(bits, of) == prefix(kth, of))
            .collect();
        let nearer =
            self.keys.iter().filter(|&&key| prefix(distance_of(key).to_bits(), of) < prefix(kth, of)).count()
                as u64;
        let side = |is: fn(&u64, &u64) -> bool| {
            left.iter().filter(|&&bits| is(&prefix(bits, digit), &prefix(kth, digit))).count() as u64
        };
        [
            self.k() - nearer,
            left.len() as u64,
            prefix(kth, digit) & ((1 << (of - digit)) - 1),
            side(u64::lt),
            side(u64::eq),
        ]
    }

    fn passes(&self) -> usize {
        self.now.buckets().unwrap().passes.len()
    }

    fn heap(&self) -> &crate::algorithms::heap::state::Heaps {
        self.now.heaps().unwrap()
    }
}

/// All sentences with numbers.
static ROWS: &[Row] = &[
    // The kernel's steps.
    ("Before the first step: we want the # nearest of #; *", |t, r| {
        t.step.is_none() && r.is(&[t.k(), t.n()])
    }),
    ("The block loads # points into shared memory: points # to #", |t, r| {
        let Some(Step::Batch { first, end }) = t.step else { return false };
        r.is(&[(end - first).into(), first.into(), (end - 1).into()])
            && end - first == t.batch().min(t.n() - u64::from(first)) as u32
    }),
    (
        "Every lane [computes|reads] the squared distance of one point, points # to #; the smallest is ~, \
         in lane #",
        |t, r| {
            let ([first, last], (lane, smallest)) = (t.group(), t.smallest());
            r.n(0) == first && r.n(1) == last && r.d(2, smallest) && r.n(3) == lane
        },
    ),
    ("No lane's point is closer than max_distance ~: ballot %, and the group is done", |t, r| {
        r.d(0, t.bound())
            && r.x(1) == 0
            && t.search.votes == 0
            && u64::from(t.search.seen) == t.group()[1] + 1
    }),
    ("@ [is|are] closer than max_distance, which is still infinite: ballot %", |t, r| {
        t.bound().is_infinite() && r.m(0) == t.search.votes && r.x(1) == t.search.votes
    }),
    ("@ [is|are] closer than max_distance ~: ballot %", |t, r| {
        r.m(0) == t.search.votes && r.d(1, t.bound()) && r.x(2) == t.search.votes
    }),
    (
        "Lane # writes to slot # + # = #, because [no lower lane votes|one lower lane also votes|# lower \
         lanes also vote]",
        |t, r| {
            let (lane, taken) = (r.n(0), t.search.buffer.len() as u64);
            let below = u64::from((t.search.rest & ((1 << lane) - 1)).count_ones());
            let is_last = below + taken + 1 == t.all() || t.search.rest >> lane == 1;
            t.search.rest >> lane & 1 == 1
                && is_last
                && r.n(1) == taken
                && r.n(2) == below
                && r.n(3) == taken + below
                && (below < 2 || r.n(4) == below)
        },
    ),
    ("Lane # would write to slot #, which does not exist: it [waits|and # more wait]", |t, r| {
        let lane = r.n(0);
        let below = u64::from((t.search.rest & ((1 << lane) - 1)).count_ones());
        let late = u64::from((t.search.rest >> lane).count_ones());
        r.n(1) == t.all()
            && below + t.search.buffer.len() as u64 == t.all()
            && if r.len() > 2 { r.n(2) == late - 1 } else { late == 1 }
    }),
    ("# candidates go into the buffer, slots # to #: it holds # of #", |t, r| {
        let [before, now] = [&t.last, &t.search].map(|search| search.buffer.len() as u64);
        r.is(&[now - before, before, now - 1, now, t.all()])
    }),
    ("# candidate goes into the buffer, slot #: it holds # of #", |t, r| {
        let [before, now] = [&t.last, &t.search].map(|search| search.buffer.len() as u64);
        now == before + 1 && r.is(&[1, before, now, t.all()])
    }),
    ("@ wait[s|]", |t, r| r.m(0) == t.search.rest),
    ("The buffer is full: all # slots are taken, so it is merged with the intermediate result", |t, r| {
        r.is(&[t.all()]) && t.search.buffer.len() as u64 == t.all()
    }),
    (
        "The buffer holds # of #: slot[s # to|] # [is|are] filled with infinite distances, and it is merged",
        |t, r| {
            let held = t.search.buffer.len() as u64;
            r.n(0) == held && r.n(1) == t.all() && r.n(2) == held && r.n(r.len() - 1) == t.all() - 1
        },
    ),
    ("Buffer and registers swap contents: the # candidates are now in the registers, *", |t, r| {
        r.is(&[t.all()])
    }),
    (
        "[Sort|Re-sort|The last layer], size #, stride #: each lane compares [with lane ^ # by shuffle|its own keys, \
         without a shuffle]; # of # pairs swap[s|]",
        |t, r| {
            let ([size, stride], lanes) = (t.layer(), t.layer()[1] / u64::from(t.shape().registers));
            let rest = if lanes > 0 {
                vec![size, stride, lanes, t.swaps(), t.all() / 2]
            } else {
                vec![size, stride, t.swaps(), t.all() / 2]
            };
            r.len() == rest.len() && r.is(&rest)
        },
    ),
    (
        "Element i becomes the smaller of candidate i and element # \u{2212} i of the intermediate result: \
         # of the candidates stay, # of the intermediate result",
        |t, r| r.is(&[t.all() - 1, t.all() - t.taken_keys(), t.taken_keys()]),
    ),
    ("The # smallest remain, in bitonic order", |t, r| {
        let mut both = [t.before.registers.as_slice(), &t.before.buffer].concat();
        let mut kept = t.now.registers.clone();
        both.sort_unstable();
        kept.sort_unstable();
        r.is(&[t.all()]) && kept == both[..kept.len()]
    }),
    ("Merge # is done", |t, r| r.is(&[t.search.merges])),
    (
        "Fewer than # neighbours are known, so max_distance stays infinite[; all # points were seen|]",
        |t, r| {
            r.n(0) == t.k()
                && (t.search.nearest.len() as u64) < t.k()
                && (r.len() < 2 || r.n(1) == u64::from(t.search.seen) && r.n(1) == t.n())
        },
    ),
    (
        "max_distance falls from infinity to ~, the squared distance of neighbour #[; all # points were \
         seen|]",
        |t, r| {
            t.last.max_distance(t.shape()).is_infinite()
                && r.d(0, t.bound())
                && r.n(1) == t.k()
                && (r.len() < 3 || r.n(2) == u64::from(t.search.seen) && r.n(2) == t.n())
        },
    ),
    (
        "max_distance falls from ~ to ~, the squared distance of neighbour #[; all # points were seen|]",
        |t, r| {
            let fell = r.d(0, t.last.max_distance(t.shape()))
                && r.d(1, t.bound())
                && t.bound() < t.last.max_distance(t.shape());
            fell && r.n(2) == t.k() && (r.len() < 4 || r.n(3) == u64::from(t.search.seen) && r.n(3) == t.n())
        },
    ),
    ("max_distance stays at ~, the squared distance of neighbour #[; all # points were seen|]", |t, r| {
        r.d(0, t.bound())
            && t.bound() == t.last.max_distance(t.shape())
            && r.n(1) == t.k()
            && (r.len() < 3 || r.n(2) == u64::from(t.search.seen) && r.n(2) == t.n())
    }),
    (
        "@ had no slot and vote[s|] again, against max_distance ~: [none is still closer|@ [is|are] still \
         closer], ballot %",
        |t, r| {
            let waits = t.search.asked == r.m(0) && t.last.rest == r.m(0);
            let still = if r.len() > 3 { r.m(2) } else { 0 };
            waits && r.d(1, t.bound()) && still == t.search.votes && r.x(r.len() - 1) == t.search.votes
        },
    ),
    (
        "The search is done: the # neighbours are in the registers, nearest first, at squared distances \
         from ~ to ~",
        |t, r| {
            let (sorted, found) = (t.sorted(), t.k().min(t.n()));
            r.n(0) == found
                && r.d(1, distance_of(sorted[0]))
                && r.d(2, distance_of(sorted[found as usize - 1]))
        },
    ),
    ("Of # points, # went into the buffer, in # merge[s|]", |t, r| {
        r.is(&[t.n(), t.search.candidates, t.search.merges])
    }),
    // The badges.
    (
        "Fewer than # points were merged: every point may be one of the # nearest, so every lane that has a \
         point votes",
        |t, r| {
            r.is(&[t.k(), t.k()])
                && (t.search.nearest.len() as u64) < t.k()
                && t.search.votes.count_ones() as usize == t.search.group.len()
        },
    ),
    ("# points at least as near as these are known already: none of these can be a neighbour", |t, r| {
        let known = t
            .search
            .nearest
            .iter()
            .filter(|&&key| t.search.group.iter().all(|&other| key < other || other == PADDING))
            .count() as u64;
        r.is(&[t.k()]) && known >= t.k()
    }),
    (
        "Lanes that do not vote are no closer than max_distance: none of them can hold one of the # nearest",
        |t, r| {
            let nearest = &t.sorted()[..t.k() as usize];
            let wrong = |(lane, key): (u32, &Key)| {
                t.search.votes >> lane & 1 == 0 && nearest.contains(key) && *key != PADDING
            };
            r.is(&[t.k()]) && !(0..).zip(&t.search.group).any(wrong)
        },
    ),
    ("Slots continue from #: no two lanes write to the same one, and none is skipped", |t, r| {
        r.is(&[t.search.buffer.len() as u64])
    }),
    ("Every slot below # holds a candidate[ that is closer than max_distance|], no two the same", |t, r| {
        let closer = t.search.buffer.iter().all(|&key| distance_of(key) < t.bound());
        r.is(&[t.search.buffer.len() as u64])
            && closer
            && t.now.buffer[..t.search.buffer.len()] == t.search.buffer
    }),
    ("Slot # holds a candidate[ that is closer than max_distance|]", |t, r| {
        r.is(&[0]) && t.search.buffer.len() == 1 && distance_of(t.search.buffer[0]) < t.bound()
    }),
    ("All # slots hold a candidate, no two the same: the swap brings them all into registers", |t, r| {
        r.is(&[t.all()]) && t.now.buffer == t.search.buffer
    }),
    ("Slots below # hold candidates, the others \u{221e}, which sorts after every point", |t, r| {
        let held = t.search.buffer.len();
        r.is(&[held as u64])
            && t.now.buffer[..held] == t.search.buffer
            && t.now.buffer[held..].iter().all(|&key| key == PADDING)
    }),
    ("Runs of # alternate in direction, up and down, so every # keys are bitonic", |t, r| {
        let size = t.layer()[0] as usize;
        let runs = t
            .now
            .registers
            .chunks(size)
            .enumerate()
            .all(|(at, run)| if at % 2 == 0 { run.is_sorted() } else { run.is_sorted_by(|a, b| a >= b) });
        r.is(&[size as u64, 2 * size as u64]) && runs
    }),
    (
        "In every # keys first half \u{2264} second half[ (\u{2265} in runs that descend)|], both bitonic: \
         each half can be sorted alone",
        |t, r| {
            let ([size, stride], keys) = (t.layer(), &t.now.registers);
            let halves = keys.chunks(2 * stride as usize).enumerate().all(|(at, block)| {
                let (left, right) = block.split_at(stride as usize);
                let up = (at as u64 * 2 * stride) & size == 0;
                if up {
                    left.iter().max() <= right.iter().min()
                } else {
                    left.iter().min() >= right.iter().max()
                }
            });
            r.is(&[2 * stride]) && halves
        },
    ),
    ("The registers ascend, so element # is the #[st|nd|rd|th] smallest key", |t, r| {
        r.is(&[t.k() - 1, t.k()]) && t.now.registers.is_sorted()
    }),
    (
        "The # smallest keys of both remain, and they are bitonic: the layers of size # alone sort them",
        |t, r| r.is(&[t.all(), t.all()]),
    ),
    (
        "max_distance is the squared distance of the #[st|nd|rd|th] nearest of the # points seen: a point \
         that is no closer cannot be a neighbour",
        |t, r| {
            let mut seen = t.keys[..r.n(1) as usize].to_vec();
            seen.sort_unstable();
            r.is(&[t.k(), t.search.seen.into()])
                && distance_of(seen[t.k() as usize - 1]) == t.now.max_distance
        },
    ),
    ("The first # keys are the nearest of all # points, nearest first: nothing was lost", |t, r| {
        let found = t.k().min(t.n());
        r.is(&[found, t.n()]) && t.now.registers[..found as usize] == t.sorted()[..found as usize]
    }),
    // A tree's steps.
    ("The query's code falls into leaf # of #, by the leaves' codes alone", |t, r| {
        let Some(Step::Own(SpecificStep::Tree(TreeStep::OwnLeaf { leaf }))) = t.step else { return false };
        r.is(&[leaf.into(), t.n().div_ceil(32)])
    }),
    (
        "Leaf #: [every lane computes|one lane per point computes] the squared distance of one of its # \
         points; the smallest is ~, in lane #",
        |t, r| {
            let Some(Step::Own(SpecificStep::Tree(TreeStep::Leaf { leaf, keys }))) = &t.step else {
                return false;
            };
            let points = keys.iter().filter(|&&key| key != PADDING).count() as u64;
            let true_keys = keys.iter().all(|&key| key == PADDING || t.keys[index_of(key) as usize] == key);
            true_keys
                && r.n(0) == u64::from(*leaf)
                && r.n(1) == points
                && r.d(2, t.smallest().1)
                && r.n(3) == t.smallest().0
        },
    ),
    ("No point of the leaf is nearer than neighbour #, at ~: ballot %, and the leaf is done", |t, r| {
        r.n(0) == t.k() && r.d(1, t.bound()) && r.x(2) == 0 && t.search.votes == 0
    }),
    ("@ have a candidate, as fewer than # neighbours are known: ballot %", |t, r| {
        r.m(0) == t.search.votes
            && r.n(1) == t.k()
            && r.x(2) == t.search.votes
            && (t.search.nearest.len() as u64) < t.k()
    }),
    ("@ [has a point|have points] nearer than neighbour #, at ~: ballot %", |t, r| {
        r.m(0) == t.search.votes && r.n(1) == t.k() && r.d(2, t.bound()) && r.x(3) == t.search.votes
    }),
    (
        "@ had no slot and vote[s|] again, against neighbour #, at ~: [none is still nearer|@ [is|are] \
         still nearer], ballot %",
        |t, r| {
            let still = if r.len() > 4 { r.m(3) } else { 0 };
            r.m(0) == t.last.rest
                && r.n(1) == t.k()
                && r.d(2, t.bound())
                && still == t.search.votes
                && r.x(r.len() - 1) == still
        },
    ),
    (
        "[The search begins at the root|Down to node # of height #]: every lane loads the box of one of its \
         # child[ren|], [leaves|nodes] # to #",
        |t, r| {
            let Some(Step::Own(SpecificStep::Tree(TreeStep::Node { height, group }))) = t.step else {
                return false;
            };
            let boxes = (0..height).fold(t.n().div_ceil(32), |boxes, _| boxes.div_ceil(32));
            let (first, last) = (u64::from(group) * 32, (u64::from(group) * 32 + 31).min(boxes - 1));
            let at = r.len() - 3;
            let named = at == 0 || r.n(0) == u64::from(group) && r.n(1) == u64::from(height) + 1;
            named && r.n(at) == last - first + 1 && r.n(at + 1) == first && r.n(at + 2) == last
        },
    ),
    ("The nearest is lane #'s, at ~", |t, r| {
        let Some(Step::Own(SpecificStep::Tree(TreeStep::Boxes { keys }))) = &t.step else { return false };
        let (lane, key) = keys.iter().enumerate().min_by_key(|(_, key)| **key).unwrap();
        r.n(0) == lane as u64 && r.d(1, distance_of(*key))
    }),
    ("# of # [is|are] nearer than neighbour #, at ~", |t, r| {
        let Some(Step::Own(SpecificStep::Tree(TreeStep::Boxes { keys }))) = &t.step else { return false };
        let count =
            |is: &dyn Fn(Key) -> bool| keys.iter().filter(|&&key| key != PADDING && is(key)).count() as u64;
        r.n(0) == count(&|key| key < t.search.kth(t.shape()))
            && r.n(1) == count(&|_| true)
            && r.n(2) == t.k()
            && r.d(3, t.bound())
    }),
    (
        "Of the remaining boxes lane #'s is nearest, at ~: [fewer than # neighbours are known|the query is \
         inside it|a point in it may be nearer than neighbour #, at ~*], and [leaf|node] # is visited",
        |t, r| {
            let node = t.before.descent().unwrap().path.last().unwrap();
            let (lane, key) = node.nearest().unwrap();
            let k = r.len() < 4 || r.n(2) == t.k() && (r.len() < 5 || r.d(3, t.bound()));
            r.n(0) == u64::from(lane)
                && r.d(1, distance_of(key))
                && k
                && r.n(r.len() - 1) == u64::from(node.child(lane).1)
                && key < t.search.kth(t.shape())
        },
    ),
    (
        "The nearest remaining box, lane #'s at ~, is not nearer than neighbour #, at ~*: [it is pruned|all \
         # remaining boxes are pruned at once], and *",
        |t, r| {
            let node = t.before.descent().unwrap().path.last().unwrap();
            let (lane, key) = node.nearest().unwrap();
            let left = r.len() < 5 || r.n(4) == u64::from(node.waiting.count_ones());
            r.n(0) == u64::from(lane)
                && r.d(1, distance_of(key))
                && r.n(2) == t.k()
                && r.d(3, t.bound())
                && left
                && key >= t.search.kth(t.shape())
        },
    ),
    (
        "The buffer holds # of #: the free slots are filled with infinite distances, and it is merged",
        |t, r| r.is(&[t.search.buffer.len() as u64, t.all()]),
    ),
    (
        "The # candidates in the buffer are sorted and merged with the # of the intermediate result, by the \
         same network as in brute force: the # smallest stay",
        |t, r| r.is(&[t.all(); 3]),
    ),
    ("Fewer than # neighbours are known", |t, r| r.is(&[t.k()]) && (t.search.nearest.len() as u64) < t.k()),
    (
        "Neighbour # [stays at ~|is at ~ now: only nearer points still matter|is at ~ now, at ~ before]",
        |t, r| {
            let before = r.len() < 3 || r.d(2, t.last.max_distance(t.shape()));
            // The evaluated points, without those that wait.
            let mut looked: Vec<Key> = t.search.looked.clone();
            looked.retain(|key| {
                !(0..)
                    .zip(&t.search.group)
                    .any(|(lane, other)| other == key && t.search.rest >> lane & 1 == 1)
            });
            looked.sort_unstable();
            r.n(0) == t.k() && r.d(1, distance_of(looked[t.k() as usize - 1])) && before
        },
    ),
    ("# point[s|] evaluated so far[; # of them wait[s|]|]", |t, r| {
        let waiting = u64::from(t.search.rest.count_ones());
        r.n(0) == t.search.looked.len() as u64 && if r.len() > 1 { r.n(1) == waiting } else { waiting == 0 }
    }),
    (
        "The search is done: # of # points were evaluated, in # lea[f|ves] under # node[s|]; # box[es were| \
         was] pruned",
        |t, r| {
            let count = |is: fn(&Step) -> u64| t.recording.steps().iter().map(is).sum::<u64>();
            let leaves = count(|step| u64::from(matches!(step.tree(), Some(TreeStep::Leaf { .. }))));
            let nodes = count(|step| u64::from(matches!(step.tree(), Some(TreeStep::Node { .. }))));
            let out = count(|step| {
                if let Some(TreeStep::Pruned { lanes }) = step.tree() { lanes.count_ones().into() } else { 0 }
            });
            r.is(&[t.search.looked.len() as u64, t.n(), leaves, nodes, out])
        },
    ),
    ("Brute force evaluates all #", |t, r| r.is(&[t.n()])),
    // Warp select.
    (
        "The warp's queue has room for # keys[, of which the first # matter|]; each of the # lanes has its \
         own queue of #",
        |t, r| {
            let queue = t.now.queues().unwrap().keys.len() as u64 / t.w();
            r.n(0) == t.all()
                && (r.len() < 4 || r.n(1) == t.k())
                && r.n(r.len() - 2) == t.w()
                && r.n(r.len() - 1) == queue
        },
    ),
    (
        "@ [has|have] a distance below the largest key of [its|their] own queue: that key drops out, and \
         the new one is inserted in order",
        |t, r| {
            let queues = t.before.queues().unwrap();
            let below = (0..t.shape().width)
                .filter(|&lane| distance_of(t.search.group[lane as usize]) < distance_of(queues.first(lane)));
            r.m(0) == below.fold(0, |mask, lane| mask | 1 << lane)
        },
    ),
    (
        "[It is|All are|It is not|None is|# of them [is|are] not] below the k-th, ~[, too|: a lane compares \
         only with its own queue]",
        |t, r| {
            let Some(Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Inserted { placed }))) = &t.step
            else {
                return false;
            };
            let vain = placed.iter().filter(|placed| distance_of(placed.key) >= t.kth()).count() as u64;
            r.d(r.len() - 1, t.kth())
                && if r.len() > 1 { r.n(0) == vain } else { vain == 0 || vain == placed.len() as u64 }
        },
    ),
    ("No lane's largest key is below the k-th, ~: no neighbour can drop out next", |t, r| {
        let queues = t.now.queues().unwrap();
        r.d(0, t.kth()) && (0..t.shape().width).all(|lane| queues.first(lane) >= t.now.last())
    }),
    (
        "Fewer than # neighbours are known, and lane #'s queue is full: its largest key, ~, may be one, and \
         would drop out next",
        |t, r| {
            r.n(0) == t.k()
                && t.kth().is_infinite()
                && r.d(2, distance_of(t.now.queues().unwrap().first(r.n(1) as u32)))
        },
    ),
    ("In lane # even the largest key, ~, is below the k-th, ~: a neighbour could drop out next", |t, r| {
        let first = distance_of(t.now.queues().unwrap().first(r.n(0) as u32));
        r.d(1, first) && r.d(2, t.kth()) && first < t.kth()
    }),
    ("# of # lanes break[s|] the invariant, and *", |t, r| {
        let queues = t.now.queues().unwrap();
        r.is(&[(0..t.shape().width).filter(|&lane| queues.first(lane) < t.now.last()).count() as u64, t.w()])
    }),
    (
        "The # keys of all queues are sorted as one list by a bitonic network, with shuffles: element i is \
         in lane i mod #",
        |t, r| {
            let keys = &t.now.queues().unwrap().keys;
            r.is(&[keys.len() as u64, t.w()]) && keys.is_sorted()
        },
    ),
    ("# of them [is|are] below the k-th, ~", |t, r| {
        r.n(0) == t.now.queues().unwrap().keys.iter().filter(|&&key| key < t.now.last()).count() as u64
            && r.d(1, t.kth())
    }),
    (
        "Element i of the list is compared with element # \u{2212} i of the warp's queue, which keeps the \
         smaller: # key[s come| comes] from the list",
        |t, r| r.is(&[t.all() - 1, t.taken_keys()]),
    ),
    ("The layers of size # sort the warp's queue again: it ascends", |t, r| {
        r.is(&[t.all()]) && t.now.registers.is_sorted()
    }),
    (
        "Merge # is done: [fewer than # neighbours are known|the k-th stays at ~|the k-th is at ~ now|the \
         k-th falls from ~ to ~]",
        |t, r| {
            let merges = t.recording.steps().iter().zip(t.recording.merges()..).count();
            let k = t.kth().is_infinite() || r.d(r.len() - 1, t.kth());
            merges > 0 && r.n(0) == t.search.merges && k && (r.len() < 3 || r.d(1, t.before.max_distance))
        },
    ),
    ("So far a merge sorted # keys and brought in ~ on average", |t, r| {
        let queues = t.now.queues().unwrap();
        r.n(0) == queues.keys.len() as u64
            && r.0[1] == significant(f64::from(queues.keys_merged) / t.search.merges as f64)
    }),
    ("The search is done: the # neighbours are in the warp's queue", |t, r| {
        r.is(&[t.k()]) && t.now.registers[..t.k() as usize] == t.sorted()[..t.k() as usize]
    }),
    ("Of # points, # went into a lane's queue and # into the warp's, in # merge[s|]", |t, r| {
        let count = |is: fn(&Step) -> u64| t.recording.steps().iter().map(is).sum::<u64>();
        let taken = count(|step| {
            if let Some(WarpSelectStep::Inserted { placed }) = step.warp_select() {
                placed.len() as u64
            } else {
                0
            }
        });
        let came = count(|step| {
            if let Some(WarpSelectStep::Exchanged { taken }) = step.warp_select() {
                taken.count().into()
            } else {
                0
            }
        });
        r.is(&[t.n(), taken, came, t.search.merges])
    }),
    // Radix select.
    ("The distances of all # points are computed", |t, r| r.is(&[t.n()])),
    (
        "Their # bits after the sign, read as integers, have the same order: # digits of up to # bits, the \
         highest first",
        |t, r| {
            let bits = u64::from(t.shape().width.ilog2());
            r.is(&[31, 31u64.div_ceil(bits), bits])
        },
    ),
    (
        "Pass #: the # remaining points are counted by their #[st|nd|rd|th] digit, bit[s # to|] #: they \
         fall into # of # buckets",
        |t, r| {
            let (pass, bits) = (t.passes(), u64::from(t.shape().width.ilog2()));
            let Some(Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Counted { counts }))) = &t.step
            else {
                return false;
            };
            let used = counts.iter().filter(|&&count| count > 0).count() as u64;
            let at = pass as u64;
            r.is(&[at + 1, t.pass(pass)[1], at + 1, 30 - at * bits, 31 - (at + 1) * bits, used, t.w()])
                && counts.iter().sum::<u32>() as u64 == t.pass(pass)[1]
        },
    ),
    ("The sum first reaches # in bucket #: # before it, # including it", |t, r| {
        let [rank, _, digit, before, inside] = t.pass(t.passes());
        r.is(&[rank, digit, before, before + inside])
    }),
    ("The counts are summed from bucket # on", |_, r| r.is(&[0])),
    (
        "Rank # of # is in bucket #: [no point is before it|# point[s before it are neighbours| before it \
         is a neighbour]][, # after it [are not neighbours|is not a neighbour]|]",
        |t, r| {
            let [rank, of, digit, before, inside] = t.pass(t.passes() - 1);
            let rest: Vec<u64> =
                [before, of - before - inside].into_iter().filter(|&number| number > 0).collect();
            r.len() == 3 + rest.len() && r.is(&[&[rank, of, digit], rest.as_slice()].concat())
        },
    ),
    ("Of the # in it, rank # is wanted", |t, r| {
        let [rank, _, _, before, inside] = t.pass(t.passes() - 1);
        r.is(&[inside, rank - before])
    }),
    ("The # points in the bucket are at most half of what the pass read: *", |t, r| {
        let [_, of, _, _, inside] = t.pass(t.passes() - 1);
        r.is(&[inside]) && 2 * inside <= of
    }),
    (
        "All # points are read once more: the # before the last bucket, and # in it, are stored with their \
         positions",
        |t, r| {
            let [rank, _, _, before, _] = t.pass(t.passes() - 1);
            r.is(&[t.n(), t.k() - rank + before, rank - before])
        },
    ),
    ("The # neighbours are sorted by distance and position, by a bitonic network", |t, r| r.is(&[t.k()])),
    ("The k-th is at ~: no other keys are sorted", |t, r| {
        r.d(0, distance_of(t.sorted()[t.k() as usize - 1]))
    }),
    ("The selection is done: the k-th was known after # passes", |t, r| r.is(&[t.passes() as u64])),
    ("# distances were read; a search with a buffer reads each of # points once", |t, r| {
        // A pass reads all points until the remaining ones are compacted, which reads them once more; at the
        // end all are read.
        let mut source = t.n();
        let reads = t.recording.steps().iter().scan(0, |pass, step| {
            *pass += usize::from(matches!(step.radix_select(), Some(RadixSelectStep::Counted { .. })));
            Some((*pass, step))
        });
        let reads: u64 = reads
            .map(|(pass, step)| match step {
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Counted { .. })) => source,
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Narrowed)) => {
                    std::mem::replace(&mut source, t.pass(pass - 1)[4])
                }
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Gathered { .. })) => t.n(),
                _ => 0,
            })
            .sum();
        r.is(&[reads, t.n()])
    }),
    // Per-thread heaps.
    ("Each of the # lanes has its own query and a heap of # keys, the largest at the root", |t, r| {
        r.is(&[t.w(), t.k()])
    }),
    (
        "Every lane computes the squared distance of the same point, #, to its own query; the smallest is \
         ~, in lane #",
        |t, r| {
            let heaps = t.heap();
            let lane = (0..heaps.distances.len())
                .min_by(|&a, &b| heaps.distances[a].total_cmp(&heaps.distances[b]))
                .unwrap();
            let own = distance_of(t.keys[r.n(0) as usize]) == heaps.distances[0];
            r.n(0) == u64::from(heaps.point.unwrap())
                && own
                && r.d(1, heaps.distances[lane])
                && r.n(2) == lane as u64
        },
    ),
    (
        "@ [has|have] a distance below [its|their] own root: the root drops out, and the new key sinks from \
         there",
        |t, r| {
            let heaps = t.before.heaps().unwrap();
            r.m(0)
                == (0..t.shape().width)
                    .filter(|&lane| heaps.distances[lane as usize] < distance_of(heaps.root(lane)))
                    .fold(0, |mask, lane| mask | 1 << lane)
        },
    ),
    ("The other # lanes are masked out: they wait until this is done", |t, r| {
        r.is(&[t.w() - u64::from(t.heap().inserting.unwrap().count_ones())])
    }),
    (
        "Round #: [in @ the larger child rises, and the key sinks by a level|][; |][in @ no child is larger \
         than the key: it stays|]",
        |t, r| {
            let Some(Step::Own(SpecificStep::Heap(HeapStep::Sank { lanes, moved }))) = &t.step else {
                return false;
            };
            let sinks = moved.iter().fold(0, |mask, slot| mask | 1 << slot.lane);
            let said = (1..r.len()).fold(0, |mask, at| mask | r.m(at));
            r.n(0) == u64::from(t.heap().rounds) && said == *lanes && (sinks == 0 || r.m(1) == sinks)
        },
    ),
    ("# of # lanes wait[s|]", |t, r| {
        let Some(Step::Own(SpecificStep::Heap(HeapStep::Sank { lanes, .. }))) = &t.step else { return false };
        r.is(&[t.w() - u64::from(lanes.count_ones()), t.w()])
    }),
    (
        "All lanes reconverge: # lane[s|] inserted in # round[s|] of sinking, and [none waited|# waited]",
        |t, r| {
            let Some(Step::Own(SpecificStep::Heap(HeapStep::Rejoined { lanes }))) = &t.step else {
                return false;
            };
            let inserted = u64::from(lanes.count_ones());
            r.n(0) == inserted
                && r.n(1) == u64::from(t.heap().rounds)
                && (if r.len() > 2 { r.n(2) } else { 0 }) == t.w() - inserted
        },
    ),
    ("Lane #'s heap is not full yet", |t, r| r.is(&[0]) && (t.now.neighbours().count() as u64) < t.k()),
    ("Lane #'s k-th is at ~ now", |t, r| {
        let mut met = t.keys[..=t.heap().point.unwrap() as usize].to_vec();
        met.sort_unstable();
        r.n(0) == 0 && r.d(1, distance_of(met[t.k() as usize - 1]))
    }),
    ("Lane # only waited", |t, r| r.is(&[0]) && t.heap().inserting.unwrap() & 1 == 0),
    (
        "In every lane the root, the largest key, swaps with the last, entry #, whose key sinks from the \
         root",
        |t, r| r.is(&[t.k() - 1]),
    ),
    (
        "The largest of the first # is at the root: it swaps with entry #, whose key sinks from the root",
        |t, r| {
            let Some(Step::Own(SpecificStep::Heap(HeapStep::Extracted { end }))) = t.step else {
                return false;
            };
            let first = &t.before.heaps().unwrap().lane_keys(0)[..end as usize];
            r.is(&[end.into(), u64::from(end) - 1]) && first.iter().max() == first.first()
        },
    ),
    ("The search is done: # queries are answered", |t, r| r.is(&[t.w()])),
    (
        "The warp stopped to insert at # of # points; lane # inserted at # of these, and waited at the \
         others",
        |t, r| {
            let stops = |lanes: u32| {
                t.recording
                    .steps()
                    .iter()
                    .filter(|step| {
                        matches!(step.heap(), Some(HeapStep::Branched { lanes: mask }) if mask & lanes != 0)
                    })
                    .count() as u64
            };
            r.is(&[stops(u32::MAX), t.n(), 0, stops(1)])
        },
    ),
    // The map.
    ("# points, in the plane", |t, r| r.is(&[t.n()])),
    ("intermediate result: # of #", |t, r| r.is(&[t.known(), t.k()])),
    ("# in the buffer", |t, r| r.is(&[t.search.buffer.len() as u64])),
    ("# accepted now", |t, r| r.is(&[t.divided()[0]])),
    ("# rejected", |t, r| r.is(&[t.divided()[1]])),
    ("# of the intermediate result", |t, r| r.is(&[t.search.nearest.len() as u64])),
    ("# of # in the warp's queue", |t, r| {
        r.is(&[t.now.registers[..t.k() as usize].iter().filter(|&&key| key != PADDING).count() as u64, t.k()])
    }),
    ("# in the lanes' queues", |t, r| {
        r.is(&[t.now.queues().map_or(0, |queues| queues.keys.iter().filter(|&&key| key != PADDING).count())
            as u64])
    }),
    ("# inserted; paler: dropped", |t, r| r.is(&[u64::from(t.search.votes.count_ones())])),
    ("# not inserted", |t, r| r.is(&[t.w() - u64::from(t.search.votes.count_ones())])),
    ("# of # in lane #'s heap", |t, r| r.is(&[t.now.neighbours().count() as u64, t.k(), 0])),
    ("# nearest", |t, r| r.is(&[t.now.neighbours().count() as u64])),
    ("# known neighbours", |t, r| {
        r.is(&[if t.now.buckets().is_some() && t.passes() > 0 {
            let [rank, _, _, before, _] = t.pass(t.passes() - 1);
            t.k() - rank + before
        } else {
            0
        }])
    }),
    ("# left", |t, r| r.is(&[t.pass(t.passes() - 1)[4]])),
    ("Circle: \u{221a}max_distance = \u{221a}~", |t, r| {
        r.d(
            0,
            if t.words(|step| matches!(step, Step::MaxDistance { .. })) {
                t.bound()
            } else {
                t.now.max_distance
            },
        ) && t.now.max_distance == t.bound()
    }),
    ("Circle: through lane #'s k-th, squared distance ~", |t, r| r.n(0) == 0 && r.d(1, t.kth())),
    ("Circle: through the k-th, squared distance ~[ before this merge|]", |t, r| r.d(0, t.now.max_distance)),
    ("Rings: squared distances ~ and ~; the points left are between", |t, r| {
        let (low, high) = t.now.buckets().unwrap().range(t.passes());
        let left =
            t.keys.iter().filter(|&&key| (low..=high).contains(&distance_of(key).to_bits())).count() as u64;
        r.d(0, f32::from_bits(low)) && r.d(1, f32::from_bits(high)) && left == t.pass(t.passes() - 1)[4]
    }),
    // The warp, the buffer and the network.
    ("Warp: # lanes[, one register each| \u{d7} # registers]", |t, r| {
        r.n(0) == t.w() && (r.len() < 2 || r.n(1) == t.all() / t.w()) && (r.len() > 1 || t.all() == t.w())
    }),
    ("Buffer: # of # slots taken", |t, r| r.is(&[t.search.buffer.len() as u64, t.all()])),
    ("r#", |t, r| r.n(0) < u64::from(t.shape().registers)),
    ("# on", |t, r| r.n(0) < t.all()),
    ("lane ^ #", |t, r| r.is(&[t.layer()[1] / u64::from(t.shape().registers)])),
    ("size #", |t, r| r.n(0).is_power_of_two() && r.n(0) <= t.all()),
    ("stride #", |t, r| r.n(0).is_power_of_two() && r.n(0) < t.all()),
    ("runs of #: sorted, alternately up and down", |t, r| r.is(&[t.layer()[0]])),
    ("Bright: the # pair[s|] that swapped", |t, r| r.is(&[t.search.swapped])),
    ("Marked: element k\u{2212}#, whose distance is the new max_distance", |t, r| {
        r.is(&[1]) && t.kth() == t.now.max_distance
    }),
    ("Bitonic [sort|re-sort] of # keys, [not running|about to begin]: # layers of # comparators", |t, r| {
        r.n(0) == t.all() && t.layers().contains(&r.n(1)) && r.n(2) == t.all() / 2
    }),
    ("Bitonic [sort|re-sort] of # keys: layer # of #, size #, stride #", |t, r| {
        let (all, total, [size, stride]) = (t.all(), r.n(2), [r.n(3), r.n(4)]);
        let at = if total == t.layers()[0] && total != t.layers()[1] {
            (1..=size.ilog2()).sum::<u32>() - stride.ilog2()
        } else {
            all.ilog2() - stride.ilog2()
        };
        r.n(0) == all && r.n(1) == u64::from(at) && (t.layer() == [0, 0] || t.layer() == [size, stride])
    }),
    ("The intermediate result, # keys, before the next merge", |t, r| r.is(&[t.all()])),
    ("Candidates and intermediate result: two lists of # keys", |t, r| r.is(&[t.all()])),
    ("Candidate i against element # \u{2212} i of the intermediate result", |t, r| r.is(&[t.all() - 1])),
    (
        "[It rises up to element #, then falls: it is bitonic|One rises, the other falls: they cross once, \
         between elements # and #]",
        |t, r| {
            let kept = &t.now.registers;
            let peak = if t.words(|step| matches!(step, Step::Minimum { .. })) {
                kept.iter().position(|key| !t.before.registers.contains(key)).unwrap()
            } else {
                // The candidates ascend in the registers, the intermediate result in the buffer.
                let mut other: Vec<Key> = t.now.buffer.clone();
                other.sort_unstable();
                (0..kept.len()).position(|at| other[kept.len() - 1 - at] < kept[at]).unwrap()
            };
            if r.len() == 1 { r.n(0) == peak as u64 - 1 } else { r.is(&[peak as u64 - 1, peak as u64]) }
        },
    ),
    ("Re-sort: layer # of #, stride #", |t, r| {
        r.is(&[t.layers()[1] - u64::from(t.layer()[1].ilog2()), t.layers()[1], t.layer()[1]])
    }),
    ("# pair[s|] swapped", |t, r| r.is(&[t.swaps()])),
    ("Every block of # is bitonic, and no key in it is larger than any in the next", |t, r| {
        let stride = t.layer()[1];
        let blocks: Vec<&[Key]> = t.now.registers.chunks(stride as usize).collect();
        r.is(&[stride]) && blocks.windows(2).all(|pair| pair[0].iter().max() <= pair[1].iter().min())
    }),
    ("max_distance ~", |t, r| r.d(0, t.bound())),
    // The ballot.
    ("Ballot of [points # to #|leaf #]: %, the last digit is lanes # to #", |t, r| {
        let points = r.len() == 4 || r.n(0) == t.group()[0] && r.n(1) == t.group()[1];
        let votes = t.search.votes;
        points && r.x(r.len() - 3) == votes && r.n(r.len() - 2) == 0 && r.n(r.len() - 1) == 3
    }),
    ("Ballot: [points # to #|leaf #], not voted yet; max_distance ~", |t, r| {
        (r.len() < 3 || r.n(0) == t.group()[0] && r.n(1) == t.group()[1])
            && r.d(r.len() - 1, t.now.max_distance)
    }),
    ("lane #: popcount(% & %) = #", |t, r| {
        let votes = t.search.votes;
        let below = (1u32 << r.n(0)) - 1;
        r.x(1) == votes && r.x(2) == below && r.n(3) == u64::from((votes & below).count_ones())
    }),
    ("slot = buffered + count = # + # = #[: no such slot, it waits|]", |t, r| {
        let lane = 31 - t.search.votes.leading_zeros();
        let below = u64::from((t.search.votes & ((1 << lane) - 1)).count_ones());
        r.n(1) == below && r.n(2) == r.n(0) + below && r.n(0) < t.all()
    }),
    // Batches, costs, the account.
    ("# batch[es|] of # points; none is in shared memory yet", |t, r| r.is(&[t.batches(), t.batch()])),
    ("[The batch is read|All # batches are read]: the last barrier is passed", |t, r| {
        if r.len() > 0 { r.is(&[t.batches()]) } else { t.batches() == 1 }
    }),
    (
        "Barrier: all of batch # has arrived in shared memory, so every warp of the block may read it",
        |t, r| r.is(&[u64::from(t.now.batch.unwrap().0) / t.batch() + 1]),
    ),
    ("Batch # of # is in shared memory: every warp of the block reads it for its own query", |t, r| {
        r.is(&[u64::from(t.now.batch.unwrap().0) / t.batch() + 1, t.batches()])
    }),
    ("batch #: in shared memory", |t, r| r.is(&[u64::from(t.now.batch.unwrap().0) / t.batch() + 1])),
    ("The block copies # points at a time, once for all of its warps", |t, r| r.is(&[t.batch()])),
    ("points # to #", |t, r| {
        r.n(0) < r.n(1) && r.n(1) < t.n() && (r.n(0), r.n(1) - r.n(0)) == (r.n(0) / t.w() * t.w(), t.w() - 1)
    }),
    ("One merge: # steps of all lanes", |t, r| r.is(&[t.steps()])),
    ("# candidate[s|]: ~ each", |t, r| r.0[1] == significant(t.steps() as f64 / r.n(0) as f64)),
    ("Steps so far, for # or # candidates", |t, r| {
        if t.now.batch.is_some() { r.is(&[t.one_by_one(), t.search.candidates]) } else { true }
    }),
    ("one by one: # \u{d7} # = #", |t, r| {
        r.n(1) == t.steps()
            && r.n(2) == r.n(0) * r.n(1)
            && (t.now.batch.is_none() || r.n(0) == t.one_by_one())
    }),
    ("when full: # \u{d7} # = #", |t, r| {
        r.n(1) == t.steps()
            && r.n(2) == r.n(0) * r.n(1)
            && (t.now.batch.is_none() || r.n(0) == t.search.merges)
    }),
    ("max_distance[, log scale|]: ~ now", |t, r| r.d(0, t.now.max_distance)),
    (
        "[Until answered is not divided: the # queries are answered together|thread per query, divided by #]",
        |t, r| r.is(&[t.w()]),
    ),
    ("all: #", |t, r| r.is(&[t.n()])),
    ("pass #: #", |t, r| [1, 4].map(|at| t.pass(r.n(0) as usize - 1)[at]).contains(&r.n(1))),
    ("Pass #: the #[st|nd|rd|th] digit, bits # to #; rank # of # is wanted", |t, r| {
        let (pass, bits) = (r.n(0) - 1, u64::from(t.shape().width.ilog2()));
        let [rank, of, ..] = t.pass(pass as usize);
        r.is(&[pass + 1, pass + 1, 30 - pass * bits, 31 - (pass + 1) * bits, rank, of])
    }),
    // Per-thread heaps, lanes of a tree, queues.
    (
        "Lane #'s heap: # of #; [# sorted|framed: the key that sinks|the root is its k-th, ~|the root is \
         still infinite]",
        |t, r| {
            let heaps = t.heap();
            let held = heaps.lane_keys(r.n(0) as u32).iter().filter(|&&key| key != PADDING).count() as u64;
            let more = r.len() < 4
                || r.0[3] == (t.k() - u64::from(heaps.end)).to_string()
                || r.d(3, distance_of(heaps.root(r.n(0) as u32)));
            r.n(1) == held && r.n(2) == t.k() && more
        },
    ),
    ("Lanes at work, last # step[s|]", |t, r| r.n(0) <= t.recording.len() as u64),
    ("Lanes: # queries, no point yet", |t, r| r.is(&[t.w()])),
    ("Lanes: no points left; the # heaps are being sorted", |t, r| r.is(&[t.w()])),
    ("Lanes: point #[ is inserted by # of #|, to # queries]", |t, r| {
        let heaps = t.heap();
        r.n(0) == u64::from(heaps.point.unwrap())
            && r.n(r.len() - 1) == t.w()
            && (r.len() < 3 || r.n(1) == u64::from(heaps.inserting.unwrap().count_ones()))
    }),
    ("Lane slots: # at work, # idle (#*", |t, r| {
        let work = t.recording.meter().unwrap().so_far(Strategy::ThreadPerQuery, &t.now);
        let (used, all) = (work.lane_slots(2), work.slots(2) * t.w());
        r.is(&[used, all - used])
            && (all == 0 || r.0[2] == format!("{:.0}", 100.0 * (all - used) as f64 / all as f64))
    }),
    ("lane # on top; pale: waits", |_, r| r.is(&[0])),
    ("Intermediate result: # of # found; the k-th is framed", |t, r| {
        let found = if t.now.batch.is_some() || t.now.descent().is_some() { t.known() } else { r.n(0) };
        r.is(&[found, t.k()])
    }),
    ("Lanes: the points of leaf #", |t, r| {
        r.is(&[u64::from(t.now.descent().unwrap().leaf.as_ref().unwrap().number)])
    }),
    ("Lanes: the children of [the root|node #]; the k-th neighbour is at ~", |t, r| {
        r.d(r.len() - 1, t.kth())
    }),
    ("Lanes: [no point|points # to #]; the k-th [is|was] at ~", |t, r| {
        (r.len() < 3 || r.n(0) == t.group()[0] && r.n(1) == t.group()[1])
            && r.d(r.len() - 1, t.now.max_distance)
    }),
    ("Lanes: points # to #; the k-th is not known yet", |t, r| {
        r.n(0) == t.group()[0] && r.n(1) == t.group()[1] && t.now.max_distance.is_infinite()
    }),
    // The progress.
    ("step # of # \u{b7} [before|in|after] [merge|pass|insertion] # of #", |t, r| {
        r.n(1) == t.recording.len() as u64 && r.n(3) == t.recording.merges() as u64 && r.n(2) <= r.n(3).max(1)
    }),
];

/// The paragraphs' sentences with numbers.
static PARAGRAPHS: &[Row] = &[
    ("Which # of these # points are nearest to the query, *", |t, r| r.is(&[t.k(), t.n()])),
    ("Each of # threads searches for its own query", |t, r| r.is(&[t.w()])),
    ("# lanes hold one key each", |t, r| r.is(&[t.w()]) && t.w() == t.all()),
    ("There are # keys, but only # lanes", |t, r| r.is(&[t.all(), t.w()])),
    ("Two sorted lists of # keys: can their # smallest *", |t, r| r.is(&[t.all(), t.all()])),
    ("How few of these # points have to be sorted to find the # nearest?", |t, r| r.is(&[t.n(), t.k()])),
    ("The same # points in another order have the same neighbours", |t, r| r.is(&[t.n()])),
    ("How many of these # points come close enough *", |t, r| r.is(&[t.n()])),
    ("Can the # smallest of # distances *", |t, r| r.is(&[t.k(), t.n()])),
    ("Among # points we want the # nearest to the query", |t, r| r.is(&[t.n(), t.k()])),
    (
        "Sorting all points by distance would find them, but would also order # points that are not \
         neighbours",
        |t, r| r.is(&[t.n() - t.k()]),
    ),
    ("It is enough to keep the # nearest of the points seen so far: the intermediate result", |t, r| {
        r.is(&[t.k()])
    }),
    ("When the buffer is full, a merge keeps the # nearest of both: *", |t, r| r.is(&[t.k()])),
    ("Keep the # nearest so far, and *", |t, r| r.is(&[t.k()])),
    (
        "One thread finds the # nearest with a heap: a tree of # keys with the largest, the k-th so far, at \
         its root",
        |t, r| r.is(&[t.k(), t.k()]),
    ),
    ("A warp is # threads, its lanes, *", |t, r| r.is(&[t.w()])),
    (
        "When all # slots are taken, the buffer is merged with the intermediate result, the # nearest so \
         far, and max_distance falls",
        |t, r| r.is(&[t.all(), t.all()]),
    ),
    (
        "A merge sorts the # candidates in # layers of comparisons, compares each with its counterpart in \
         the intermediate result, and needs # layers to restore the order: # steps, *",
        |t, r| r.is(&[t.all(), t.layers()[0], t.layers()[1], t.steps()]),
    ),
    ("It takes as many for a single candidate as for #", |t, r| r.is(&[t.all()])),
    ("Sort # keys with # lanes, and see which layers need no shuffle", |t, r| r.is(&[t.all(), t.w()])),
    ("To sort # keys with # lanes, every lane holds R = # consecutive keys", |t, r| {
        r.is(&[t.all(), t.w(), t.shape().registers.into()])
    }),
    (
        "The lane number alone decides which, never the data: ascending order where L & size is #, \
         descending order elsewhere",
        |_, r| r.is(&[0]),
    ),
    (
        "Small strides are the most frequent: of the # layers for # keys, # need no shuffle with R = #",
        |t, r| r.is(&[t.layers()[0], t.all(), t.inside(), t.shape().registers.into()]),
    ),
    ("Take the # smallest keys of two sorted lists in one step", |t, r| r.is(&[t.all()])),
    ("The candidates, sorted, and the intermediate result are two rising lists of # keys", |t, r| {
        r.is(&[t.all()])
    }),
    (
        "Read backwards, the intermediate result falls: candidate i is compared with its element # \u{2212} \
         i, and the smaller stays",
        |t, r| r.is(&[t.all() - 1]),
    ),
    (
        "It is bitonic, and holds exactly the # smallest of all # keys: each dropped key is the largest of #",
        |t, r| r.is(&[t.all(), 2 * t.all(), t.all() + 1]),
    ),
    (
        "A bitonic list needs no full sort: # layers, with strides from # down to #, put it in order",
        |t, r| r.is(&[t.layers()[1], t.all() / 2, 1]),
    ),
    (
        "Compare one list with the other in reverse: the minima are the # smallest keys, and they are \
         bitonic",
        |t, r| r.is(&[t.all()]),
    ),
    (
        "In random order the i-th point is a candidate with a probability of at most (k + K) / i, so there \
         are at most about # + # ln(n / 2k) merges where k = K, on average",
        |t, r| {
            let bound = crate::knn::theory::expected_merges(t.n() as usize, t.k() as usize, t.all() as usize);
            let about = 3.0 + 2.0 * (t.n() as f64 / (2 * t.k()) as f64).ln();
            r.is(&[3, 2]) && bound <= about + 0.5 && t.k() == t.all()
        },
    ),
    ("*every # of them form a leaf with a bounding box, and every # boxes form a node", |t, r| {
        r.is(&[32, 32]) && t.w() == 32
    }),
    ("One queue of # can force a merge of all; a shared buffer waits until it is full", |t, r| {
        r.is(&[t.w()])
    }),
    ("So a first digit, here of # bits, puts every point into one of # buckets", |t, r| {
        r.is(&[t.w().ilog2().into(), t.w()])
    }),
];

/// A text's sentences that have a number, without the full stops.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let has = |text: &&str| text.chars().any(|c| c.is_ascii_digit());
    text.split(". ").map(|sentence| sentence.trim_end_matches('.')).filter(has)
}

/// Checks the account: a name is drawn before its number.
fn account(texts: &[String], t: &ReferenceMoment, wrong: &mut Vec<String>) {
    let search = &t.search;
    let rows = [
        ("points seen", u64::from(search.seen)),
        ("candidates", search.candidates),
        ("merges", search.merges),
        ("compare-exchanges", search.layers * t.all() / 2),
        ("shuffles", search.shuffles),
    ];
    let (n, k, capacity) = (search.seen as usize, t.k() as usize, t.all() as usize);
    for (name, value) in rows {
        let at = texts.iter().position(|text| text == name).unwrap();
        if texts[at + 1].replace(',', "") != value.to_string() {
            wrong.push(format!("account: {name} {}, not {value}", texts[at + 1]));
        }
    }
    if n > 0 {
        let bound = crate::knn::theory::expected_candidates(n, k, capacity);
        let at = texts.iter().position(|text| text == "candidates").unwrap();
        if texts[at + 2].replace(',', "") != (bound.round() as u64).to_string() {
            wrong.push(format!("account: candidates expected {}, not {bound}", texts[at + 2]));
        }
    }
}

/// Checks the dots of the map: of seen points, and of the last vote.
fn dots(shapes: &[Drawn], t: &ReferenceMoment, wrong: &mut Vec<String>) {
    // A lens draws its part of the plane once more, and a legend has dots, too.
    let plane = shapes.split(|shape| matches!(shape, Drawn::Clip(_))).nth(1).unwrap();
    let drawn = |is: &dyn Fn(&Drawn) -> bool| {
        plane
            .iter()
            .filter(|shape| is(shape))
            .map(|shape| if let Drawn::Dots { centers, .. } = shape { centers.len() } else { 0 })
            .sum::<usize>() as u64
    };
    let seen = drawn(&|shape| {
        matches!(
            shape,
            Drawn::Dots { fill: Some(fill), .. } if fill.ink == Ink::Point && fill.opacity == 1.0
        )
    });
    if seen != u64::from(t.search.seen) {
        wrong.push(format!("map: {seen} points are drawn as seen, and {} are", t.search.seen));
    }
    if !matches!(t.now.stage, super::super::state::Stage::Sort | super::super::state::Stage::Merge)
        && t.now.group.is_some()
        && !t.words(|step| matches!(step, Step::Group { .. }))
    {
        let rejected = drawn(&|shape| {
            matches!(
                shape,
                Drawn::Dots { line: Some(line), fill: Some(_), .. } if line.paint.ink == Ink::Rejected
            )
        });
        let accepted = drawn(&|shape| {
            matches!(
                shape,
                Drawn::Dots { line: Some(line), fill: Some(fill), .. }
                    if fill.ink == Ink::Candidate && line.paint.ink == Ink::Canvas
            )
        });
        let [inside, outside] = t.divided();
        if t.search.asked != 0 && (accepted, rejected) != (inside, outside) {
            wrong.push(format!(
                "map: {accepted} dots are drawn as accepted and {rejected} as rejected, and {inside} and \
                 {outside} are"
            ));
        }
    }
}

/// Checks a sentence with the rows; returns what is wrong with it.
fn judge(
    rows: &[Row],
    sentence: &str,
    t: &ReferenceMoment,
    known: &mut HashMap<String, usize>,
) -> Option<&'static str> {
    let skeleton: String = sentence.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let mut found = Vec::new();
    let at = match known.get(&skeleton).copied().filter(|&at| read(rows[at].0, sentence, &mut found)) {
        Some(at) => at,
        None => {
            found.clear();
            let Some(at) = (0..rows.len()).find(|&at| {
                found.clear();
                read(rows[at].0, sentence, &mut found)
            }) else {
                return Some("no row reads it");
            };
            known.insert(skeleton, at);
            at
        }
    };
    // A row may unwrap data that the moment does not have.
    let judged =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (rows[at].1)(t, &TemplateValues(found))));
    match judged {
        Ok(true) => None,
        Ok(false) => Some("it is false"),
        Err(_) => Some("it is about another search"),
    }
}

#[test]
fn numbers_in_sentences_are_correct() {
    let (mut known, mut said, mut wrong) = (HashMap::new(), 0u64, Vec::new());
    for lesson in &LESSONS {
        for take in lesson.record(Overrides::default(), &NoProgress).unwrap() {
            let recording = take.recording.clone();
            let (problem, shape) = (recording.problem(), recording.shape());
            let keys: Vec<Key> = (0..)
                .zip(distances_to(problem, recording.query(), 0..problem.n()))
                .map(|(at, distance)| key_of(distance, at))
                .collect();
            // The k nearest so far, point by point.
            let (mut nearest, mut one_by_one) = (Vec::<Key>::new(), Vec::new());
            for &key in &keys {
                if nearest.len() < shape.k as usize
                    || distance_of(key) < distance_of(nearest[shape.k as usize - 1])
                {
                    one_by_one.push(index_of(key));
                    nearest.insert(nearest.partition_point(|&other| other < key), key);
                    nearest.truncate(shape.k as usize);
                }
            }
            let mut cursor = Cursor::new(recording.clone());
            let start = cursor.state().clone();
            let mut truth = ReferenceMoment {
                recording: recording.clone(),
                step: None,
                before: start.clone(),
                now: start,
                keys,
                search: ReferenceSearch::default(),
                last: ReferenceSearch::default(),
                one_by_one,
            };
            let kernel = matches!(recording.baseline(), Baseline::Kernel(_));
            for position in 0..=recording.len() {
                truth.before = cursor.state().clone();
                cursor.seek(position);
                truth.now = cursor.state().clone();
                truth.last = truth.search.clone();
                truth.step = cursor.step().map(std::borrow::Cow::into_owned);
                if let Some(step) = &truth.step {
                    truth.search.follow(step, &truth.keys, shape);
                    if let Step::Layer { .. } = step {
                        truth.search.swapped = truth.swaps();
                    }
                }
                let view = View::new(&cursor, 14.0);
                let mut texts = vec![step_sentence(&cursor), page::progress(&view)];
                texts.extend(badge(&recording, position, cursor.state()).map(|badge| badge.text));
                let mut here = Vec::new();
                for (_, panel) in Panel::NAMED.into_iter().filter(|(_, panel)| *panel != Panel::Code) {
                    let scene = draw(panel, &view, [1600.0, 1200.0]);
                    let words: Vec<String> = scene
                        .shapes
                        .iter()
                        .filter_map(|shape| {
                            if let Drawn::Text { text, .. } = shape { Some(text.clone()) } else { None }
                        })
                        .collect();
                    match panel {
                        Panel::Account if kernel => account(&words, &truth, &mut here),
                        Panel::Cloud if kernel => dots(&scene.shapes, &truth, &mut here),
                        _ => {}
                    }
                    // Ticks, and keys in cells, are bare numbers.
                    texts.extend(words.into_iter().filter(|text| {
                        text.parse::<f64>().is_err() && text.chars().any(char::is_alphabetic)
                    }));
                }
                for sentence in texts.iter().flat_map(|text| sentences(text)) {
                    said += 1;
                    here.extend(
                        judge(ROWS, sentence, &truth, &mut known).map(|why| format!("{why}: {sentence}")),
                    );
                }
                wrong.extend(here.into_iter().map(|what| {
                    format!("lesson {}, {}, step {position}: {what}", lesson.id, take.arrangement.name())
                }));
            }
            for text in [lesson.goal, lesson.opening, lesson.paragraph, lesson.summary] {
                let text = lesson.fill_in(text, shape);
                let mut known = HashMap::new();
                let judged = sentences(&text).filter_map(|sentence| {
                    judge(PARAGRAPHS, sentence, &truth, &mut known)
                        .map(|why| format!("lesson {}: {why}: {sentence}", lesson.id))
                });
                wrong.extend(judged);
            }
        }
    }
    let shown: Vec<&str> = wrong.iter().map(String::as_str).take(60).collect();
    assert!(wrong.is_empty(), "{} of {said} sentences:\n{}", wrong.len(), shown.join("\n"));
    assert!(said > 100_000, "{said} sentences were read");
}

/// A sentence without a row is found.
#[test]
fn unmatched_sentences_are_detected() {
    let read = |template: &str, text: &str| {
        let mut found = Vec::new();
        read(template, text, &mut found).then_some(found)
    };
    assert_eq!(read("# of # lanes wait[s|]", "1 of 8 lanes waits").unwrap(), ["1", "8"]);
    assert_eq!(
        read(
            "@ [is|are] closer than ~: ballot %",
            "Lanes 0 to 2, 5 and 7 are closer than 0.0123: ballot 0xa7"
        )
        .unwrap(),
        ["Lanes 0 to 2, 5 and 7", "0.0123", "0xa7"]
    );
    assert_eq!(
        read("[none|@ [is|are]] left, *", "all 32 lanes are left, in order").unwrap(),
        ["all 32 lanes"]
    );
    assert_eq!(read("# points", "12 points of 13"), None);
    let none = ROWS.iter().filter(|(template, _)| read(template, "There are 7 wonders").is_some()).count();
    assert_eq!(none, 0);
}
