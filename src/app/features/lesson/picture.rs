//! The lesson's picture: built when something changes, painted in every frame, with hit testing.

use std::sync::{Arc, Weak};

use egui::{Color32, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, vec2};

use super::drag::{DragTarget, PlacedMap, hint_ui, keys_ui, maps_ui};
use super::paint::{Animation, Placement, PreparedScene, fit};
use super::state::player::Player;
use super::state::quiz::{AnswerInput, Phase, Quiz};
use super::state::session::LessonSession;
use super::state::{LessonAction, QuizAction};
use super::words;
use crate::app::look::tokens;
use crate::app::model::Actions;
use crate::lesson::Recording;
use crate::lesson::algorithms::warp_select::state::striped_position;
use crate::lesson::feedback::subjects;
use crate::lesson::lessons::Take;
use crate::lesson::picture::page::{areas, columns, comparison, page};
use crate::lesson::picture::sentence::sentence;
use crate::lesson::picture::{Panel, Scene, Target, View};
use crate::lesson::questions::ClickTarget;
use crate::lesson::state::lanes_in;
use crate::palette::Palette;

/// Minimum layout size; in less room the picture is scaled down.
const MIN_SIZE: egui::Vec2 = vec2(960.0, 540.0);

#[derive(Default)]
pub struct LessonPicture {
    built: Option<CachedPicture>,
    motion: Option<Animation>,
    /// The target under the pointer, which is highlighted.
    hover: Option<Target>,
    /// The panel under the pointer.
    over: Option<Panel>,
    /// What is being dragged.
    held: Option<DragTarget>,
}

struct CachedPicture {
    key: PictureKey,
    scene: Scene,
    columns: Vec<Rect>,
    panels: Vec<(Panel, Rect)>,
    place: Placement,
    prepared: PreparedScene,
}

/// All inputs of a picture.
#[derive(Clone, Debug, PartialEq)]
struct PictureKey {
    recordings: Vec<RecordingId>,
    positions: Vec<usize>,
    active: usize,
    together: bool,
    hover: Option<Target>,
    asking: Vec<bool>,
    zoom: Option<Panel>,
    rect: Rect,
    text: f32,
    palette: usize,
}

impl PictureKey {
    /// Whether `self` is one step after `before`, in the same layout.
    fn is_next(&self, before: &Self, stepped_from: Option<usize>) -> bool {
        let asks = |asking: &[bool]| asking.iter().any(|asking| *asking);
        let is_step =
            stepped_from == Some(before.positions[before.active]) && self.positions != before.positions;
        is_step
            && !asks(&self.asking)
            && !asks(&before.asking)
            && *self == Self { positions: self.positions.clone(), hover: self.hover, ..before.clone() }
    }

    /// Whether only the hovered target differs.
    fn is_same_moment(&self, other: &Self) -> bool {
        *self == Self { hover: self.hover, ..other.clone() }
    }
}

/// Identity of a recording. The weak pointer keeps its address from being reused.
#[derive(Clone, Debug)]
struct RecordingId(Weak<Recording>);

impl RecordingId {
    fn new(recording: &Arc<Recording>) -> Self {
        Self(Arc::downgrade(recording))
    }
}

impl PartialEq for RecordingId {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl LessonPicture {
    /// The scene and its placement.
    pub fn shown(&self) -> Option<(&Scene, Placement)> {
        self.built.as_ref().map(|built| (&built.scene, built.place))
    }

    pub fn panel_under_pointer(&self) -> Option<Panel> {
        self.over
    }

    /// The largest visible panel, not counting the sentence.
    pub fn largest_panel(&self) -> Option<Panel> {
        let shown =
            self.built.iter().flat_map(|built| &built.panels).filter(|(panel, _)| *panel != Panel::Sentence);
        shown.max_by(|(_, a), (_, b)| a.area().total_cmp(&b.area())).map(|(panel, _)| *panel)
    }

    pub fn is_moving(&self) -> bool {
        self.motion.is_some()
    }

    fn update(&mut self, player: &Player, quiz: Option<&Quiz>, look: PictureOptions, rect: Rect, now: f64) {
        let PictureOptions { text, zoom, palette, .. } = look;
        let together = look.together && player.takes.len() > 1 && zoom.is_none();
        let asking = quiz.is_some_and(Quiz::is_asking);
        let key = PictureKey {
            recordings: player.takes.iter().map(|take| RecordingId::new(&take.recording)).collect(),
            positions: player.cursors().iter().map(|cursor| cursor.position()).collect(),
            active: player.active(),
            together,
            // While a question is open, hovering must not reveal the answer.
            hover: self.hover.filter(|_| !asking).or_else(|| quiz.and_then(Quiz::answered_about)),
            asking: (0..player.takes.len())
                .map(|take| asking || quiz.is_some_and(|quiz| quiz.hides_answer_of(take)))
                .collect(),
            zoom,
            rect,
            text,
            palette: std::ptr::from_ref(palette) as usize,
        };
        self.motion.take_if(|motion| motion.is_over(now));
        if self.built.as_ref().is_some_and(|built| built.key == key) {
            return;
        }
        let before = self.built.take();
        // The room's proportions, enlarged to the minimum layout size.
        let grow = (MIN_SIZE.x / rect.width()).max(MIN_SIZE.y / rect.height()).max(1.0);
        let size = [rect.width() * grow, rect.height() * grow];
        // When presenting, text keeps its size even if the picture is scaled down.
        let text = if look.presented { text * grow } else { text };
        let view = |at: usize| View {
            hover: key.hover,
            asking: key.asking[at],
            zoom,
            // A presented question is below the picture, in place of the sentence.
            sentence: !(look.presented && quiz.is_some()),
            ..View::new(&player.cursors()[at], text)
        };
        let (scene, panels, areas) = if together {
            let views: Vec<(&Take, View<'_>)> =
                player.takes.iter().enumerate().map(|(at, take)| (take, view(at))).collect();
            (comparison(player.lesson, &views, size), Vec::new(), columns(views.len(), text, size))
        } else {
            let view = view(player.active());
            (page(player.lesson, player.take(), &view, size), areas(player.lesson, &view, size), Vec::new())
        };
        let place = fit(size, rect);
        let columns = areas.into_iter().map(|area| place.rect(area)).collect();
        let panels = panels.into_iter().map(|(panel, area)| (panel, place.rect(area))).collect();
        // A new step ends the previous animation.
        self.motion = match (before, look.motion, self.motion.take()) {
            (Some(built), _, Some(motion)) if key.is_same_moment(&built.key) => {
                motion.anew(&scene, palette, place)
            }
            (Some(built), Some(seconds), _) if key.is_next(&built.key, player.stepped_from()) => {
                Animation::new(built.scene, &scene, palette, place, now, seconds)
            }
            _ => None,
        };
        self.built = Some(CachedPicture {
            prepared: PreparedScene::new(&scene, palette, place),
            key,
            scene,
            columns,
            panels,
            place,
        });
    }

    /// Paints the picture, and requests the next frame during an animation.
    fn paint(&self, ui: &Ui, palette: &Palette, rect: Rect, now: f64) {
        let Some(built) = &self.built else { return };
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        match &self.motion {
            Some(motion) => {
                motion.paint(&painter, palette, built.place, now);
                ui.ctx().request_repaint();
            }
            None => built.prepared.paint(&painter),
        }
    }
}

/// How to draw the picture.
#[derive(Clone, Copy)]
pub struct PictureOptions {
    /// Whether to show several takes side by side.
    pub together: bool,
    /// Size of running text.
    pub text: f32,
    /// Whether it is presented to a class.
    pub presented: bool,
    pub zoom: Option<Panel>,
    /// Colours inside the picture.
    pub palette: &'static Palette,
    /// Colours around it.
    pub tokens: &'static tokens::Palette,
    /// Whether to hint that query and points can be dragged.
    pub hints: bool,
    /// Duration of animations in seconds; `None` disables them.
    pub motion: Option<f64>,
}

pub fn picture_ui(
    ui: &mut Ui,
    picture: &mut LessonPicture,
    session: &LessonSession,
    player: &Player,
    look: PictureOptions,
    actions: &mut Actions,
) {
    let rect = ui.available_rect_before_wrap();
    // During a question the data must not change.
    let movable = session.quiz.is_none();
    let response = ui.allocate_rect(rect, if movable { Sense::click_and_drag() } else { Sense::click() });
    let sentence = sentence(player.cursor());
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Picture of the lesson");
        info.current_text_value = Some(sentence.clone());
        info
    });
    ui.painter().rect_filled(rect, 0.0, look.tokens.canvas);
    if rect.width() < 40.0 || rect.height() < 40.0 {
        return;
    }
    let asking = session.quiz.as_ref().filter(|quiz| quiz.is_asking());
    let mut held = picture.held.filter(|_| movable);
    let now = ui.input(|input| input.time);
    picture.update(player, session.quiz.as_ref(), look, rect, now);
    picture.paint(ui, look.palette, rect, now);
    let Some(built) = &picture.built else { return };
    if let Some(quiz) = asking {
        marks_ui(ui, &built.scene, built.place, quiz, player, look.tokens);
    }
    let target_at = |pointer: Pos2| built.scene.target_at(built.place.place(pointer));
    let on_key = movable && keys_ui(ui, &response, target_at, player.cursor(), &mut held, actions);
    let maps = if movable { shown_maps(built, player) } else { Vec::new() };
    let response = match maps_ui(ui, &maps, &mut held, actions) {
        Some(on_maps) => response | on_maps,
        None => response,
    };
    if let Some(first) = maps.first().filter(|_| look.hints) {
        hint_ui(ui, first.place.rect(first.map.area), look.tokens);
    }
    let pointed = response
        .hover_pos()
        .filter(|_| held.is_none())
        .and_then(|pointer| Some((pointer, built.scene.target_at(built.place.place(pointer))?)));
    let over = response
        .hover_pos()
        .and_then(|pointer| built.panels.iter().find(|(_, rect)| rect.contains(pointer)))
        .map(|(panel, _)| *panel);
    // The sentence is always visible and cannot be zoomed.
    let over = over.filter(|&panel| panel != Panel::Sentence);
    if response.double_clicked() && pointed.is_none() && (over.is_some() || look.zoom.is_some()) {
        actions.send(LessonAction::Zoom(over.filter(|_| look.zoom.is_none())));
    }
    let column = |pointer: Pos2| built.columns.iter().position(|column| column.contains(pointer));
    if response.clicked()
        && let Some(pointer) = response.interact_pointer_pos()
        && let Some(target) = built.scene.target_at(built.place.place(pointer))
    {
        click(target, column(pointer), asking.is_some(), player, actions);
    }
    if let Some((pointer, target)) = pointed {
        let at = column(pointer).unwrap_or(player.active());
        let leads = matches!(target, Target::Position(_) | Target::CodeLine(_)) || asking.is_some();
        if leads {
            ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
        }
        // The number of steps may be the answer.
        let tells = asking.is_none() || !matches!(target, Target::Position(_));
        if let Some(mut words) =
            player.cursors().get(at).filter(|_| tells).and_then(|cursor| words::about(target, cursor))
        {
            if on_key {
                words += "\nDrag it up or down to change it";
            }
            response.on_hover_text_at_pointer(words);
        }
    }
    let hover = pointed.map(|(_, target)| target).filter(|_| asking.is_none());
    picture.held = held;
    picture.over = over;
    if hover != picture.hover {
        picture.hover = hover;
        ui.ctx().request_repaint();
    }
}

/// The maps of a picture, with their recordings.
fn shown_maps<'a>(built: &'a CachedPicture, player: &'a Player) -> Vec<PlacedMap<'a>> {
    let take = |number: usize| if built.key.together { &player.takes[number] } else { player.take() };
    (built.scene.maps.iter().enumerate())
        .map(|(number, map)| PlacedMap { map, place: built.place, recording: &take(number).recording })
        .collect()
}

fn click(target: Target, column: Option<usize>, asking: bool, player: &Player, actions: &mut Actions) {
    let quiz = |action| LessonAction::Quiz(action);
    if asking {
        match target {
            Target::Lane(lane) => actions.send(quiz(QuizAction::ChooseLane(lane))),
            Target::Element(element) => {
                let (lane, _) = player.cursor().state().lane_and_register_of(element);
                actions.send(quiz(QuizAction::ChooseLane(lane)))
            }
            Target::Queued(element) => {
                let (lane, _) = striped_position(player.cursor().state().shape.width, element);
                actions.send(quiz(QuizAction::ChooseLane(lane)))
            }
            Target::Slot(slot) => actions.send(quiz(QuizAction::ChooseSlot(slot))),
            Target::CodeLine(line) => actions.send(LessonAction::Source(Some(Some(line)))),
            Target::Comparator(_) | Target::Point(_) | Target::Position(_) => {}
        }
        return;
    }
    if let Some(take) = column {
        actions.send(LessonAction::Choose(take));
    }
    match target {
        Target::Position(position) => actions.send(LessonAction::Seek(position)),
        Target::CodeLine(line) => actions.send(LessonAction::Source(Some(Some(line)))),
        _ => {}
    }
}

// Rings in the picture during a question, around its subject and around the answer.

/// Draws the rings.
pub fn marks_ui(
    ui: &Ui,
    scene: &Scene,
    place: Placement,
    quiz: &Quiz,
    player: &Player,
    palette: &tokens::Palette,
) {
    let painter = ui.painter();
    let ring = |target: Target, color: Color32, width: f32, grow: f32| {
        for rect in columns_of(
            scene.spots.iter().filter(|spot| spot.target == target).map(|spot| place.rect(spot.area)),
        ) {
            painter.rect_stroke(rect.expand(grow), 3.0, Stroke::new(width, color), StrokeKind::Outside);
        }
    };
    let (_, question) = quiz.question();
    for target in subjects(question, &player.take().recording) {
        ring(target, palette.query, 2.5, if matches!(target, Target::Lane(_)) { 1.0 } else { 0.0 });
    }
    match quiz.phase() {
        Phase::Asking(AnswerInput::Lanes { mask, at }) => {
            for lane in lanes_in(*mask) {
                ring(Target::Lane(lane), palette.accent, 3.0, 1.0);
            }
            ring(Target::Lane(*at), palette.text, 1.0, 4.0);
        }
        Phase::Asking(AnswerInput::Number(text)) => {
            let target = match quiz.pointed() {
                Some(ClickTarget::Slot) => text.parse().map(Target::Slot).ok(),
                Some(ClickTarget::Lane) => text.parse().map(Target::Lane).ok(),
                None => None,
            };
            if let Some(target) = target {
                ring(target, palette.accent, 3.0, 1.0);
            }
        }
        _ => {}
    }
}

/// Merges rectangles of cells that are stacked.
fn columns_of(cells: impl Iterator<Item = Rect>) -> Vec<Rect> {
    /// Rows farther apart are ringed separately.
    const GAP: f32 = 8.0;
    let mut columns: Vec<Rect> = Vec::new();
    for cell in cells {
        let above = columns.iter_mut().find(|column| {
            (column.left() - cell.left()).abs() < 1.0
                && (column.right() - cell.right()).abs() < 1.0
                && cell.expand(GAP).intersects(**column)
        });
        match above {
            Some(column) => *column = column.union(cell),
            None => columns.push(cell),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    #[test]
    fn equal_recordings_have_distinct_identities() {
        let take = crate::app::features::lesson::state::player::tests::player("sort").take().clone();
        let before = RecordingId::new(&take.recording);
        assert_eq!(before, RecordingId::new(&take.recording));
        let copy = Recording::clone(&take.recording);
        drop(take);
        assert!(before.0.upgrade().is_none(), "the recording is freed");
        assert_ne!(before, RecordingId::new(&Arc::new(copy)));
    }

    #[test]
    fn adjacent_cells_of_a_column_share_one_outline() {
        let cell = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), vec2(10.0, 8.0));
        let rings = columns_of(
            [cell(20.0, 0.0), cell(20.0, 9.0), cell(20.0, 18.0), cell(20.0, 80.0), cell(31.0, 9.0)]
                .into_iter(),
        );
        assert_eq!(
            rings,
            [Rect::from_min_max(pos2(20.0, 0.0), pos2(30.0, 26.0)), cell(20.0, 80.0), cell(31.0, 9.0)]
        );
    }
}
