// The player: its state, navigation, and the controls around the picture.

const LEVELS = ["search", "merge", "stage", "layer", "lane"];
// Texts of a panel that a screen reader says.
const MOST_TEXTS = 60;
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32];
const NAMES = { S: "Slot", E: "Element", Q: "Queue element", C: "Comparator of element", P: "Point", L: "Lane", G: "Go to step" };

const state = { take: 0, at: 0, level: 0, speed: 1, timer: 0, quiz: null, pointed: "", chosen: [] };
const take = () => data.takes[state.take];
const last = () => take().at.length - 1;
const clamp = (at) => Math.max(0, Math.min(at, last()));

// `from`: the moment that a step forward started at; its motion is played.
function show(fade, from) {
  const { quiz, at } = state;
  const asking = quiz !== null && quiz.reply === null && !quiz.done;
  const moment = asking ? open() : null;
  const now = take();
  if (asking) draw(moment.layout, moment.scenes, false);
  else draw(now.layout[at], now.scenes[at], fade, now.moves[at].find(([back]) => back === at - from)?.[1]);
  const subject = asking ? moment.subject : now.subjects[at];
  panels.forEach(({ box }, number) => box.classList.toggle("subject", number === subject));
  $("sentence").textContent = asking ? "" : data.says[now.says[at]];
  showBadge(asking ? null : now.badges[at]);
  clearTimeout(describe.later);
  describe.later = setTimeout(describe, 50);
  $("place").textContent = data.says[asking ? moment.place : now.place[at]];
  $("scrubber").value = at;
  $("scrubber").setAttribute("aria-valuetext", `step ${now.at[at]} of ${now.steps}`);
  document.body.classList.toggle("asking", asking);
  document.body.classList.toggle("quizzed", quiz !== null);
  clearTimeout(show.later);
  show.later = setTimeout(remember, 250);
}

// Writes the place of the reader to the address, and keeps it for a later visit in the same tab.
function remember() {
  clearTimeout(show.later);
  history.replaceState(null, "", address());
  try {
    sessionStorage.setItem(location.pathname, address());
  } catch {
    // Storage is not allowed here.
  }
}

function remembered() {
  try {
    return sessionStorage.getItem(location.pathname);
  } catch {
    return null;
  }
}

// For screen readers: what each panel shows, and its texts in reading order.
function describe() {
  for (const { svg, shows, box } of panels) {
    if (box.hidden) continue;
    const texts = [...svg.querySelectorAll("text")].map((text) => text.textContent.trim()).filter(Boolean);
    const more = texts.length > MOST_TEXTS ? ` and ${texts.length - MOST_TEXTS} more` : "";
    svg.setAttribute("aria-label", `${shows} Texts: ${texts.slice(0, MOST_TEXTS).join(", ")}${more}.`);
  }
}

// The invariant that holds, or the first broken one.
function showBadge(badge) {
  const [says, holds] = badge ?? [null, true];
  $("badge").textContent = says === null ? "" : data.says[says];
  $("badge").className = holds ? "" : "broken";
}

// The place of the reader: while questions are asked, the one to return to.
function address() {
  const { take: number, at } = state.quiz?.from ?? state;
  const parts = [`step=${data.takes[number].at[at]}`, `level=${LEVELS[state.level]}`, `version=${data.version}`];
  if (data.takes.length > 1) parts.push(`take=${data.takes[number].name.replace(/ /g, "-")}`);
  return `#${parts.join("&")}`;
}

function fromAddress(place = location.hash.slice(1)) {
  const said = new URLSearchParams(place);
  const version = said.get("version") ?? data.version;
  $("notice").textContent = version === data.version ? "" : `This link was made with version ${version}; this page has version ${data.version}, so the step may differ.`;
  const named = data.takes.findIndex(({ name }) => name.replace(/ /g, "-") === said.get("take"));
  if (named >= 0) state.take = named;
  if (LEVELS.includes(said.get("level"))) state.level = Math.min(LEVELS.indexOf(said.get("level")), data.finest);
  const step = parseInt(said.get("step"), 10);
  const at = take().at.findIndex((done) => done >= step);
  state.at = Number.isNaN(step) ? 0 : at < 0 ? last() : at;
}

function go(at, fade, from) {
  state.at = clamp(at);
  show(fade, from);
}

function step(forward) {
  const { levels } = take();
  let at = state.at + (forward ? 1 : -1);
  while (at > 0 && at < last() && levels[at] > state.level) at += forward ? 1 : -1;
  go(at, state.speed <= 4 || !state.timer, forward ? state.at : undefined);
}

// To a distant moment; Back returns to this one.
function leap(at, fade) {
  pause();
  remember();
  history.pushState(null, "", address());
  go(at, fade);
}

// To the next moment of a list, or the one before.
function jump(moments, forward) {
  const found = forward ? moments.find((at) => at > state.at) : moments.filter((at) => at < state.at).pop();
  leap(found ?? (forward ? last() : 0), true);
}

const stages = () => take().levels.map((level, at) => (level <= 2 && at > 0 ? at : -1)).filter((at) => at >= 0);
const MARKS = [
  ["hits", "B", () => take().hits],
  ["stages", "S", stages],
  ["merges", "Shift+arrow", () => take().merges],
  ["changes", "M", () => take().changes],
];

function play() {
  if (state.at === last()) go(0, false);
  const tick = () => {
    step(true);
    if (state.at === last()) pause();
    else state.timer = setTimeout(tick, 1000 / state.speed);
  };
  state.timer = setTimeout(tick, 0);
  $("play").textContent = "❚❚ Pause";
}

function pause() {
  clearTimeout(state.timer);
  state.timer = 0;
  $("play").textContent = "▶ Play";
}

const DO = {
  start: () => jump([], false),
  end: () => jump([], true),
  back: () => (pause(), step(false)),
  on: () => (pause(), step(true)),
  play: () => (state.timer ? pause() : play()),
};

function setLevel(level) {
  if (level > data.finest) return;
  state.level = level;
  controls();
  show(false);
}

function setSpeed(by) {
  state.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(state.speed) + by))];
  $("speed").value = state.speed;
}

function setTake(number) {
  const seen = take().seen[state.at];
  const end = state.at === last();
  state.take = number;
  const at = take().seen.findIndex((points) => points > seen);
  state.at = end || at < 0 ? last() : clamp(at - 1);
  controls();
  show(false);
}

// ---- The controls around the picture.

function button(text, press, more = {}) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: press, title: more.title ?? "" });
  if ("pressed" in more) made.setAttribute("aria-pressed", more.pressed);
  if (more.label) made.setAttribute("aria-label", more.label);
  made.disabled = more.disabled ?? false;
  return made;
}

function controls() {
  const now = take();
  const has = (level) => level <= data.finest && now.levels.some((of, at) => of === level && at > 0);
  $("takes").replaceChildren(
    ...(data.takes.length > 1 ? data.takes : []).map(({ name }, at) => button(name, () => (pause(), leaveQuiz(), setTake(at)), { pressed: at === state.take })),
  );
  $("levels").replaceChildren(
    ...LEVELS.map((name, level) =>
      button(name, () => setLevel(level), { pressed: level === state.level, disabled: !has(level), title: `One step is a ${name} (${level + 1})` }),
    ),
  );
  const names = [now.marks[0], "Stage", now.marks[1], now.marks[2]];
  $("marks").replaceChildren(
    ...MARKS.flatMap(([, keys, moments], at) => {
      if (names[at] === null || moments().length === 0) return [];
      const pair = document.createElement("span");
      pair.className = "pair";
      pair.append(
        button("‹", () => jump(moments(), false), { label: `Previous: ${names[at]}` }),
        names[at],
        button("›", () => jump(moments(), true), { label: `Next: ${names[at]}`, title: keys }),
      );
      return pair;
    }),
  );
  $("scrubber").max = last();
  $("ticks").replaceChildren(
    ...now.merges.map((at) => Object.assign(document.createElement("i"), { style: `left:${(100 * at) / Math.max(1, last())}%` })),
  );
  $("badge").hidden = now.badges.every((badge) => badge === null);
  $("about").textContent = `${now.about}.`;
  $("one-of").hidden = data.takes.length === 1;
  $("left-out").hidden = data.finest === LEVELS.length - 1;
  $("left-out").textContent = `This page has steps of level ${LEVELS[data.finest]} and coarser; finer steps would make it larger than 3 MB.`;
}

function zoom(box) {
  const was = box.classList.contains("zoomed");
  panels.forEach((panel) => panel.box.classList.remove("zoomed"));
  box.classList.toggle("zoomed", !was);
}

function present(on = !document.body.classList.contains("presenting")) {
  document.body.classList.toggle("presenting", on);
  // If full screen is not allowed, fill the window.
  if (on) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
}

function look() {
  const dark = document.documentElement.dataset.look ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.look = dark === "dark" ? "light" : "dark";
}

function reduceMotion(on = !moving.reduced) {
  moving.reduced = on;
  $("motion").setAttribute("aria-pressed", on);
  document.body.classList.toggle("reduced", on);
  settle();
}

// ---- Highlights of the hovered target, in all panels.

function mark() {
  const quiz = state.quiz;
  const about = quiz && !quiz.done ? open().about : [];
  for (const spot of document.querySelectorAll(".lit,.about,.chosen")) spot.classList.remove("lit", "about", "chosen");
  for (const [name, codes] of [["lit", [state.pointed]], ["about", about], ["chosen", state.chosen]]) {
    for (const code of codes.filter(Boolean)) {
      for (const spot of document.querySelectorAll(`.spot[data-t="${code}"]`)) spot.classList.add(name);
    }
  }
}

// The texts of the picture within a spot.
function written(spot) {
  const around = spot.getBBox();
  const within = (text) => {
    const box = text.getBBox();
    const [x, y] = [box.x + box.width / 2 - around.x, box.y + box.height / 2 - around.y];
    return x >= 0 && y >= 0 && x <= around.width && y <= around.height;
  };
  return [...spot.ownerSVGElement.querySelectorAll("text")].filter(within).map((text) => text.textContent);
}

function point(event) {
  // A finger that moves is a swipe or scrolls: it points at nothing.
  const spot = event?.type === "pointermove" && event.pointerType === "touch" ? null : event?.target.closest?.(".spot");
  const code = spot?.dataset.t ?? "";
  if (code !== state.pointed) {
    state.pointed = code;
    mark();
  }
  const tip = $("tip");
  tip.hidden = !spot || code[0] === "K" || document.body.classList.contains("asking");
  if (tip.hidden) return;
  const name = code[0] === "L" && take().round[0] === "pass" ? "Bucket" : NAMES[code[0]];
  const spots = [...document.querySelectorAll(`.spot[data-t="${code}"]`)];
  const values = code[0] === "G" || code[0] === "P" ? [] : [...new Set(spots.flatMap(written))].filter((value) => value !== code.slice(1)).slice(0, 4);
  tip.textContent = [`${name} ${code.slice(1)}`, ...values].join(" · ");
  const [x, y] = [event.clientX + 12, event.clientY + 16];
  tip.style.left = `${Math.max(4, Math.min(x, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : y}px`;
}

function press(event) {
  if (event.pointerType === "touch") point(event);
  const code = event.target.closest?.(".spot")?.dataset.t;
  if (!code) return;
  const number = Number(code.slice(1));
  if (state.quiz && !state.quiz.done && state.quiz.reply === null) choose(code[0], number);
  else if (code[0] === "G") leap(take().at.findIndex((at) => at >= number), false);
}
