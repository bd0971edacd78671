// Questions: rounds, answers and the score.

// Questions per kind and take in a round; one per kind for ideas.
const EACH = 2;
// A round with this many questions gets a second one of a kind only if the answer is yes or no.
const MOST = 6;

function shuffled(things) {
  const order = [...things];
  for (let end = order.length; end > 1; end -= 1) {
    const chosen = Math.floor(Math.random() * end);
    [order[end - 1], order[chosen]] = [order[chosen], order[end - 1]];
  }
  return order;
}

// A few questions, drawn anew each time, by rank: those about the whole search, then from easy to hard; none reveals the answer of a later one; yes and no are balanced.
// Options are shuffled.
function round() {
  const left = shuffled(data.questions);
  const nameOf = ({ take, kind }) => `${take} ${kind}`;
  const kinds = [...new Map(left.map((asked) => [nameOf(asked), asked])).values()];
  const apart = (one, other) => one.take !== other.take || one.tells !== other.tells || one.all || other.all || one.idea || other.idea;
  const alike = (one, other) => nameOf(one) === nameOf(other);
  // One step decides about many elements.
  const together = (one, other) => apart(one, other) || (alike(one, other) && one.shared && one.text !== other.text);
  const chosen = [];
  for (let turn = 0; turn < EACH; turn += 1) {
    for (const kind of kinds.filter(({ all, idea }) => turn === 0 || !(all || idea))) {
      const before = chosen.find((asked) => alike(asked, kind));
      if (turn > 0 && chosen.length >= MOST && before?.answer.yesno === undefined) continue;
      const fits = left.filter((asked) => alike(asked, kind) && !chosen.includes(asked) && chosen.every((other) => together(asked, other)));
      const found = fits.find(({ answer }) => before?.answer.yesno !== undefined && answer.yesno !== before.answer.yesno) ?? fits[0];
      if (found) chosen.push(found);
    }
  }
  return shuffled(chosen).sort((one, other) => one.rank - other.rank).map(reordered);
}

function reordered(asked) {
  return { ...asked, order: shuffled(asked.options.map((_, option) => option)) };
}

// Begins a round, or leaves it for the step from which it began.
function ask(on = state.quiz === null) {
  pause();
  const from = state.quiz?.from ?? { take: state.take, at: state.at };
  if (!on) Object.assign(state, from);
  state.quiz = on && data.questions.length ? { round: round(), from, at: 0, reply: null, right: 0, asked: 0, done: false } : null;
  if (!on) controls();
  $("quiz").setAttribute("aria-pressed", state.quiz !== null);
  question();
}

function leaveQuiz() {
  if (state.quiz) ask(false);
}

const open = () => state.quiz.round[state.quiz.at];
const letter = (place) => "ABCDEF"[place];
const kindOf = (asked) => Object.keys(asked.answer)[0];
const same = (reply, answer) => JSON.stringify(reply) === JSON.stringify(answer);

function accepts({ answer }, reply) {
  return answer.number ? Math.abs(answer.number[0] - reply.number[0]) <= answer.number[1] : same(answer, reply);
}

// The reply so far; null if there is none.
function reply() {
  const form = $("ask");
  const asked = open();
  if (kindOf(asked) === "lanes") return { lanes: state.chosen.reduce((mask, code) => (mask | (1 << code.slice(1))) >>> 0, 0) };
  if (kindOf(asked) === "yesno") return state.quiz.said === undefined ? null : { yesno: state.quiz.said };
  if (kindOf(asked) === "choice") return state.quiz.said === undefined ? null : { choice: state.quiz.said };
  const number = form.querySelector("input").value;
  return /^\d+$/.test(number) ? { number: [Number(number), 0] } : null;
}

function words(asked, said) {
  if (said.yesno !== undefined) return said.yesno ? "yes" : "no";
  if (said.number) return String(said.number[0]);
  const lanes = Array.from({ length: take().width }, (_, lane) => lane).filter((lane) => (said.lanes >>> lane) & 1);
  return lanes.length ? `${lanes.length > 1 ? "lanes" : "lane"} ${lanes.join(", ")}` : "no lane";
}

// Whether the reply was right, and the right answer; for options with their letters.
function verdict(asked, said, isRight) {
  if (said.choice !== undefined) {
    const [chosen, right] = [said.choice, asked.answer.choice].map((option) => letter(asked.order.indexOf(option)));
    return `${isRight ? "Right:" : `Not quite: you chose ${chosen}. Right is`} ${right}: \u201c${asked.right}\u201d.`;
  }
  return isRight ? `Right: ${asked.right}.` : `Not quite: you said ${words(asked, said)}. The answer is ${asked.right}.`;
}

// A click in the picture also answers.
function choose(letter, number) {
  const asked = open();
  const { noun } = asked;
  const now = take();
  const lane = { L: number, E: now.across ? number % now.width : Math.floor(number / now.registers), Q: number % now.width }[letter];
  const input = $("ask").querySelector("input");
  if (noun === "Slot" && letter === "S") input.value = number;
  else if ((noun === "Lane" || noun === "Bucket") && lane !== undefined) input.value = lane;
  else if (kindOf(asked) === "lanes" && lane !== undefined) toggle(lane);
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

// Picks an option by its place, from 0.
function pick(place) {
  const { order } = open();
  if (place >= order.length) return;
  state.quiz.said = order[place];
  $("ask").querySelectorAll(".options button").forEach((made, at) => made.setAttribute("aria-pressed", at === place));
}

function answer() {
  const quiz = state.quiz;
  const said = reply();
  if (said === null) return;
  const asked = open();
  const right = accepts(asked, said);
  Object.assign(quiz, { reply: said, asked: quiz.asked + 1, right: quiz.right + Number(right) });
  state.at = asked.then;
  grade(asked, right);
  question();
}

function finishRound() {
  state.quiz.done = true;
  course.done = true;
  report();
}

function nextQuestion() {
  const quiz = state.quiz;
  if (quiz.at + 1 < quiz.round.length) Object.assign(quiz, { at: quiz.at + 1, reply: null, said: undefined });
  else finishRound();
  question();
}

function line(kind, text) {
  return Object.assign(document.createElement("p"), { className: kind, textContent: text });
}

// Shows the open question, or its answer.
function question() {
  const [form, quiz] = [$("ask"), state.quiz];
  state.chosen = [];
  form.hidden = quiz === null;
  form.replaceChildren();
  if (quiz === null) return show(false);
  const asked = open();
  const score = `${quiz.right} of ${quiz.asked} right`;
  const row = Object.assign(document.createElement("div"), { className: "row" });
  const stop = button("Stop asking", () => ask(false), { title: "P" });
  const main = (text, press) => Object.assign(button(text, press, { title: "Enter" }), { className: "main" });
  if (quiz.done) {
    form.append(line("large", `All ${quiz.round.length} questions asked: ${score}.`));
    row.append(button("Again", () => ask(true)), stop);
  } else {
    if (asked.take !== state.take) {
      state.take = asked.take;
      controls();
    }
    form.append(line("weak", `Question ${quiz.at + 1} of ${quiz.round.length} · ${score}`));
    if (quiz.reply === null) {
      state.at = asked.at;
      form.append(line("large", asked.text));
      entry(form, asked);
      row.append(main("Answer", answer), button("Skip", nextQuestion), stop);
    } else {
      const right = accepts(asked, quiz.reply);
      form.append(line("weak", asked.text), line(right ? "large right" : "large wrong", verdict(asked, quiz.reply, right)));
      const slip = asked.slips.find(([wrong]) => same(wrong, quiz.reply));
      if (slip) form.append(line("", slip[1]));
      form.append(line("", asked.why));
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
  } else if (kindOf(asked) === "choice") {
    box.className = "options";
    box.append(...asked.order.map((option, place) => button(`${letter(place)}  ${asked.options[option]}`, () => pick(place), { pressed: false, title: letter(place) })));
  } else {
    const label = Object.assign(document.createElement("label"), { textContent: `${asked.noun} ` });
    const input = Object.assign(document.createElement("input"), { inputMode: "numeric", autocomplete: "off", size: 8 });
    input.oninput = () => choose("", 0);
    label.append(input);
    box.append(label);
  }
  form.append(box);
}

