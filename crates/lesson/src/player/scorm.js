// Reports score, time and place to a learning platform (SCORM 1.2), if the page was started by one.

// The score counts each question once, by its latest answer: 0 not answered, 1 wrong, 2 right.
const course = { api: null, grades: [], done: false, began: Date.now() };

// Limits of SCORM 1.2 for the place and the state, in characters.
const [MOST_PLACE, MOST_STATE] = [255, 4096];
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZa";

// The platform's API is in a window around this page, or in the one that opened it.
function platform() {
  for (const first of [window.parent, window.opener]) {
    for (let frame = first, depth = 0; frame && depth < 10; frame = frame.parent, depth += 1) {
      try {
        if (frame.API?.LMSInitialize) return frame.API;
      } catch {
        // A window of another origin.
      }
    }
  }
  return null;
}

// Grades belong to these questions: another version of the lesson has others.
const questionsKey = () => hash(data.questions.map(({ text, at }) => `${at}${text}`).join("\n")).toString(36);

// Three grades in a letter: 12,000 questions fit.
function packedState() {
  const { grades, done } = course;
  let state = `1.${questionsKey()}.${Number(done)}.`;
  for (let at = 0; at < grades.length && state.length < MOST_STATE; at += 3) {
    state += DIGITS[grades[at] + 3 * (grades[at + 1] ?? 0) + 9 * (grades[at + 2] ?? 0)];
  }
  return state;
}

function restoreState(text) {
  const [schema, key, done, packed] = text.split(".");
  if (schema !== "1" || key !== questionsKey()) return;
  course.done = done === "1";
  [...packed].forEach((letter, at) => {
    const digits = DIGITS.indexOf(letter);
    [digits % 3, Math.floor(digits / 3) % 3, Math.floor(digits / 9)].forEach((grade, digit) => {
      if (3 * at + digit < course.grades.length) course.grades[3 * at + digit] = grade;
    });
  });
}

function grade(asked, right) {
  course.grades[asked.number] = right ? 2 : 1;
  report();
}

// The time since the start as HHHH:MM:SS.
function sessionTime() {
  const seconds = Math.floor((Date.now() - course.began) / 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${String(Math.min(9999, Math.floor(seconds / 3600))).padStart(4, "0")}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function report(leaving = false) {
  const { api, grades, done } = course;
  if (api === null) return;
  const right = grades.filter((grade) => grade === 2).length;
  const answered = grades.filter((grade) => grade > 0).length;
  const values = {
    "cmi.core.lesson_location": address().slice(1, MOST_PLACE + 1),
    "cmi.suspend_data": packedState(),
    "cmi.core.lesson_status": done ? "completed" : "incomplete",
    "cmi.core.session_time": sessionTime(),
    ...(answered > 0 && { "cmi.core.score.min": "0", "cmi.core.score.max": "100", "cmi.core.score.raw": String(Math.round((100 * right) / answered)) }),
    ...(leaving && { "cmi.core.exit": "suspend" }),
  };
  const saved = Object.entries(values).map(([name, value]) => String(api.LMSSetValue(name, value)) !== "false");
  const all = String(api.LMSCommit("")) !== "false" && saved.every(Boolean);
  $("notice").textContent = all ? "" : `The learning platform did not save the score (error ${api.LMSGetLastError()}).`;
}

function joinCourse() {
  course.grades = data.questions.map(() => 0);
  data.questions.forEach((asked, number) => (asked.number = number));
  course.api = platform();
  if (course.api === null) return;
  if (String(course.api.LMSInitialize("")) === "false") {
    $("notice").textContent = `The learning platform cannot save the score (error ${course.api.LMSGetLastError()}).`;
    course.api = null;
    return;
  }
  // The platform has its own list of lessons.
  document.body.classList.add("in-course");
  restoreState(course.api.LMSGetValue("cmi.suspend_data"));
  course.done ||= course.api.LMSGetValue("cmi.core.lesson_status") === "completed";
  const place = course.api.LMSGetValue("cmi.core.lesson_location");
  // The place of this learner, not of one before in the same tab.
  fromAddress(place || location.hash.slice(1));
  report();
  addEventListener("pagehide", () => {
    if (state.quiz) ask(false);
    report(true);
    course.api.LMSFinish("");
    course.api = null;
  });
}

