#!/usr/bin/env python3
"""Replays how points divided among ranks would be searched: which ranks each query must visit, and what is sent.

    bench/scaling/simulate.py FILE.npy [--ranks 8,64,512,1024] [-k 10] [--boxes B | --tile POINTS] [--order curve|file] [--csv FILE]
    bench/scaling/simulate.py --check

Every point of the file is a query. The points are sorted along the Morton curve (or left in the order of the file) and divided
into equal parts, one per rank. Every rank knows the box of each part. With `--tile` it knows a box for every tile of that many
points, with `--boxes` that many boxes of each part, cut where the curve enters another of its largest cells. A query is first
searched by the rank that has it. It is then sent to every rank with a box that is not farther than its k-th neighbour so far.
Nothing is timed or sent: the script counts what such a search does.

- *needed*: ranks with a box within the final k-th distance. An exact search with these boxes cannot visit fewer.
- *sent to*: ranks with a box within the k-th distance in the query's own part, which it is sent to in one round.
- *partners*: other ranks that the queries of a rank are sent to. *Received*: queries that a rank gets from others.
- *visited*: points of needed ranks, in leaves of 32 points whose boxes are within the final k-th distance.

`--check` compares small searches with brute force, and then sabotages them to see that the comparison notices. Needs numpy and
scipy.
"""

import argparse
import csv
import pathlib
import sys

import numpy as np
from scipy.spatial import cKDTree

LEAF = 32  # points, as in bvh
FAN_OUT = 8  # boxes below a box of the hierarchy
CHUNK = 8192  # queries whose boxes are tested at a time
CODE_BITS = 63  # of a Morton code
COORDINATE_BITS = 24  # at most, of an axis

DISTANCE_BYTES, ROW_BYTES, SLOT_BYTES = 4, 8, 4


def squared_distances(a, b):
    """Squared distances of rows of `a` and `b`, axis by axis, so that rounding is monotone in every difference."""
    total = 0.0
    for axis in range(a.shape[-1]):
        difference = a[..., axis] - b[..., axis]
        total = total + difference * difference
    return total


def squared_gaps(queries, low, high):
    """Squared distances to boxes, in the same order: as computed, at most those of the points in the boxes."""
    return squared_distances(np.minimum(np.maximum(queries, low), high), queries)


def morton_codes(points):
    """Positions on the Morton curve over cubic cells, as in `bvh`."""
    dims = points.shape[1]
    bits = max(1, min(CODE_BITS // dims, COORDINATE_BITS))
    low = points.min(axis=0)
    extent = (points.max(axis=0) - low).max()
    scale = 2.0**bits / extent if extent > 0 else 0.0
    cells = np.minimum((points - low) * scale, 2**bits - 1).astype(np.uint64)
    code = np.zeros(len(points), np.uint64)
    for bit in reversed(range(bits)):
        for axis in range(dims):
            code = code << np.uint64(1) | cells[:, axis] >> np.uint64(bit) & np.uint64(1)
    return code


def in_curve_order(points):
    return points[np.argsort(morton_codes(points), kind="stable")]


def parts(n, ranks):
    """Where the parts of `ranks` begin, and n."""
    return np.array([n * rank // ranks for rank in range(ranks + 1)])


def tiles(bounds, most):
    """Where boxes begin if each has at most `most` points of one part."""
    return np.concatenate([np.arange(start, end, most) for start, end in zip(bounds, bounds[1:])])


def cuts(points, bounds, boxes):
    """Where boxes begin if each part is cut into `boxes`, between points that have the fewest leading bits in common."""
    codes = morton_codes(points)
    differs = np.append(0, codes[1:] ^ codes[:-1])
    starts = [bounds[:-1]]
    for start, end in zip(bounds, bounds[1:]):
        inside = np.arange(start + 1, end)
        starts.append(inside[np.argsort(differs[inside])[::-1][: boxes - 1]])
    return np.sort(np.concatenate(starts))


class Boxes:
    """Boxes of consecutive points, each with the rank that owns it, under a hierarchy of boxes."""

    def __init__(self, points, bounds, starts):
        """Boxes that begin at `starts`, of the parts between `bounds`."""
        self.starts = starts
        self.owner = np.searchsorted(bounds, starts, side="right") - 1
        self.sizes = np.diff(np.append(self.starts, len(points)))
        self.levels = [(np.minimum.reduceat(points, self.starts), np.maximum.reduceat(points, self.starts))]
        while len(self.levels[-1][0]) > FAN_OUT:
            low, high = self.levels[-1]
            groups = np.arange(0, len(low), FAN_OUT)
            self.levels.append((np.minimum.reduceat(low, groups), np.maximum.reduceat(high, groups)))

    def within(self, queries, squared_radii):
        """The pairs (query, box) with a distance of at most the query's radius, by query, then by box."""
        low, high = self.levels[-1]
        query = np.repeat(np.arange(len(queries)), len(low))
        box = np.tile(np.arange(len(low)), len(queries))
        for below in reversed(range(len(self.levels))):
            low, high = self.levels[below]
            near = squared_gaps(queries[query], low[box], high[box]) <= squared_radii[query]
            query, box = query[near], box[near]
            if below > 0:
                query = np.repeat(query, FAN_OUT)
                box = (box[:, None] * FAN_OUT + np.arange(FAN_OUT)).ravel()
                exists = box < len(self.levels[below - 1][0])
                query, box = query[exists], box[exists]
        return query, box


def in_chunks(boxes, points, squared_radii):
    """The pairs of `Boxes.within`, a chunk of queries at a time."""
    for start in range(0, len(points), CHUNK):
        query, box = boxes.within(points[start : start + CHUNK], squared_radii[start : start + CHUNK])
        yield query + start, box


def visits(boxes, points, squared_radii):
    """The pairs (query, rank) in which the rank has at least one box within the query's radius."""
    ranks = boxes.owner.max() + 1
    pairs = [np.unique(query * ranks + boxes.owner[box]) for query, box in in_chunks(boxes, points, squared_radii)]
    return np.divmod(np.concatenate(pairs), ranks)


def kth_squared_distances(points, k):
    """Of every point among these points, itself included; infinite if there are fewer than k."""
    if len(points) < k:
        return np.full(len(points), np.inf)
    found = cKDTree(points).query(points, k=np.arange(1, k + 1), workers=-1)[1]
    return squared_distances(points[:, None], points[found]).max(axis=1)


class Replay:
    """A search of all points by ranks."""

    def __init__(self, points, ranks, k, boxes=1, tile=None, final=None):
        """`points` in the order in which they are divided; `final`: their k-th squared distances, if known."""
        self.points, self.k = points, k
        self.bounds = bounds = parts(len(points), ranks)
        self.home = np.repeat(np.arange(ranks), np.diff(bounds))
        self.boxes = Boxes(points, bounds, tiles(bounds, tile) if tile else cuts(points, bounds, boxes))
        own = [kth_squared_distances(points[start:end], k) for start, end in zip(bounds, bounds[1:])]
        self.first = np.concatenate(own)
        self.final = kth_squared_distances(points, k) if final is None else final
        self.needed = visits(self.boxes, points, self.final)
        self.sent = visits(self.boxes, points, self.first)

    def row(self):
        """The counts of the search, for the table."""
        n, ranks = len(self.points), len(self.bounds) - 1
        needed, sent = (np.bincount(query, minlength=n) for query, _ in (self.needed, self.sent))
        query, rank = self.sent
        away = rank != self.home[query]
        received = np.bincount(rank[away], minlength=ranks)
        partners = np.bincount(np.unique(self.home[query] * ranks + rank) // ranks, minlength=ranks) - 1
        message = 4 * self.points.shape[1] + DISTANCE_BYTES + SLOT_BYTES
        reply = self.k * (DISTANCE_BYTES + ROW_BYTES)
        leaves = Boxes(self.points, self.bounds, tiles(self.bounds, LEAF))
        visited, needed_pairs = np.zeros(ranks), self.needed[0] * ranks + self.needed[1]
        for query, leaf in in_chunks(leaves, self.points, self.final):
            pairs = needed_pairs[slice(*np.searchsorted(needed_pairs, [query[0] * ranks, (query[-1] + 1) * ranks]))]
            leaf = leaf[np.isin(query * ranks + leaves.owner[leaf], pairs)]
            visited += np.bincount(leaves.owner[leaf], leaves.sizes[leaf], minlength=ranks)
        return {
            "ranks": ranks,
            "points_per_rank": n // ranks,
            "at_home": np.mean(needed == 1),
            "needed_mean": needed.mean(),
            "needed_p99": int(np.quantile(needed, 0.99, method="higher")),
            "needed_max": int(needed.max()),
            "sent_mean": sent.mean(),
            "sent_max": int(sent.max()),
            "bytes_out": int(away.sum()) * message,
            "bytes_back": int(away.sum()) * reply,
            "bytes_per_query": away.sum() * (message + reply) / n,
            "partners_mean": partners.mean(),
            "partners_max": int(partners.max()),
            "visited_per_query": visited.sum() / n,
            "visited_imbalance": visited.max() / visited.mean(),
            "received_imbalance": received.max() / received.mean() if received.any() else 1.0,
        }


COLUMNS = {
    "ranks": lambda row: f"{row['ranks']:,}",
    "points per rank": lambda row: f"{row['points_per_rank']:,}",
    "queries that need only their own": lambda row: f"{100 * row['at_home']:.1f} %",
    "needed, mean (99 %, most)": lambda row: f"{row['needed_mean']:.2f} ({row['needed_p99']}, {row['needed_max']})",
    "sent to, mean (most)": lambda row: f"{row['sent_mean']:.2f} ({row['sent_max']:,})",
    "bytes sent per query": lambda row: f"{row['bytes_per_query']:.0f}",
    "partners, mean (most)": lambda row: f"{row['partners_mean']:.1f} ({row['partners_max']:,})",
    "visited per query": lambda row: f"{row['visited_per_query']:.0f}",
    "visited, most ÷ mean": lambda row: f"{row['visited_imbalance']:.2f}",
    "received, most ÷ mean": lambda row: f"{row['received_imbalance']:.2f}",
}


def load(path):
    """The points as f64, relative to the middle of their extent."""
    points = np.load(path)
    if points.ndim != 2 or not len(points):
        sys.exit(f"expected an array of rows and columns, found shape {points.shape}: {path}")
    points = points.astype(np.float64)
    if not np.isfinite(points).all():
        sys.exit(f"row {np.argmin(np.isfinite(points).all(axis=1))} has a value that is not finite: {path}")
    return points - (points.min(axis=0) + points.max(axis=0)) / 2


def nearest(points, query, rows, k):
    """The k nearest of `rows` by (squared distance, row), by brute force."""
    squared = squared_distances(points[rows], points[query])
    return sorted(zip(squared.tolist(), rows.tolist()))[:k]


def problems(replay, pairs, squared_radii):
    """What is wrong with the visits `pairs` of a replay, by brute force over its parts and boxes."""
    points, k, bounds = replay.points, replay.k, replay.bounds
    ranks, found = len(bounds) - 1, []
    visited = [set() for _ in points]
    for query, rank in zip(*pairs):
        visited[query].add(int(rank))
    boxes = [[] for _ in range(ranks)]
    for start, size, owner in zip(replay.boxes.starts, replay.boxes.sizes, replay.boxes.owner):
        rows = points[start : start + size].tolist()
        boxes[owner].append([(min(axis), max(axis)) for axis in zip(*rows)])

    def gap(query, box):
        total = 0.0
        for value, (low, high) in zip(points[query].tolist(), box):
            away = max(low - value, value - high, 0.0)
            total += away * away
        return total

    everything = np.arange(len(points))
    for query in range(len(points)):
        allowed = {rank for rank in range(ranks) if any(gap(query, box) <= squared_radii[query] for box in boxes[rank])}
        if visited[query] - allowed:
            found.append(f"query {query} visits ranks {visited[query] - allowed}, whose boxes are farther than its radius")
        if allowed - visited[query]:
            found.append(f"query {query} does not visit ranks {allowed - visited[query]}, whose boxes are within its radius")
        rows = [np.arange(bounds[rank], bounds[rank + 1]) for rank in sorted(visited[query])]
        pruned = nearest(points, query, np.concatenate(rows), k) if rows else []
        if pruned != nearest(points, query, everything, k):
            found.append(f"query {query} has other neighbours than by brute force")
    return found


def check_row(replay):
    """What is wrong with the counts of a replay, recounted query by query."""
    row, found = replay.row(), []
    sent = list(zip(*(array.tolist() for array in replay.sent)))
    away = [(query, rank) for query, rank in sent if rank != replay.home[query]]
    needed = np.bincount(replay.needed[0], minlength=len(replay.points))
    message = 4 * replay.points.shape[1] + 8 + 12 * replay.k
    partners = [len({rank for query, rank in away if replay.home[query] == home}) for home in range(row["ranks"])]
    visited = np.zeros(row["ranks"])
    for query, rank in zip(*replay.needed):
        for start in range(replay.bounds[rank], replay.bounds[rank + 1], LEAF):
            leaf = replay.points[start : min(start + LEAF, replay.bounds[rank + 1])]
            gap = squared_gaps(replay.points[query], leaf.min(axis=0), leaf.max(axis=0))
            visited[rank] += len(leaf) if gap <= replay.final[query] else 0
    expected = {
        "at_home": sum(count == 1 for count in needed) / len(needed),
        "needed_mean": len(replay.needed[0]) / len(needed),
        "sent_mean": len(sent) / len(needed),
        "bytes_per_query": len(away) * message / len(needed),
        "partners_mean": sum(partners) / len(partners),
        "partners_max": max(partners),
        "visited_per_query": visited.sum() / len(needed),
        "visited_imbalance": visited.max() / visited.mean(),
    }
    for name, value in expected.items():
        if not np.isclose(row[name], value, rtol=1e-12):
            found.append(f"{name} is {row[name]}, expected {value}")
    if row["sent_mean"] < row["needed_mean"]:
        found.append("queries are sent to fewer ranks than they need")
    return found


CHECKED = [(1, 3, 1, None), (2, 1, 1, None), (7, 5, 1, None), (7, 5, 1, 10), (7, 5, 4, None), (16, 10, 1, 4), (40, 10, 1, None)]


def check():
    """Compares small searches with brute force, then sabotages one in three ways; each must be noticed."""
    rng = np.random.default_rng(1)
    clouds = {
        "uniform, d = 3": rng.random((300, 3)),
        "clusters, d = 2": rng.normal(rng.integers(0, 5, (300, 1)) * 10.0, 0.5, (300, 2)),
        "a grid with duplicates, d = 3": rng.integers(0, 4, (300, 3)).astype(float),
        "equal points, d = 2": np.zeros((60, 2)),
        "a curve, d = 3": np.column_stack([np.cos(t := np.linspace(0, 9, 300)), np.sin(t), t / 9]),
    }
    searches = 0
    for name, cloud in clouds.items():
        points = in_curve_order(cloud)
        for ranks, k, boxes, tile in CHECKED:
            replay = Replay(points, ranks, k, boxes, tile)
            wrong = problems(replay, replay.needed, replay.final) + problems(replay, replay.sent, replay.first)
            wrong += check_row(replay)
            if wrong:
                sys.exit(f"{name}, {ranks} ranks, k = {k}, boxes = {boxes}, tile = {tile}: {wrong[0]} ({len(wrong)} problems)")
            searches += 1
    print(f"{searches} searches agree with brute force")

    replay = Replay(in_curve_order(clouds["uniform, d = 3"]), 16, 5)
    points, (query, rank) = replay.points, replay.needed
    everything = np.arange(len(points))

    def found_one(at):
        rows = [row for _, row in nearest(points, query[at], everything, 5)]
        return rank[at] != replay.home[query[at]] and rank[at] in replay.home[rows]

    lost = next(at for at in range(len(query)) if found_one(at))
    visited = set(zip(query.tolist(), rank.tolist()))
    extra = next((at, to) for at in range(len(points)) for to in range(16) if (at, to) not in visited)
    wrong_neighbours, too_far = "has other neighbours", "farther than its radius"
    sabotage = {
        "a visit that found a neighbour is lost": ((np.delete(query, lost), np.delete(rank, lost)), wrong_neighbours),
        "a visit that the boxes rule out is added": ((np.append(query, extra[0]), np.append(rank, extra[1])), too_far),
        "the radius is halved": (visits(replay.boxes, points, replay.final / 4), wrong_neighbours),
    }
    for name, (pairs, expected) in sabotage.items():
        wrong = [problem for problem in problems(replay, pairs, replay.final) if expected in problem]
        if not wrong:
            sys.exit(f"not noticed: {name}")
        print(f"noticed: {name}: {wrong[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", help="points, .npy")
    parser.add_argument("--ranks", default="8,64,512,1024")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--boxes", type=int, default=1, help="boxes of each part that every rank knows")
    parser.add_argument("--tile", type=int, help="points per box, instead of --boxes")
    parser.add_argument("--order", choices=["curve", "file"], default="curve", help="order of the points before they are divided")
    parser.add_argument("--csv", help="append the counts to this file")
    parser.add_argument("--check", action="store_true", help="compare small searches with brute force and stop")
    options = parser.parse_args()
    if options.check:
        return check()
    if options.file is None:
        parser.error("pass a .npy file, or --check")
    points = load(options.file)
    n, dims = points.shape
    ranks = [int(count) for count in options.ranks.split(",")]
    if not 1 <= options.k <= n:
        parser.error(f"-k {options.k}: must be between 1 and {n}, the number of points")
    if options.boxes < 1 or (options.tile or 1) < 1:
        parser.error("--boxes and --tile must be at least 1")
    if not all(1 <= count <= n for count in ranks):
        parser.error(f"--ranks {options.ranks}: each must be between 1 and {n}, the number of points")
    if options.order == "curve":
        points = in_curve_order(points)
    final = kth_squared_distances(points, options.k)
    boxes = f"a box per {options.tile} points" if options.tile else f"boxes per rank: {options.boxes}"
    print(f"{options.file}: {n:,} × {dims}, k = {options.k}, order of the {options.order}, {boxes}\n")
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    rows = []
    for count in ranks:
        rows.append(Replay(points, count, options.k, options.boxes, options.tile, final).row())
        print("| " + " | ".join(text(rows[-1]) for text in COLUMNS.values()) + " |", flush=True)
    if options.csv:
        job = {"file": pathlib.Path(options.file).name, "n": n, "d": dims, "k": options.k}
        job |= {"order": options.order, "boxes": "" if options.tile else options.boxes, "tile": options.tile or ""}
        is_new = not pathlib.Path(options.csv).exists()
        with open(options.csv, "a", newline="") as file:
            writer = csv.DictWriter(file, [*job, *rows[0]], lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerows(job | row for row in rows)


if __name__ == "__main__":
    main()
