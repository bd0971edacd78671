// Keys, touch, hooks for tests, and the start.

const KEYS = {
  " ": DO.play,
  ArrowLeft: DO.back,
  PageUp: DO.back,
  ArrowRight: DO.on,
  PageDown: DO.on,
  "Shift+ArrowLeft": () => jump(take().merges, false),
  "Shift+ArrowRight": () => jump(take().merges, true),
  ArrowUp: () => setSpeed(1),
  ArrowDown: () => setSpeed(-1),
  Home: DO.start,
  End: DO.end,
  z: () => zoom(document.querySelector(".zoomed") ?? document.querySelector("figure:hover") ?? panels[0].box),
};
for (const [letter, moments] of [["b", () => take().hits], ["s", stages], ["m", () => take().changes]]) {
  KEYS[letter] = () => jump(moments(), true);
  KEYS[`Shift+${letter}`] = () => jump(moments(), false);
}
LEVELS.forEach((_, level) => (KEYS[level + 1] = () => setLevel(level)));
const ALWAYS = { p: () => ask(), F5: () => present(), Escape: leave };

function leave() {
  if (document.querySelector(".zoomed")) zoom(document.querySelector(".zoomed"));
  else if (document.body.classList.contains("presenting")) present(false);
  else leaveQuiz();
}

function keyed(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const onButton = event.target.closest("button, summary, select");
  // Leave keys to form controls that use them.
  if (event.target.matches("select") || (onButton && (name === " " || name === "Enter"))) return;
  if (event.target.matches("#ask input") && name.length === 1 && name !== "p") return;
  const act = ALWAYS[name] ?? (state.quiz ? quizKey(name) : KEYS[(event.shiftKey ? "Shift+" : "") + name]);
  if (!act) return;
  event.preventDefault();
  act();
}

// The action of a key while a question is open.
function quizKey(name) {
  const { quiz } = state;
  if (quiz.done) return null;
  if (quiz.reply !== null) return name === "Enter" ? nextQuestion : null;
  const yes = { y: true, n: false }[name];
  if (yes !== undefined && kindOf(open()) === "yesno") return () => say(yes);
  const place = "abcd".includes(name) ? "abcd".indexOf(name) : "1234".indexOf(name);
  if (place >= 0 && kindOf(open()) === "choice") return () => pick(place);
  return name === "Enter" ? answer : null;
}

let touched = null;

function swiped(event) {
  if (!touched || event.touches.length > 0 || state.quiz) return;
  const [dx, dy] = [event.changedTouches[0].clientX - touched.clientX, event.changedTouches[0].clientY - touched.clientY];
  if (Math.abs(dx) < 40 || Math.abs(dx) < 2 * Math.abs(dy)) return;
  DO[dx < 0 ? "on" : "back"]();
}

// ---- For tests (scripts/check-lesson-page).

window.lessonState = () => {
  const shown = panels.filter((panel) => !panel.box.hidden);
  const drawn = shown.map(({ svg: { children } }) => [...children].slice(1).map(readBack));
  const hashes = drawn.map((rows) => hash(rows.join("")));
  const [sentence, badge] = [$("sentence").textContent, $("badge").textContent];
  const check = hash(hashes.map((number) => `${number}\n`).join("") + sentence + badge);
  return { take: state.take, moment: state.at, step: take().at[state.at], level: LEVELS[state.level], sentence, badge, shapes: drawn.map((rows) => rows.length), check };
};
window.lessonGo = (number, at) => {
  leaveQuiz();
  if (number !== state.take) setTake(number);
  go(at, false);
};
// The moving parts of a step, as drawn at a time from 0 to 1: panel, place in its list, element.
window.lessonMove = (number, from, at, times) => {
  lessonGo(number, from);
  go(at, false, from);
  const rows = take().moves[at].find(([back]) => back === at - from)[1];
  move(rows, SECONDS);
  cancelAnimationFrame(moving.frame);
  const read = (time) => {
    place(time);
    return moving.parts.map(({ panel, piece, node }) => [panel, piece.at, readBack(node)]);
  };
  const said = times.map(read);
  settle();
  return said;
};
window.lessonAsk = (at) => {
  ask(true);
  Object.assign(state.quiz, { round: data.questions.map(reordered), at });
  question();
};
// The feedback to the right answer, or to a misconception by its number.
window.lessonAnswer = (at, mistake) => {
  lessonAsk(at);
  const asked = open();
  const said = mistake === undefined ? asked.answer : asked.slips[mistake][0];
  if (said.lanes !== undefined) state.chosen = Array.from({ length: 32 }, (_, lane) => `L${lane}`).filter((_, lane) => (said.lanes >>> lane) & 1);
  else if (said.number) $("ask").querySelector("input").value = said.number[0];
  else if (said.choice !== undefined) pick(asked.order.indexOf(said.choice));
  else say(said.yesno);
  answer();
  return { right: state.quiz.right, said: [...$("ask").querySelectorAll("p")].map((line) => line.textContent), moment: state.at };
};
window.lessonRound = () => (ask(true), state.quiz.round.map((asked) => data.questions.findIndex(({ text, at, take }) => text === asked.text && at === asked.at && take === asked.take)));

// ---- Begin.

// The first moment, drawn before a large lesson is unpacked. It has the same numbers of items and lists as the whole.
async function drawFirst() {
  data = await unpacked("first");
  show(false);
  clearTimeout(show.later);
  // A hidden page paints no frames, hence the timeout.
  await new Promise((painted) => (requestAnimationFrame(() => setTimeout(painted)), setTimeout(painted, 100)));
  document.documentElement.dataset.first = Math.round(performance.now());
}

async function begin() {
  if (typeof DecompressionStream === "undefined") {
    $("sentence").textContent = "This browser is too old to unpack the lesson: use Chrome 80, Firefox 113, Safari 16.4 or later.";
    return;
  }
  // A link to another moment, or a return to it, needs the whole lesson.
  const returns = location.hash === "" ? remembered() : null;
  if (location.hash === "" && returns === null) await drawFirst();
  data = await unpacked("lesson");
  state.level = data.level;
  for (const text of ["goal", "paragraph", "summary"]) $(text).textContent = data[text];
  // Where there is no room for both, the picture comes first.
  $("intro").open = matchMedia("(min-width: 700px) and (min-height: 1000px)").matches;
  $("quiz").hidden = data.questions.length === 0;
  $("speed").append(...SPEEDS.map((speed) => new Option(`${speed} /s`, speed)));
  $("speed").value = state.speed;
  $("speed").onchange = (event) => (state.speed = Number(event.target.value));
  document.querySelectorAll("[data-do]").forEach((made) => (made.onclick = DO[made.dataset.do]));
  $("scrubber").oninput = (event) => (pause(), go(Number(event.target.value), false));
  $("quiz").onclick = () => ask();
  $("present").onclick = () => present();
  $("look").onclick = look;
  $("motion").onclick = () => reduceMotion();
  reduceMotion(STILL.matches);
  STILL.addEventListener("change", () => reduceMotion(STILL.matches));
  document.addEventListener("keydown", keyed);
  document.addEventListener("fullscreenchange", () => document.fullscreenElement || present(false));
  $("stage").addEventListener("pointermove", point);
  $("stage").addEventListener("pointerleave", () => point());
  $("stage").addEventListener("click", press);
  for (const id of ["stage", "sentence"]) {
    // An enlarged panel scrolls in all directions, and a second finger zooms.
    $(id).addEventListener("touchstart", ({ touches, target }) => (touched = touches.length > 1 || target.closest(".zoomed") ? null : touches[0]), { passive: true });
    $(id).addEventListener("touchend", swiped);
    $(id).addEventListener("touchcancel", () => (touched = null));
  }
  addEventListener("hashchange", () => {
    leaveQuiz();
    fromAddress();
    controls();
    show(false);
  });
  fromAddress(returns?.slice(1));
  joinCourse();
  controls();
  show(false);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

begin();
