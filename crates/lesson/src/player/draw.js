"use strict";
// Draws the moments of a lesson, one <svg> a panel. docs/lesson-page.md in the program's repository describes the data.

const $ = (id) => document.getElementById(id);
// The SVG namespace, taken from the page, so that the script contains no address.
const SVG = $("nothing").namespaceURI;
const [RECT, DOT, RING, LINE, POLYGON, TEXT, CLIP, SPOT] = [0, 1, 2, 3, 4, 5, 6, 7];
const TAGS = { [RECT]: "rect", [DOT]: "path", [RING]: "circle", [LINE]: "polyline", [POLYGON]: "polygon", [TEXT]: "text", [SPOT]: "rect" };

let data;

async function unpacked(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const read = JSON.parse(await new Response(stream).text());
  return { ...read, items: readItems(read.items) };
}

// Items as rows: kind, style, lengths and text. The file has columns per kind, and lengths as differences from those of the last item
// of the same kind and style.
function readItems({ kinds, of }) {
  const last = new Map();
  const read = of.map(({ lengths }) => ({ items: 0, lengths: lengths.map(() => 0) }));
  return kinds.map((kind) => {
    const { styles, counts, lengths, texts } = of[kind];
    const at = read[kind].items++;
    const row = [kind, styles[at]];
    const key = `${kind},${styles[at]}`;
    const before = last.get(key) ?? [];
    for (let length = 0; length < counts[at]; length++) row.push(lengths[length][read[kind].lengths[length]++] + (before[length] ?? 0));
    last.set(key, row.slice(2));
    if (texts.length > 0) row.push(texts[at]);
    return row;
  });
}

// ---- Lists of items: in full, or as edits of an earlier list. An id is the distance past the id that follows the previous one.

const lists = new Map();

function list(number) {
  if (lists.has(number)) return lists.get(number);
  const row = data.lists[number];
  const made = [];
  let follows = 0;
  const come = (from, to) => {
    for (let at = from; at < to; at++) {
      made.push(follows + row[at]);
      follows += row[at] + 1;
    }
  };
  if (row[0] === 0) {
    come(1, row.length);
  } else {
    const before = list(number - row[0]);
    let old = 0;
    for (let at = 1; at < row.length; at += 3 + row[at + 2]) {
      for (const end = old + row[at]; old < end; old++) made.push(before[old]);
      old += row[at + 1];
      come(at + 3, at + 3 + row[at + 2]);
    }
    for (; old < before.length; old++) made.push(before[old]);
  }
  if (lists.size > 400) lists.clear();
  lists.set(number, made);
  return made;
}

// ---- Panels: the elements of one moment become those of the next; unchanged ones are not touched.

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
    this.order = [];
    this.shown = null;
  }

  place({ name, shows, at: [x, y, wide, high] }, [allWide, allHigh], pad) {
    this.shows = `${name}: ${shows}`;
    const share = (part, all) => `${(100 * part) / all}%`;
    Object.assign(this.box.style, { left: share(x, allWide), top: share(y, allHigh), width: share(wide, allWide), height: share(high, allHigh) });
    this.box.style.setProperty("--wide", wide / 100);
    this.svg.setAttribute("viewBox", [-pad, -pad, wide, high].map((length) => length / 100).join(" "));
    this.grow.title = `Enlarge: ${name}`;
    this.grow.setAttribute("aria-label", `Enlarge: ${name}`);
  }

  draw(number, fade) {
    // Most steps change few panels.
    if (number === this.shown) return;
    this.shown = number;
    const ids = number === null ? [] : list(number);
    const nodes = new Map();
    let next = this.clips.nextSibling;
    const fresh = [];
    this.order = pieces(ids).map((piece) => {
      const before = this.nodes.get(piece.key);
      const node = before && before.length ? before.shift() : this.make(piece, fresh);
      nodes.has(piece.key) ? nodes.get(piece.key).push(node) : nodes.set(piece.key, [node]);
      return { piece, node };
    });
    for (const left of this.nodes.values()) {
      for (const node of left) {
        if (node === next) next = node.nextSibling;
        node.remove();
      }
    }
    for (const { node } of this.order) {
      if (node === next) next = next.nextSibling;
      else this.svg.insertBefore(node, next);
    }
    if (fade) for (const node of fresh) node.classList.add("new");
    this.nodes = nodes;
  }

  // Restores the order of the elements, moving only those out of place.
  sort() {
    let next = null;
    for (const { node } of [...this.order].reverse()) {
      if (node.nextSibling !== next) this.svg.insertBefore(node, next);
      next = node;
    }
  }

  make(piece, fresh) {
    const { ids, clip } = piece;
    const [kind, style] = data.items[ids[0]];
    const node = svg(TAGS[kind], {});
    shape(node, piece, ids.map(lengths));
    const says = data.items[ids[0]][data.items[ids[0]].length - 1];
    if (kind === TEXT) node.textContent = says;
    if (kind === SPOT) {
      node.setAttribute("class", "spot");
      node.dataset.t = says;
    } else {
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

// The lengths of an item.
function lengths(id) {
  const item = data.items[id];
  return item.slice(2, item[0] === TEXT || item[0] === SPOT ? -1 : undefined);
}

// Sets an element's attributes from the lengths of its items.
function shape(node, { ids }, all) {
  const kind = data.items[ids[0]][0];
  const [x, y, wide, high, round] = all[0].map((length) => length / 100);
  const points = () => all[0].map((length) => length / 100).join(" ");
  const attributes = {
    [RECT]: () => ({ x, y, width: wide, height: high, rx: round }),
    [DOT]: () => ({ d: all.map(([x, y]) => `M${x / 100} ${y / 100}h0`).join("") }),
    [RING]: () => ({ cx: x, cy: y, r: wide }),
    [LINE]: () => ({ points: points() }),
    [POLYGON]: () => ({ points: points() }),
    [TEXT]: () => ({ x, y }),
    [SPOT]: () => ({ x, y, width: wide, height: high }),
  }[kind]();
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

function svg(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// Groups items into elements: consecutive dots of one style are one path.
function pieces(ids) {
  const pieces = [];
  let clip = "";
  let run = null;
  for (const [at, id] of ids.entries()) {
    const [kind, style] = data.items[id];
    if (kind === CLIP) {
      clip = data.items[id].length > 2 ? id : "";
      run = null;
    } else if (kind === DOT && run && run.style === style) {
      run.ids.push(id);
    } else {
      pieces.push({ at, ids: [id], style, clip });
      run = kind === DOT ? pieces[pieces.length - 1] : null;
    }
  }
  for (const piece of pieces) piece.key = `${piece.clip}:${piece.ids.join()}`;
  return pieces;
}

const panels = [];

function draw(layoutNumber, scenes, fade, moves) {
  settle();
  const layout = data.layouts[layoutNumber];
  if (draw.layout !== layoutNumber) {
    draw.layout = layoutNumber;
    document.body.style.setProperty("--ratio", layout.size[0] / layout.size[1]);
    while (panels.length < layout.panels.length) {
      panels.push(new Panel(panels.length));
      $("stage").append(panels[panels.length - 1].box);
    }
    layout.panels.forEach((place, at) => panels[at].place(place, layout.size, layout.pad));
  }
  panels.forEach((panel, at) => {
    panel.box.hidden = at >= scenes.length;
    panel.draw(at < scenes.length ? scenes[at] : null, fade);
  });
  const seconds = moves ? motionSeconds() : 0;
  if (seconds > 0) move(moves, seconds);
  mark();
}

// ---- For tests: reads the drawing back from the elements.

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

