// Motion: after a step forward, elements move from their old places. They end exactly as drawn without motion.

const SECONDS = 0.25;
// A shorter motion would only flicker.
const SHORTEST = 0.1;
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const moving = { parts: [], panels: [], began: 0, seconds: 0, frame: 0, reduced: STILL.matches };

// How long a motion takes now, in seconds; 0 for none.
function motionSeconds() {
  if (moving.reduced) return 0;
  const seconds = state.timer ? Math.min(SECONDS, 0.6 / state.speed) : SECONDS;
  return seconds < SHORTEST ? 0 : seconds;
}

const eased = (time) => time * time * (3 - 2 * time);

// The offset at a part of a way with corners, at constant speed, with an arc to its left.
function offset(corners, bow, part) {
  const length = ([ax, ay], [bx, by]) => Math.hypot(bx - ax, by - ay);
  const all = [...corners, [0, 0]];
  let left = 0;
  for (let at = 1; at < all.length; at++) left += length(all[at - 1], all[at]);
  left *= 1 - part;
  let place = [0, 0];
  for (let at = all.length - 1; at > 0 && left > 0; at--) {
    const [from, to] = [all[at - 1], all[at]];
    const long = length(from, to);
    const share = long > 0 ? Math.min(1, left / long) : 0;
    place = [to[0] + (from[0] - to[0]) * share, to[1] + (from[1] - to[1]) * share];
    left -= long;
  }
  const [x, y] = all[0];
  const deviation = (4 * part * (1 - part) * bow) / Math.max(Math.hypot(x, y), 1e-6);
  return [place[0] - y * deviation, place[1] + x * deviation];
}

// For each item that a row moves, by its place in the list: its lengths at a part of the way.
function origins(row, ids) {
  const found = new Map();
  for (let at = 0; at < row.length; ) {
    const [first, count, corners] = row.slice(at, at + 3);
    at += 3;
    if (corners > 0) {
      const bow = row[at];
      const way = [];
      for (let corner = 0; corner < corners; corner++) way.push(row.slice(at + 1 + 2 * corner, at + 3 + 2 * corner));
      at += 1 + 2 * corners;
      for (let item = first; item < first + count; item++) {
        const places = [LINE, POLYGON].includes(data.items[ids[item]][0]) ? Infinity : 2;
        found.set(item, (part) => {
          const by = offset(way, bow, part);
          return lengths(ids[item]).map((length, axis) => (axis < places ? length + by[axis % 2] : length));
        });
      }
    } else {
      for (let item = first; item < first + count; item++) {
        const is = lengths(ids[item]);
        const was = row.slice(at, at + is.length);
        at += is.length;
        found.set(item, (part) => is.map((length, axis) => length + (was[axis] - length) * (1 - part)));
      }
    }
  }
  return found;
}

// Starts the motion of a moment's rows, one per panel.
function move(rows, seconds) {
  settle();
  rows.forEach((row, at) => {
    const panel = panels[at];
    if (data.moves[row].length === 0) return;
    const found = origins(data.moves[row], list(panel.shown));
    panel.order.forEach(({ piece, node }) => {
      if (!piece.ids.some((_, of) => found.has(piece.at + of))) return;
      const numbers = (part) => piece.ids.map((id, of) => found.get(piece.at + of)?.(part) ?? lengths(id));
      moving.parts.push({ panel: at, piece, node, numbers });
      node.classList.remove("new");
      panel.svg.append(node);
    });
    moving.panels.push(panel);
  });
  if (moving.parts.length === 0) return;
  Object.assign(moving, { began: performance.now(), seconds });
  place(0);
  moving.frame = requestAnimationFrame(goOn);
}

function goOn(now) {
  const time = (now - moving.began) / 1000 / moving.seconds;
  if (time >= 1) return settle();
  place(Math.max(0, time));
  moving.frame = requestAnimationFrame(goOn);
}

// Places all moving parts at a time from 0 to 1.
function place(time) {
  for (const { piece, node, numbers } of moving.parts) shape(node, piece, numbers(eased(time)));
}

// Ends the motion: when time is up, or as soon as another moment is shown.
function settle() {
  cancelAnimationFrame(moving.frame);
  place(1);
  for (const panel of moving.panels) panel.sort();
  Object.assign(moving, { parts: [], panels: [] });
}
