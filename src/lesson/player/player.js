"use strict";
// Plays a lesson: shows its recorded moments, one <svg> a panel. docs/lesson-page.md in the program's repository describes the data.

const $ = (id) => document.getElementById(id);
// The namespace of an element of the page, so that no address is written here.
const SVG = $("nothing").namespaceURI;
const [RECT, DOT, RING, LINE, POLYGON, TEXT, CLIP, SPOT] = [0, 1, 2, 3, 4, 5, 6, 7];
const LEVELS = ["search", "merge", "stage", "layer", "lane"];
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32];
const NAMES = { S: "Slot", E: "Element", Q: "Place in the queues:", C: "Comparator of element", P: "Point", L: "Lane", G: "Go to step" };

let data;
const state = { take: 0, at: 0, level: 0, speed: 1, timer: 0, layout: -1, quiz: null, pointed: "", chosen: [] };
const take = () => data.takes[state.take];
const last = () => take().at.length - 1;
const clamp = (at) => Math.max(0, Math.min(at, last()));

async function unpacked() {
  const bytes = Uint8Array.from(atob($("lesson").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// ---- Lists of items: written in full, or as changes of an earlier list.

const lists = new Map();

function list(number) {
  if (lists.has(number)) return lists.get(number);
  const row = data.lists[number];
  const made = [];
  if (row[0] < 0) {
    for (let at = 1; at < row.length; at++) made.push(row[at]);
  } else {
    const before = list(row[0]);
    let old = 0;
    for (let at = 1; at < row.length; ) {
      const [kept, out, come] = [row[at], row[at + 1], row[at + 2]];
      for (const end = old + kept; old < end; old++) made.push(before[old]);
      for (let more = 0; more < come; more++) made.push(row[at + 3 + more]);
      old += out;
      at += 3 + come;
    }
    for (; old < before.length; old++) made.push(before[old]);
  }
  if (lists.size > 400) lists.clear();
  lists.set(number, made);
  return made;
}

// ---- Panels: the elements of one moment become those of the next; what stays is not touched.

class Panel {
  constructor(number) {
    this.number = number;
    this.box = document.createElement("figure");
    this.svg = svg("svg", { role: "img" });
    this.clips = this.svg.appendChild(svg("defs", {}));
    this.grow = document.createElement("button");
    this.grow.className = "grow";
    this.grow.textContent = "⤢";
    this.grow.onclick = () => zoom(this.box);
    this.box.append(this.svg, this.grow);
    this.nodes = new Map();
  }

  place({ name, at: [x, y, wide, high] }, [allWide, allHigh], pad) {
    const share = (part, all) => `${(100 * part) / all}%`;
    Object.assign(this.box.style, { left: share(x, allWide), top: share(y, allHigh), width: share(wide, allWide), height: share(high, allHigh) });
    this.box.style.setProperty("--wide", wide / 100);
    this.svg.setAttribute("viewBox", [-pad, -pad, wide, high].map((length) => length / 100).join(" "));
    this.svg.setAttribute("aria-label", name);
    this.grow.title = `Enlarge: ${name}`;
    this.grow.setAttribute("aria-label", `Enlarge: ${name}`);
  }

  draw(ids, fade) {
    const nodes = new Map();
    let next = this.clips.nextSibling;
    const fresh = [];
    const wanted = pieces(ids).map((piece) => {
      const before = this.nodes.get(piece.key);
      const node = before && before.length ? before.shift() : this.make(piece, fresh);
      nodes.has(piece.key) ? nodes.get(piece.key).push(node) : nodes.set(piece.key, [node]);
      return node;
    });
    for (const left of this.nodes.values()) {
      for (const node of left) {
        if (node === next) next = node.nextSibling;
        node.remove();
      }
    }
    for (const node of wanted) {
      if (node === next) next = next.nextSibling;
      else this.svg.insertBefore(node, next);
    }
    if (fade) for (const node of fresh) node.classList.add("new");
    this.nodes = nodes;
  }

  make({ ids, clip }, fresh) {
    const [kind, style, ...rest] = data.items[ids[0]];
    const [x, y, wide, high] = rest.map((length) => length / 100);
    const points = () => rest.map((length) => length / 100).join(" ");
    const dot = (id) => `M${data.items[id][2] / 100} ${data.items[id][3] / 100}h0`;
    const node = {
      [RECT]: () => svg("rect", { x, y, width: wide, height: high, rx: rest[4] / 100 }),
      [DOT]: () => svg("path", { d: ids.map(dot).join("") }),
      [RING]: () => svg("circle", { cx: x, cy: y, r: wide }),
      [LINE]: () => svg("polyline", { points: points() }),
      [POLYGON]: () => svg("polygon", { points: points() }),
      [TEXT]: () => svg("text", { x, y }),
      [SPOT]: () => svg("rect", { x, y, width: wide, height: high, class: "spot", "data-t": rest[4] }),
    }[kind]();
    if (kind === TEXT) node.textContent = rest[2];
    if (kind !== SPOT) {
      node.setAttribute("style", data.styles[style]);
      fresh.push(node);
      if (clip !== "") node.setAttribute("clip-path", `url(#${this.clip(clip)})`);
    }
    return node;
  }

  clip(id) {
    const name = `clip${this.number}-${id}`;
    if (!document.getElementById(name)) {
      const [x, y, width, height] = data.items[id].slice(2).map((length) => length / 100);
      const path = svg("clipPath", { id: name });
      path.append(svg("rect", { x, y, width, height }));
      this.clips.append(path);
    }
    return name;
  }
}

function svg(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// What becomes one element each: dots of one style that follow one another are one path.
function pieces(ids) {
  const pieces = [];
  let clip = "";
  let run = null;
  for (const id of ids) {
    const [kind, style] = data.items[id];
    if (kind === CLIP) {
      clip = data.items[id].length > 2 ? id : "";
      run = null;
    } else if (kind === DOT && run && run.style === style) {
      run.ids.push(id);
    } else {
      pieces.push({ ids: [id], style, clip });
      run = kind === DOT ? pieces[pieces.length - 1] : null;
    }
  }
  for (const piece of pieces) piece.key = `${piece.clip}:${piece.ids.join()}`;
  return pieces;
}

const panels = [];

function draw(layoutNumber, scenes, fade) {
  const layout = data.layouts[layoutNumber];
  if (state.layout !== layoutNumber) {
    state.layout = layoutNumber;
    $("stage").style.setProperty("--ratio", layout.size[0] / layout.size[1]);
    while (panels.length < layout.panels.length) {
      panels.push(new Panel(panels.length));
      $("stage").append(panels[panels.length - 1].box);
    }
    layout.panels.forEach((place, at) => panels[at].place(place, layout.size, layout.pad));
  }
  panels.forEach((panel, at) => {
    panel.box.hidden = at >= scenes.length;
    panel.draw(at < scenes.length ? list(scenes[at]) : [], fade);
  });
  mark();
}

// ---- Where we are.

function show(fade) {
  const { quiz, at } = state;
  const asking = quiz !== null && quiz.reply === null && !quiz.done;
  const moment = asking ? data.questions[quiz.at] : null;
  const now = take();
  if (asking) draw(moment.layout, moment.scenes, false);
  else draw(now.layout[at], now.scenes[at], fade);
  $("sentence").textContent = asking ? "" : data.says[now.says[at]];
  $("place").textContent = data.says[asking ? moment.place : now.place[at]];
  $("scrubber").value = at;
  $("scrubber").setAttribute("aria-valuetext", `step ${now.at[at]} of ${now.steps}`);
  $("controls").inert = asking;
  document.body.classList.toggle("asking", asking);
  clearTimeout(show.later);
  show.later = setTimeout(() => history.replaceState(null, "", address()), 250);
}

function address() {
  const parts = [`step=${take().at[state.at]}`, `level=${LEVELS[state.level]}`];
  if (data.takes.length > 1) parts.push(`take=${take().name.replace(/ /g, "-")}`);
  return `#${parts.join("&")}`;
}

function fromAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const named = data.takes.findIndex(({ name }) => name.replace(/ /g, "-") === said.get("take"));
  if (named >= 0) state.take = named;
  if (LEVELS.includes(said.get("level"))) state.level = Math.min(LEVELS.indexOf(said.get("level")), data.finest);
  const step = parseInt(said.get("step"), 10);
  const at = take().at.findIndex((done) => done >= step);
  state.at = Number.isNaN(step) ? 0 : at < 0 ? last() : at;
}

function go(at, fade) {
  state.at = clamp(at);
  show(fade);
}

function step(forward) {
  const { levels } = take();
  let at = state.at + (forward ? 1 : -1);
  while (at > 0 && at < last() && levels[at] > state.level) at += forward ? 1 : -1;
  go(at, state.speed <= 4 || !state.timer);
}

// To the next moment of a list, or the one before.
function jump(moments, forward) {
  const found = forward ? moments.find((at) => at > state.at) : moments.filter((at) => at < state.at).pop();
  pause();
  go(found ?? (forward ? last() : 0), true);
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

// ---- What is around the picture.

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
  $("about").textContent = `${now.about}.`;
  $("left-out").hidden = data.finest === LEVELS.length - 1;
  $("left-out").textContent = `This page has the steps of level ${LEVELS[data.finest]} and coarser: with more it would be larger than 3 MB.`;
}

function zoom(box) {
  const was = box.classList.contains("zoomed");
  panels.forEach((panel) => panel.box.classList.remove("zoomed"));
  box.classList.toggle("zoomed", !was);
}

function present(on = !document.body.classList.contains("presenting")) {
  document.body.classList.toggle("presenting", on);
  // Where full screen is not allowed, the window is filled.
  if (on) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
}

function look() {
  const dark = document.documentElement.dataset.look ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.look = dark === "dark" ? "light" : "dark";
}

// ---- What is pointed at, in all panels.

function mark() {
  const quiz = state.quiz;
  const about = quiz && !quiz.done ? data.questions[quiz.at].about : [];
  for (const spot of document.querySelectorAll(".lit,.about,.chosen")) spot.classList.remove("lit", "about", "chosen");
  for (const [name, codes] of [["lit", [state.pointed]], ["about", about], ["chosen", state.chosen]]) {
    for (const code of codes.filter(Boolean)) {
      for (const spot of document.querySelectorAll(`.spot[data-t="${code}"]`)) spot.classList.add(name);
    }
  }
}

// What the picture says within a spot.
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
  const spot = event?.target.closest?.(".spot");
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
  const values = code[0] === "G" || code[0] === "P" ? [] : [...new Set(spots.flatMap(written))].slice(0, 4);
  tip.textContent = [`${name} ${code.slice(1)}`, ...values].join(" · ");
  const [x, y] = [event.clientX + 12, event.clientY + 16];
  tip.style.left = `${Math.max(4, Math.min(x, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : y}px`;
}

function press(event) {
  const code = event.target.closest?.(".spot")?.dataset.t;
  if (!code) return;
  const number = Number(code.slice(1));
  if (state.quiz && !state.quiz.done && state.quiz.reply === null) choose(code[0], number);
  else if (code[0] === "G") (pause(), go(take().at.findIndex((at) => at >= number), false));
}

// ---- Questions.

function ask(on = state.quiz === null) {
  pause();
  state.quiz = on && data.questions.length ? { at: 0, reply: null, right: 0, asked: 0, done: false } : null;
  $("quiz").setAttribute("aria-pressed", state.quiz !== null);
  question();
}

function leaveQuiz() {
  if (state.quiz) ask(false);
}

const kindOf = (asked) => Object.keys(asked.answer)[0];
const same = (reply, answer) => JSON.stringify(reply) === JSON.stringify(answer);

function accepts({ answer }, reply) {
  return answer.number ? Math.abs(answer.number[0] - reply.number[0]) <= answer.number[1] : same(answer, reply);
}

// What is said so far, as an answer; null before anything is.
function reply() {
  const form = $("ask");
  const asked = data.questions[state.quiz.at];
  if (kindOf(asked) === "lanes") return { lanes: state.chosen.reduce((mask, code) => (mask | (1 << code.slice(1))) >>> 0, 0) };
  if (kindOf(asked) === "yesno") return state.quiz.said === undefined ? null : { yesno: state.quiz.said };
  const number = form.querySelector("input").value;
  return /^\d+$/.test(number) ? { number: [Number(number), 0] } : null;
}

function words(asked, said) {
  if (said.yesno !== undefined) return said.yesno ? "yes" : "no";
  if (said.number) return String(said.number[0]);
  const lanes = Array.from({ length: take().width }, (_, lane) => lane).filter((lane) => (said.lanes >>> lane) & 1);
  return lanes.length ? `lanes ${lanes.join(", ")}` : "no lane";
}

// A click in the picture answers, too.
function choose(letter, number) {
  const { noun } = data.questions[state.quiz.at];
  const now = take();
  const lane = { L: number, E: now.across ? number % now.width : Math.floor(number / now.registers), Q: number % now.width }[letter];
  const input = $("ask").querySelector("input");
  if (noun === "Slot" && letter === "S") input.value = number;
  else if ((noun === "Lane" || noun === "Bucket") && lane !== undefined) input.value = lane;
  else if ((noun === "Voting" || noun === "Taking") && lane !== undefined) toggle(lane);
  if (input) state.chosen = input.value === "" || noun === "Number" ? [] : [`${noun === "Slot" ? "S" : "L"}${input.value}`];
  mark();
}

function toggle(lane) {
  const code = `L${lane}`;
  state.chosen = state.chosen.includes(code) ? state.chosen.filter((other) => other !== code) : [...state.chosen, code];
  $("ask").querySelectorAll(".lanes button")[lane].setAttribute("aria-pressed", state.chosen.includes(code));
  mark();
}

function say(yes) {
  state.quiz.said = yes;
  $("ask").querySelectorAll(".yesno button").forEach((made, at) => made.setAttribute("aria-pressed", (at === 0) === yes));
}

function answer() {
  const quiz = state.quiz;
  const said = reply();
  if (said === null) return;
  const asked = data.questions[quiz.at];
  Object.assign(quiz, { reply: said, asked: quiz.asked + 1, right: quiz.right + Number(accepts(asked, said)) });
  state.at = asked.then;
  question();
}

function nextQuestion() {
  const quiz = state.quiz;
  if (quiz.at + 1 < data.questions.length) Object.assign(quiz, { at: quiz.at + 1, reply: null, said: undefined });
  else quiz.done = true;
  question();
}

function line(kind, text) {
  return Object.assign(document.createElement("p"), { className: kind, textContent: text });
}

// Shows the question that is open, or what is right.
function question() {
  const [form, quiz] = [$("ask"), state.quiz];
  state.chosen = [];
  form.hidden = quiz === null;
  form.replaceChildren();
  if (quiz === null) return show(false);
  const asked = data.questions[quiz.at];
  const score = `${quiz.right} of ${quiz.asked} right`;
  const row = Object.assign(document.createElement("div"), { className: "row" });
  const stop = button("Stop asking", () => ask(false), { title: "P" });
  const main = (text, press) => Object.assign(button(text, press, { title: "Enter" }), { className: "main" });
  if (quiz.done) {
    form.append(line("large", `All ${data.questions.length} questions asked: ${score}.`));
    row.append(button("Again", () => ask(true)), stop);
  } else {
    if (asked.take !== state.take) {
      state.take = asked.take;
      controls();
    }
    form.append(line("weak", `Question ${quiz.at + 1} of ${data.questions.length} · ${score}`));
    if (quiz.reply === null) {
      state.at = asked.at;
      form.append(line("large", asked.text));
      entry(form, asked);
      row.append(main("Answer", answer), button("Skip", nextQuestion), stop);
    } else {
      const right = accepts(asked, quiz.reply);
      form.append(line(right ? "large right" : "large wrong", right ? `Right: ${asked.right}.` : `Not quite: you said ${words(asked, quiz.reply)}. The answer is ${asked.right}.`));
      const slip = asked.slips.find(([wrong]) => same(wrong, quiz.reply));
      if (slip) form.append(line("", slip[1]));
      if (asked.at === asked.then) form.append(line("", asked.why));
      row.append(main("Next question", nextQuestion), stop);
    }
  }
  form.append(row);
  (form.querySelector("input") ?? form.querySelector(".main"))?.focus({ preventScroll: true });
  show(false);
}

function entry(form, asked) {
  const box = document.createElement("div");
  if (kindOf(asked) === "lanes") {
    box.className = "lanes";
    box.append(...Array.from({ length: take().width }, (_, lane) => button(lane, () => toggle(lane), { pressed: false, label: `Lane ${lane}` })));
  } else if (kindOf(asked) === "yesno") {
    box.className = "yesno";
    box.append(button("Yes", () => say(true), { pressed: false, title: "Y" }), button("No", () => say(false), { pressed: false, title: "N" }));
  } else {
    const label = Object.assign(document.createElement("label"), { textContent: `${asked.noun} ` });
    const input = Object.assign(document.createElement("input"), { inputMode: "numeric", autocomplete: "off", size: 8 });
    input.oninput = () => choose("", 0);
    label.append(input);
    box.append(label);
  }
  form.append(box);
}

// ---- Keys and touch.

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
  const { quiz } = state;
  const asking = quiz !== null && !quiz.done && quiz.reply === null;
  const onButton = event.target.closest("button, summary, select");
  const typing = event.target.matches("#ask input");
  let act = ALWAYS[name] ?? (asking ? { y: () => quiz && say(true), n: () => say(false) }[kindOf(data.questions[quiz.at]) === "yesno" ? name : ""] : KEYS[(event.shiftKey ? "Shift+" : "") + name]);
  if (quiz !== null && name === "Enter" && !onButton) act = quiz.done ? null : asking ? answer : nextQuestion;
  if (event.target.matches("select") || (onButton && name === " ") || (typing && name.length === 1 && name !== "p")) act = null;
  if (!act) return;
  event.preventDefault();
  act();
}

let touched = null;

function swiped(event) {
  if (!touched || event.changedTouches.length !== 1 || state.quiz?.reply === null) return;
  const [dx, dy] = [event.changedTouches[0].clientX - touched.x, event.changedTouches[0].clientY - touched.y];
  if (Math.abs(dx) < 40 || Math.abs(dx) < 2 * Math.abs(dy)) return;
  // What can still be scrolled that way is scrolled.
  const { box, left } = touched;
  if (box && (dx < 0 ? left + box.clientWidth < box.scrollWidth - 1 : left > 0)) return;
  DO[dx < 0 ? "on" : "back"]();
}

// ---- For tests: what is drawn, read back from the elements.

function hash(text, from = 0x811c9dc5) {
  for (const byte of new TextEncoder().encode(text)) from = Math.imul(from ^ byte, 0x01000193) >>> 0;
  return from;
}

function readBack(node) {
  const numbers = (...names) => names.map((name) => Math.round(parseFloat(node.getAttribute(name)) * 100)).join();
  const all = (text) => text.match(/-?[\d.]+(e-?\d+)?/g).map((number) => Math.round(parseFloat(number) * 100)).join();
  const within = node.getAttribute("clip-path")?.slice(5, -1);
  const box = within ? document.getElementById(within).firstChild : null;
  const clip = box ? ["x", "y", "width", "height"].map((name) => Math.round(parseFloat(box.getAttribute(name)) * 100)).join() : "";
  const row = (kind, lengths, text = "") => `${clip}|${kind}|${lengths}|${node.getAttribute("style") ?? ""}|${text}\n`;
  switch (node.tagName) {
    case "rect":
      return node.classList.contains("spot") ? row(SPOT, numbers("x", "y", "width", "height"), node.dataset.t) : row(RECT, numbers("x", "y", "width", "height", "rx"));
    case "path":
      return node.getAttribute("d").split("M").slice(1).map((dot) => row(DOT, all(dot.replace("h0", "")))).join("");
    case "circle":
      return row(RING, numbers("cx", "cy", "r"));
    case "polyline":
      return row(LINE, all(node.getAttribute("points")));
    case "polygon":
      return row(POLYGON, all(node.getAttribute("points")));
    default:
      return row(TEXT, numbers("x", "y"), node.textContent);
  }
}

window.lessonState = () => {
  const shown = panels.filter((panel) => !panel.box.hidden);
  const drawn = shown.map(({ svg: { children } }) => [...children].slice(1).map(readBack));
  const hashes = drawn.map((rows) => hash(rows.join("")));
  const sentence = $("sentence").textContent;
  const check = hash(hashes.map((number) => `${number}\n`).join("") + sentence);
  return { take: state.take, moment: state.at, step: take().at[state.at], level: LEVELS[state.level], sentence, shapes: drawn.map((rows) => rows.length), check };
};
window.lessonGo = (number, at) => {
  leaveQuiz();
  if (number !== state.take) setTake(number);
  go(at, false);
};
window.lessonAsk = (at) => {
  ask(true);
  state.quiz.at = at;
  question();
};

// ---- Begin.

async function begin() {
  if (typeof DecompressionStream === "undefined") {
    $("sentence").textContent = "This browser is too old to unpack the lesson: Chrome 80, Firefox 113, Safari 16.4 or a later one can.";
    return;
  }
  data = await unpacked();
  state.level = data.level;
  $("paragraph").textContent = data.paragraph;
  $("quiz").hidden = data.questions.length === 0;
  $("speed").append(...SPEEDS.map((speed) => new Option(`${speed} /s`, speed)));
  $("speed").value = state.speed;
  $("speed").onchange = (event) => (state.speed = Number(event.target.value));
  document.querySelectorAll("[data-do]").forEach((made) => (made.onclick = DO[made.dataset.do]));
  $("scrubber").oninput = (event) => (pause(), go(Number(event.target.value), false));
  $("quiz").onclick = () => ask();
  $("present").onclick = () => present();
  $("look").onclick = look;
  document.addEventListener("keydown", keyed);
  document.addEventListener("fullscreenchange", () => document.fullscreenElement || present(false));
  $("stage").addEventListener("pointermove", point);
  $("stage").addEventListener("pointerleave", () => point());
  $("stage").addEventListener("click", press);
  for (const id of ["stage", "sentence"]) {
    $(id).addEventListener("touchstart", (event) => {
      const box = event.target.closest("figure");
      touched = { x: event.touches[0].clientX, y: event.touches[0].clientY, box, left: box?.scrollLeft ?? 0 };
    }, { passive: true });
    $(id).addEventListener("touchend", swiped);
  }
  addEventListener("hashchange", () => {
    leaveQuiz();
    fromAddress();
    controls();
    show(false);
  });
  fromAddress();
  controls();
  show(false);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

begin();
