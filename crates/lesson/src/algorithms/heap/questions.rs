//! Questions about per-thread heaps, with the answers that known misconceptions lead to.

use super::state::Heaps;
use super::{HeapBaseline, HeapStep};
use crate::algorithms::AlgorithmQuestions;
use crate::describe::{key, lanes};
use crate::engines::lockstep::{PADDING, distance_of};
use crate::print::{distances_from_lane_0, keys_from_lane_0};
use crate::questions::{Answer, Question, QuestionPicker, Reply, Topic};
use crate::recording::Recording;
use crate::state::{State, lanes_in};
use crate::step::Step;
use crate::text::{count, significant};

impl AlgorithmQuestions for HeapBaseline {
    fn question(&self, pick: &mut QuestionPicker<'_>) -> Option<Question> {
        let &mut QuestionPicker { recording, topic, at, before, .. } = pick;
        let heaps = before.heaps()?;
        let (width, step) = (heaps.width, recording.steps()[at].heap()?);
        Some(match (topic, step) {
            (Topic::Inserts, HeapStep::Branched { lanes: mask }) => {
                require_clear_answers(heaps)?;
                let first = distance_of(heaps.root(0));
                let shared = lanes_where(heaps, |_, distance| distance < first);
                let says = format!(
                    "These are the lanes whose distance is below lane 0's root, {}. Each lane compares with \
                     the root of its own heap.",
                    key(heaps.root(0))
                );
                let all = "Each lane decides for itself: only if the distance is below the lane's own root \
                           is the key among the k nearest so far."
                    .to_owned();
                let text = "Which lanes insert this point into their heap?".to_owned();
                pick.ask(0, text, Answer::Lanes(*mask))
                    .with_misconceptions([(Reply::Lanes(shared), says), (Reply::Lanes(heaps.all()), all)])
            }
            (Topic::Waits, HeapStep::Branched { lanes: mask }) => {
                require_clear_answers(heaps)?;
                // A lane that does not insert.
                let others: Vec<u32> = lanes_in(heaps.all() & !mask).collect();
                let lane = *pick.random.choose(&others)?;
                let (mine, root) =
                    (significant(heaps.distances[lane as usize].into()), key(heaps.root(lane)));
                let text = format!(
                    "Lane {lane} does not insert: its distance, {mine}, is not below its root, {root}. Does \
                     it have to wait before the next point?"
                );
                let says = if *mask == 0 {
                    "It would wait for a lane that inserts, but here no lane does: all lanes continue at \
                     once."
                        .to_owned()
                } else {
                    format!(
                        "A warp issues one instruction at a time: while {} inserted, lane {lane} was masked \
                         out until the warp reconverged.",
                        lanes(*mask, width)
                    )
                };
                let right = *mask != 0;
                pick.ask(lane, text, Answer::YesNo(right)).with_misconceptions([(Reply::YesNo(!right), says)])
            }
            (Topic::Rounds, HeapStep::Sank { lanes: mask, .. }) => {
                let own = rounds_of_lanes(recording, at, width);
                let needs: Vec<String> =
                    lanes_in(*mask).map(|lane| format!("lane {lane}: {}", own[lane as usize])).collect();
                let (right, sum) = (*own.iter().max()?, own.iter().sum::<u32>());
                let mean = (f64::from(sum) / f64::from(mask.count_ones())).round() as u32;
                let one_by_one = format!(
                    "That is the sum, as if lanes took turns. Their keys sink in the same rounds: the warp \
                     needs as many as the slowest lane, {right}."
                );
                let on_average = format!(
                    "That is what a lane needs on average. The warp continues when the slowest lane is \
                     done, after {right}."
                );
                let text = format!(
                    "Rounds that keys need to sink: {}. How many does the warp spend?",
                    needs.join(", ")
                );
                pick.ask(0, text, Answer::Number { right, within: 0 })
                    .with_range(1..=u32::MAX)
                    .with_misconceptions([
                        (Reply::Number(sum), one_by_one),
                        (Reply::Number(mean), on_average),
                    ])
            }
            (Topic::Idle, HeapStep::Sank { lanes: mask, .. }) => {
                let inserting = mask.count_ones();
                let own = rounds_of_lanes(recording, at, width);
                let rounds = *own.iter().max()?;
                let right = rounds * width - own.iter().sum::<u32>();
                let free = "Idle lanes cost as much as busy ones: an instruction is issued for the whole \
                            warp, and a masked lane wastes its slot."
                    .to_owned();
                let outside = format!(
                    "That counts only the {} without an insertion. Lanes whose key stops before the last \
                     round are idle from then on, too.",
                    count(u64::from(width - inserting), "lane", "lanes")
                );
                let needs: Vec<String> =
                    lanes_in(*mask).map(|lane| format!("lane {lane}: {}", own[lane as usize])).collect();
                let text = format!(
                    "The warp of {width} lanes spends {} of sinking: {} lane slots. Keys need {}. How many \
                     lane slots are idle?",
                    count(rounds.into(), "round", "rounds"),
                    rounds * width,
                    needs.join(", ")
                );
                let without = rounds * (width - inserting);
                pick.ask(0, text, Answer::Number { right, within: 0 })
                    .with_range(0..=rounds * width)
                    .with_misconceptions([(Reply::Number(0), free), (Reply::Number(without), outside)])
            }
            _ => return None,
        })
    }

    fn suits(&self, topic: Topic, at: usize, recording: &Recording) -> bool {
        let (steps, width) = (recording.steps(), recording.shape().width);
        match (topic, steps[at].heap()) {
            (Topic::Inserts, Some(HeapStep::Branched { lanes })) => *lanes != 0 && lanes.count_ones() < width,
            (Topic::Waits, Some(HeapStep::Branched { lanes })) => lanes.count_ones() < width,
            (Topic::Rounds | Topic::Idle, Some(HeapStep::Sank { lanes, .. })) => {
                // The first round of an insertion whose lanes need different numbers of rounds.
                let begins = matches!(steps[at - 1].heap(), Some(HeapStep::Branched { .. }));
                let own = rounds_of_lanes(recording, at, width);
                let needs: Vec<u32> = lanes_in(*lanes).map(|lane| own[lane as usize]).collect();
                begins
                    && lanes.count_ones() < width
                    && needs.len() > 1
                    && needs.len() < 7
                    && needs.iter().any(|&needed| needed != needs[0])
            }
            _ => false,
        }
    }

    fn is_yes(&self, step: &Step) -> bool {
        !matches!(step.heap(), Some(HeapStep::Branched { lanes: 0 }))
    }

    fn printed_data(&self, topic: Topic, step: &Step, state: &State) -> String {
        match (topic, step.heap()) {
            (Topic::Inserts | Topic::Waits, Some(HeapStep::OwnDistances { distances, .. })) => {
                let roots = state
                    .heaps()
                    .map_or_else(Vec::new, |heaps| (0..heaps.width).map(|lane| heaps.root(lane)).collect());
                distances_from_lane_0(distances) + &keys_from_lane_0("Roots of the heaps", &roots)
            }
            _ => String::new(),
        }
    }

    fn why(&self, question: &Question, recording: &Recording) -> Option<String> {
        if question.topic != Topic::Rounds {
            return None;
        }
        let own = rounds_of_lanes(recording, question.at, recording.shape().width);
        let needs: Vec<String> = own.iter().filter(|&&rounds| rounds > 0).map(u32::to_string).collect();
        Some(format!("The slowest lane decides: max({}) = {}.", needs.join(", "), own.iter().max()?))
    }
}

/// The number of sinking rounds that each lane takes part in, from a position on.
pub fn rounds_of_lanes(recording: &Recording, first: usize, width: u32) -> Vec<u32> {
    let mut rounds = vec![0; width as usize];
    for step in &recording.steps()[first..] {
        let Some(HeapStep::Sank { lanes, .. }) = step.heap() else { break };
        lanes_in(*lanes).for_each(|lane| rounds[lane as usize] += 1);
    }
    rounds
}

/// `None` if a lane's answer is not clear at the displayed precision.
fn require_clear_answers(heaps: &Heaps) -> Option<()> {
    let close = |lane: u32, distance: f32| {
        heaps.root(lane) != PADDING && significant(distance.into()) == key(heaps.root(lane))
    };
    (lanes_where(heaps, close) == 0).then_some(())
}

fn lanes_where(heaps: &Heaps, is: impl Fn(u32, f32) -> bool) -> u32 {
    (0..)
        .zip(&heaps.distances)
        .filter(|&(lane, &distance)| is(lane, distance))
        .fold(0, |mask, (lane, _)| mask | 1 << lane)
}
