#!/usr/bin/env python3
"""Prints the tables of docs/scaling.md that predict searches of up to 10¹² points.

    bench/scaling/model.py [--check docs/scaling.md]

Each stage of a search is a number of bytes or operations divided by a rate. Rates were measured on one or two GPUs, or are limits
of the hardware; the first table says which. Nothing else is fitted. Counts of simulate.csv are shown beside the model's.
`--check` compares the tables with those of a page and fails if they differ. Needs only Python.
"""

import argparse
import csv
import math
import pathlib
import sys
from dataclasses import dataclass

GIB, GB, TB = 2.0**30, 1e9, 1e12


@dataclass
class Rate:
    name: str
    value: float
    text: str
    source: str


# Measured. "Section" names are those of bench/README.md.
LOAD = Rate("load: read, convert, hash", 120e6 / 0.136, "0.88 GB/s per process", "Opening: `.npy`, f32, page cache, two cores")
UPLOAD = Rate("copy to a GPU", 7.7e9, "7.7 GB/s", "commit 6491b152: pageable memory; pinned buffers since are faster, not measured")
INDEX = Rate("index, d = 3", 10e6 / 0.949e-3, "10.5 G points/s", "The index: 10 million points, H200")
NEAREST = Rate("search of the index, d = 3, k = 10", 10e6 / 13.3e-3, "752 M queries/s", "Several GPUs: `bvh`, one H100")
NEAREST_SHARED = Rate(
    "the same, queries split among GPUs", 10e6 / (2 * 9.0e-3), "556 M queries/s per GPU", "Several GPUs: `bvh`, two H100"
)
DISTANCES = Rate("distances, d = 128", 1e10 / 10.1e-3, "0.99 T distances/s", "Several GPUs: `cuda`, one H100")
SCAN = Rate("points read by few queries", 268e6 * 8 / 723e-6, "2.97 TB/s", "Several GPUs: `cuda-split`, one H100")
DOWNLOAD = Rate("copy from a GPU", 10e6 * 12 * 8 / 0.07, "13.7 GB/s", "From file to file: 0.96 GB of candidates, pageable")
RANKING = Rate(
    "rank by the file's values (measured for d = 3)",
    10e6 / (0.60 * 32),
    "0.52 M queries/s per core",
    "From file to file: 0.55 to 0.65 s on 32 cores",
)
WRITE = Rate("write lists", 2.0e9 / 3.25, "0.62 GB/s per process", "From file to file: one thread; all cores since, not measured")

# Not measured: limits of the hardware.
DISK = Rate("disk", 7e9, "7 GB/s per machine", "**assumed**: an NVMe drive on PCIe 4.0 × 4, or as fast a share of a file system")
NETWORK = Rate("network", 50e9, "50 GB/s per GPU", "**assumed**: 400 Gbit/s per GPU")
GPU_MEMORY = Rate("memory of a GPU", 80e9, "80 GB", "H100 80GB; a tenth is left free")
HOST_MEMORY = Rate("memory of the host", 256 * GIB, "256 GiB per GPU", "**assumed**")
CORES = Rate("cores", 16, "16 per GPU", "the machines of From file to file and The index")
PER_MACHINE = Rate("GPUs", 8, "8 per machine", "**assumed**")

RATES = [LOAD, UPLOAD, INDEX, NEAREST, NEAREST_SHARED, DISTANCES, SCAN, DOWNLOAD, RANKING, WRITE]
RATES += [DISK, NETWORK, GPU_MEMORY, HOST_MEMORY, CORES, PER_MACHINE]

MAX_ROWS = 2**32 - 1 - 4096  # rows of a file: `MAX_ROWS` in crates/cloud
MAX_INDEXED = 2**30 - 1  # points of an index: `MAX_POINTS` in crates/engines/src/index/bvh.rs
BLOCK_SHARE, TILE_SHARE = 1 / 4, 1 / 2  # of the host's memory: src/run/tiles/plan.rs
SIMULATED = pathlib.Path(__file__).with_name("simulate.csv")
CUBES_AROUND = 26  # a cube of a grid and those that touch it are 27

POINTS = [10**9, 10**10, 10**11, 10**12]
GPUS = [1, 8, 64, 1024]


@dataclass
class Job:
    d: int
    k: int
    queries: int | None  # None: every point

    @property
    def row_bytes(self):
        return 4 * self.d

    @property
    def candidates(self):
        """Neighbours that an engine is asked for: `search_k` in crates/exact."""
        return min(self.k + 2 + self.k * min(self.d, 64) // 256, 32)

    @property
    def list_bytes(self):
        """Bytes of a query in an .npz: i64, f32 and f64 per neighbour."""
        return 20 * self.k

    def device_bytes(self):
        """Bytes of a point on a GPU: coordinates, and the tree and its sort, or the filter's BF16 copy."""
        if self.d <= 3:
            tree = 4 * (self.d + 1) + 4 * (2 * self.d + 3) / 31
            sort = 4 * 4 + 1
            return self.row_bytes + tree + sort
        return self.row_bytes + 2 * self.d + 8

    def host_bytes(self):
        """Bytes of a point in the host's memory if all points are resident: `TilePlan::reason`."""
        index = 32 + 8 * self.d if self.d <= 64 else 4 * self.d
        return 8 * self.d + 4 * self.d + index

    def is_resident(self, points):
        return points <= self.tile() and points * self.host_bytes() <= HOST_MEMORY.value

    def tile(self):
        """The most points of a tile: what host, GPU and index can hold."""
        index = 32 + 8 * self.d if self.d <= 64 else 4 * self.d
        most = min(
            TILE_SHARE * HOST_MEMORY.value / (2 * self.row_bytes + index), 0.9 * GPU_MEMORY.value / self.device_bytes()
        )
        return min(int(most), MAX_INDEXED) if self.d <= 3 else int(most)

    def block(self):
        """The most queries of a block: `TilePlan::new`."""
        listed = self.k + 3 + self.k // 4
        return int(BLOCK_SHARE * HOST_MEMORY.value / (self.row_bytes + 4 * self.d + 8 * listed + 8))


ALL_NEAREST = Job(d=3, k=10, queries=None)
FEW_BY_MANY = Job(d=128, k=10, queries=10_000)


def cubes_visited(points, k, inner=1.0):
    """Cubes that touch the ball around a query and its k nearest, itself included, if each cube has this many of uniform points.

    Steiner's formula for the volume within r of a cube of side s, over s³, with the moments of r. `inner`: the share of faces
    that have another cube behind them.
    """
    side, ball = points ** (1 / 3), 4 / 3 * math.pi
    others = k - 1
    moment = [math.exp(math.lgamma(others + m / 3) - math.lgamma(others)) / ball ** (m / 3) for m in range(4)]
    faces, edges, corners = 6 * moment[1] / side, 3 * math.pi * moment[2] / side**2, ball * moment[3] / side**3
    return 1 + inner * faces + inner**2 * edges + inner**3 * corners


@dataclass
class Prediction:
    tiles: int  # of a GPU
    stages: dict  # seconds
    sort: float | None = None  # seconds to divide the points along the curve, once


def disk_share(processes):
    """Bytes per second of a process; those of a machine share its disk."""
    return DISK.value / min(processes, PER_MACHINE.value)


def seconds_to_load(size, processes):
    return size / min(LOAD.value, disk_share(processes))


def seconds_to_write(size, processes):
    return size / min(WRITE.value, disk_share(processes))


def seconds_to_copy(there, back):
    return there / UPLOAD.value + back / DOWNLOAD.value


def seconds_to_measure(points, queries, d):
    """Brute force: the distances, or reading the points if there are few queries."""
    return max(points * queries / DISTANCES.value, points * 4 * d / SCAN.value)


def queries_split(job, n, gpus):
    """Every process has all points and a share of the queries; the first process writes."""
    q = n if job.queries is None else job.queries
    share, tiles = math.ceil(q / gpus), math.ceil(n / job.tile())
    if job.is_resident(n):
        loaded, copied = n, n
    elif job.queries is None:
        # Blocks do not cross tiles. Each reads its rows, its tile, those around it, and the rows of its lists.
        tile = math.ceil(n / tiles)
        blocks = math.ceil(share / min(tile, job.block()))
        copied = blocks * (1 + min(tiles - 1, CUBES_AROUND)) * tile
        loaded = 2 * n + 2 * share + copied
    else:
        # In many dimensions boxes prune nothing: tiles are read for their own queries, then for the others.
        copied = 2 * n
        loaded = 2 * n + copied
    if job.queries is None:
        visits = cubes_visited(n / tiles, job.k) if tiles > 1 else 1
        rate = NEAREST if gpus == tiles == 1 else NEAREST_SHARED
        compute = copied / INDEX.value + share * visits / rate.value
    else:
        visits = tiles
        compute = seconds_to_measure(n, share, job.d)
    stages = {
        "load": seconds_to_load(loaded * job.row_bytes, gpus),
        "copies": seconds_to_copy(copied * job.row_bytes, share * visits * job.candidates * 8),
        "search": compute,
        "network": (q - share) * job.list_bytes / NETWORK.value,
        "rank": share / (RANKING.value * CORES.value),
        "write": seconds_to_write(q * job.list_bytes, 1),
    }
    return Prediction(tiles, stages)


def points_split(job, n, gpus):
    """Every process has the points of a part of the curve; queries go to the parts that they need, lists come back."""
    points = math.ceil(n / gpus)
    tiles = math.ceil(points / job.tile())
    entry = 4 + 8  # distance and row
    sort = None
    if job.queries is None:
        # In tiles: ranges and boxes; each tile for its own queries, then for those of others; rows of lists.
        loaded, copied = (points, points) if job.is_resident(points) else (5 * points, 2 * points)
        parts = cubes_visited(points, job.k) if gpus > 1 else 1
        visits = cubes_visited(points / tiles, job.k) if gpus * tiles > 1 else 1
        compute = copied / INDEX.value + points / NEAREST.value + points * (visits - 1) / NEAREST_SHARED.value
        sent = points * (parts - 1) * (job.row_bytes + 8 + job.candidates * entry)
        own, writers = points, gpus
        part = points * job.row_bytes
        sort = seconds_to_load(part, gpus) + part * (1 - 1 / gpus) / NETWORK.value + part / disk_share(gpus)
    else:
        # All queries at once, in each tile. The first process sends them, and receives and ranks the lists.
        loaded, copied = (points, points) if job.is_resident(points) else (3 * points, points)
        visits, own, writers = tiles, job.queries, 1
        compute = seconds_to_measure(points, own, job.d)
        sent = (gpus - 1) * own * (job.row_bytes + job.candidates * entry)
    stages = {
        "load": seconds_to_load(loaded * job.row_bytes, gpus),
        "copies": seconds_to_copy(copied * job.row_bytes, own * visits * job.candidates * 8),
        "search": compute,
        "network": sent / NETWORK.value,
        "rank": own / (RANKING.value * CORES.value),
        "write": seconds_to_write(own * job.list_bytes, writers),
    }
    return Prediction(tiles, stages, sort)


def count(value):
    if value >= 1e5:
        exponent = int(math.floor(math.log10(value)))
        digits = f"{value / 10**exponent:.3g}"
        power = "10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return power if digits == "1" else f"{digits}·{power}"
    return f"{value:,.0f}"


def time(seconds):
    for limit, unit, name in [(1e-3, 1e-6, "µs"), (1, 1e-3, "ms"), (100, 1, "s"), (6000, 60, "min"), (2 * 86400, 3600, "h")]:
        if seconds < limit:
            break
    else:
        unit, name = 86400, "days"
    value = seconds / unit
    return "0" if seconds == 0 else f"{value:.2g} {name}" if value < 10 else f"{value:,.0f} {name}"


def size(value):
    for unit, name in [(1e15, "PB"), (1e12, "TB"), (1e9, "GB")]:
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value:.0f} B"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def rates():
    return table(["stage or part", "rate", "source"], [[rate.name, rate.text, rate.source] for rate in RATES])


def sizes():
    def row(n):
        return [
            count(n),
            size(n * ALL_NEAREST.row_bytes),
            size(n * ALL_NEAREST.device_bytes()),
            f"{math.ceil(n / ALL_NEAREST.tile()):,}",
            size(n * ALL_NEAREST.list_bytes),
            size(n * 8),
            size(n * FEW_BY_MANY.row_bytes),
            f"{math.ceil(n / FEW_BY_MANY.tile()):,}",
        ]

    header = ["points", "file, d = 3", "with the index on GPUs", "tiles", "lists, k = 10", "only k-th distances"]
    return table([*header, "file, d = 128", "tiles"], map(row, POINTS))


def predictions(job, design, sizes):
    """A row per number of points and of GPUs."""
    rows = []
    for n in sizes:
        for gpus in GPUS:
            prediction = design(job, n, gpus)
            stages = prediction.stages
            longest = max(stages, key=stages.get)
            times = [f"**{time(value)}**" if name == longest else time(value) for name, value in stages.items()]
            once = [] if prediction.sort is None else [time(prediction.sort)]
            total = sum(stages.values())
            rows.append([count(n), f"{gpus:,}", f"{prediction.tiles:,}", *once, *times, time(total), time(total - stages["write"])])
    once = [] if prediction.sort is None else ["sort, once"]
    return table(["points", "GPUs", "tiles per GPU", *once, *stages, "sum", "sum without writing"], rows)


def visits():
    """How often balls cross the faces of cubes, by Steiner's formula."""
    rows = [[count(n), *(f"{cubes_visited(n, k) - 1:.2g}" for k in (1 + 1, 10, 32, 100))] for n in (10**3, 10**5, 10**7, 10**9)]
    return table(["points of a part", "k = 2", "k = 10", "k = 32", "k = 100"], rows)


def cubes_and_simulation():
    """The same for a million uniform points, beside the counts of simulate.py."""
    with open(SIMULATED, newline="", encoding="utf-8") as file:
        counts = {(row["file"], row["boxes"], row["ranks"]): float(row["needed_mean"]) for row in csv.DictReader(file)}
    rows = []
    for along in (2, 4, 8):
        parts = along**3
        simulated = [f"{counts['uniform.npy', boxes, str(parts)]:.2f}" for boxes in ("1", "8", "32")]
        rows.append([str(parts), f"{cubes_visited(10**6 / parts, 10, 1 - 1 / along):.2f}", *simulated])
    return table(["parts", "V, cubes", "simulated, 1 box per part", "8 boxes", "32 boxes"], rows)


def crossovers():
    """Where one stage overtakes another."""
    wide = FEW_BY_MANY
    loading = wide.row_bytes / LOAD.value * DISTANCES.value
    writing = ALL_NEAREST.list_bytes / WRITE.value * NEAREST.value
    ranking = NEAREST.value / RANKING.value
    scan = DISTANCES.value * wide.row_bytes / SCAN.value
    rows = [
        ["d = 128: queries whose search on a GPU takes as long as loading the points", count(loading)],
        ["d = 128: queries whose distances take as long as reading the GPU's memory", count(scan)],
        ["d = 3, k = 10: time of writing lists, one thread, relative to searching", f"{writing:,.0f} ×"],
        ["d = 3, k = 10: cores that rank as fast as one GPU searches", f"{ranking:,.0f}"],
        ["d = 3: rows that 80 GB hold with the index", count(0.9 * GPU_MEMORY.value / ALL_NEAREST.device_bytes())],
        ["d = 3: rows of one index", count(MAX_INDEXED)],
        ["rows of one file", count(MAX_ROWS)],
    ]
    return table(["threshold", "value"], rows)


def tables():
    searchable = [10**9, 4 * 10**9]
    return {
        "rates": rates(),
        "sizes": sizes(),
        "visits": visits(),
        "cubes and simulation": cubes_and_simulation(),
        "all-kNN, queries split": predictions(ALL_NEAREST, queries_split, searchable),
        "all-kNN, points split": predictions(ALL_NEAREST, points_split, POINTS),
        "d = 128, queries split": predictions(FEW_BY_MANY, queries_split, searchable),
        "d = 128, points split": predictions(FEW_BY_MANY, points_split, POINTS),
        "crossovers": crossovers(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", metavar="PAGE", help="fail if a table of the page is not the one printed")
    options = parser.parse_args()
    if options.check:
        page = pathlib.Path(options.check).read_text(encoding="utf-8")
        stale = [name for name, text in tables().items() if text not in page]
        if stale:
            sys.exit(f"{options.check}: tables that differ from this script's: {', '.join(stale)}")
        return print(f"{options.check} has all tables")
    for name, text in tables().items():
        print(f"{name}\n\n{text}\n")


if __name__ == "__main__":
    main()
