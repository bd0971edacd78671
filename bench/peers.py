#!/usr/bin/env python3
"""Times Warpscope against other exact k-nearest-neighbour libraries installed on this machine, on its GPU.

Usage: bench/peers.py [--warpscope PATH] [--rows all|1,3,5-7] [--engines all|cuda,…] [--peers all|none|torch,faiss,…] [--repeats 5] [--out FILE.csv]
       bench/peers.py --index              the index `bvh` against jz-tree, every point a query; accepts --warpscope, --warmup, --repeats,
                                           --scale, --seed and --out
       bench/peers.py --resources          registers, shared memory, spills and occupancy of the embedded kernels
Needs numpy, and PyTorch for the peers. Builds nothing.

Correctness is checked first. Warpscope's answers on random and adversarial clouds and on every row of the table are compared with
float64, to the tolerance of its oracle; wrong ones are not timed. A peer's recall is printed with its time; below 90 % it is not
timed. Times are of the search alone, with data and queries on the device: Warpscope's own CUDA events (timings.csv, summed over
chunks), and CUDA events around a peer's call. The CSV has a line per repeat.
"""

import argparse
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None

M = 1 << 20
ROWS = [  # q, n, d, k, goal in ms on an H200
    (65_536, M, 2, 32, 17.0),
    (65_536, M, 2, 128, 25.0),
    (65_536, M, 2, 1_024, 90.0),
    (4_096, 4 * M, 2, 32, 6.0),
    (4_096, 4 * M, 2, 128, 7.0),
    (4_096, 4 * M, 2, 1_024, 18.0),
    (65_536, 65_536, 2, 128, 4.0),
    (10_000, 1_000_000, 16, 32, 12.0),
    (10_000, 1_000_000, 128, 32, 25.0),
    (10_000, 1_000_000, 128, 128, 40.0),
    (1_000, 1_000_000, 960, 128, 30.0),
    (1, 16 * M, 2, 32, 0.080),
    (1, 100_000, 2, 32, 0.030),
]
SAMPLE = 32  # queries of a row that are checked
LEAST_RECALL = 0.9


class Wrong(Exception):
    """The answer is not the exact neighbours."""


# ---------------------------------------------------------------------------------------------------------- clouds

def uniform(rng, n, d):
    return rng.random((n, d), dtype=np.float32)


def duplicates(rng, n, d):
    return uniform(rng, 50, d)[rng.integers(0, 50, n)]


def descending(rng, n, d):
    cloud = np.zeros((n, d), np.float32)
    cloud[:, 0] = np.arange(n, 0, -1)
    return cloud


def far_off(rng, n, d):
    """The unit cube, so far from the origin that the expanded form of the distance loses most digits."""
    return uniform(rng, n, d) + np.float32(1_000)


def huge(rng, n, d):
    return (uniform(rng, n, d) - np.float32(0.5)) * np.float32(1e12)


ADVERSARIAL = {"random": uniform, "duplicates": duplicates, "descending": descending, "large offset": far_off, "huge norms": huge}


# ------------------------------------------------------------------------------------------------------ correctness

def expected(data, queries, k):
    """The k smallest squared distances of each query, ascending, in float64; on the GPU if PyTorch is available."""
    rows = max(1, (1 << 25) // data.shape[1])
    on_gpu = torch is not None and torch.cuda.is_available()
    least = [[] for _ in queries]
    for start in range(0, len(data), rows):
        part = data[start:start + rows]
        part = torch.from_numpy(part).cuda().double() if on_gpu else part.astype(np.float64)
        few = min(k, len(part))
        for query, found in zip(queries.astype(np.float64), least):
            if on_gpu:
                found.append(((part - torch.from_numpy(query).cuda()) ** 2).sum(1).topk(few, largest=False).values.cpu().numpy())
            else:
                found.append(np.partition(((part - query) ** 2).sum(1), few - 1)[:few])
    result = np.full((len(queries), k), np.inf)
    for row, found in zip(result, least):
        nearest = np.sort(np.concatenate(found))[:k]
        row[:len(nearest)] = nearest
    return result


def true_distances(data, queries, indices):
    """Squared distances of the returned rows, in float64; NaN for invalid row numbers."""
    there = (indices >= 0) & (indices < len(data))
    distances = np.empty(indices.shape)
    for i, query in enumerate(queries):
        points = data[np.where(there[i], indices[i], 0)].astype(np.float64)
        distances[i] = ((points - query.astype(np.float64)) ** 2).sum(1)
    distances[~there] = np.nan
    return distances


def tolerance(d):
    return max(1e-5, (d + 2) * 2.0 ** -24)


def judge(data, queries, indices, squared_distances, truth):
    """Raises Wrong unless the answer is exact to the tolerance of Warpscope's oracle."""
    indices = indices.astype(np.int64)
    limit = tolerance(data.shape[1]) * truth
    for i in range(len(queries)):
        if len(np.unique(indices[i])) != len(indices[i]):
            raise Wrong(f"query {i} has a neighbour twice")
    for what, distances in (("distance", squared_distances.astype(np.float64)), ("neighbour", true_distances(data, queries, indices))):
        bad = ~(np.abs(distances - truth) <= limit)
        if bad.any():
            query, rank = np.argwhere(bad)[0]
            raise Wrong(f"query {query}, rank {rank}: the {what} is {distances[query, rank]:.9g} away, not {truth[query, rank]:.9g}")


def recall(data, queries, indices, truth):
    """The share of returned rows, without duplicates, that are no farther than the k-th neighbour."""
    distances = true_distances(data, queries, indices.astype(np.int64))
    kth = truth[:, -1:] * (1 + tolerance(data.shape[1]))
    hits = sum(len(set(indices[i][distances[i] <= kth[i]].tolist())) for i in range(len(queries)))
    return hits / indices.size


# -------------------------------------------------------------------------------------------------------- Warpscope

class Warpscope:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def call(self, *arguments):
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(((done.stderr or done.stdout).strip() or f"exit status {done.returncode}").splitlines()[-1])
        return done.stdout

    def engines(self):
        """The engines of this table that can run here."""
        lines = json.loads(self.call("devices", "--json"))
        for line in lines:
            if line["engine"] == "cuda" and not line["can_run"]:
                raise SystemExit(f"peers: warpscope cannot use the GPU: {line['why']}")
        return [line["engine"] for line in lines if line["engine"].startswith("cuda") and line["can_run"]]

    def run(self, engine, data, queries, k, warmup, repeats):
        """Milliseconds of each repeat, indices, squared distances."""
        out, found = self.folder / "run", self.folder / "found.npz"
        shutil.rmtree(out, ignore_errors=True)
        self.call("run", "--engine", engine, "--input", data, "--queries", queries, "--k", k, "--warmup", warmup,
                  "--repeats", repeats, "--neighbors", found, "--out", out)
        times = {}
        with open(out / "timings.csv", newline="") as file:
            for row in csv.DictReader(file):
                if row["phase"] == "search":
                    times[row["repeat"]] = times.get(row["repeat"], 0.0) + float(row["duration_ms"])
        with np.load(found) as archive:
            return list(times.values()), archive["indices"], archive["squared_distances"]


# ------------------------------------------------------------------------------------------------------------ peers
#
# Each takes points (a PyTorch tensor on the GPU) and k, and returns a function from queries to indices, or raises Unfit.

class Unfit(Exception):
    """A peer does not support the shape."""


def chunked(search, n, budget=1 << 31):
    """Answers in chunks whose distance matrix has at most `budget` entries."""
    def answer(queries):
        step = max(1, budget // n)
        return torch.cat([search(queries[start:start + step]) for start in range(0, len(queries), step)])
    return answer


def peer_torch(points, k):
    """cdist and topk, as matrix products."""
    return chunked(lambda queries: torch.topk(torch.cdist(queries, points), k, largest=False, sorted=True).indices, len(points))


def peer_torch_direct(points, k):
    """cdist by differences, which is exact in few dimensions."""
    direct = "donot_use_mm_for_euclid_dist"
    return chunked(lambda queries: torch.topk(torch.cdist(queries, points, compute_mode=direct), k, largest=False, sorted=True).indices,
                   len(points))


def peer_cupy(points, k):
    """The expanded form and a partial sort."""
    import cupy
    # Both libraries launch into the default stream, so their kernels run in order.
    p = cupy.from_dlpack(points)
    norms = (p * p).sum(1)

    def search(queries):
        scores = norms - 2 * (cupy.from_dlpack(queries) @ p.T)
        return torch.from_dlpack(cupy.argpartition(scores, k - 1, axis=1)[:, :k].copy())
    return chunked(search, len(points), 1 << 29)


def peer_keops(points, k):
    from pykeops.torch import Vi, Vj
    if k > 128 or points.shape[1] > 128:
        raise Unfit("its kernel keeps k and d in registers: k and d up to 128 here")
    return lambda queries: ((Vi(queries) - Vj(points)) ** 2).sum(-1).argKmin(k, dim=1)


def peer_flashlib(points, k):
    from flashlib import flash_knn
    return lambda queries: flash_knn(queries, points, k)[1].reshape(len(queries), k)


def peer_faiss(points, k):
    import faiss
    import faiss.contrib.torch_utils  # noqa: F401  (lets it take tensors)
    if not hasattr(faiss, "StandardGpuResources"):
        raise ImportError("faiss without a GPU")
    resources = faiss.StandardGpuResources()
    if k > 2_048:
        raise Unfit("k up to 2,048")
    return lambda queries: faiss.knn_gpu(resources, queries, points, k)[1]


def peer_cuvs(points, k):
    from cuvs.common import Resources
    from cuvs.neighbors import brute_force
    resources = Resources(stream=torch.cuda.current_stream().cuda_stream)
    index = brute_force.build(points, metric="sqeuclidean", resources=resources)

    def answer(queries):
        _, found = brute_force.search(index, queries, k, resources=resources)
        return torch.as_tensor(found, device="cuda")
    return answer


PEERS = {"torch": peer_torch, "torch-direct": peer_torch_direct, "cupy": peer_cupy, "keops": peer_keops, "flashlib": peer_flashlib,
         "faiss": peer_faiss, "cuvs": peer_cuvs}


def event_ms(call):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    result = call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop), result


def time_peer(name, points, queries, data, k, truth, sample, options):
    """Milliseconds of each repeat, and the recall."""
    answer = PEERS[name](points, k)
    # Check a sample and estimate the time first.
    few = queries[sample]
    answer(few)
    found = answer(few).cpu().numpy()
    share = recall(data, few.cpu().numpy(), found, truth)
    if share < LEAST_RECALL:
        raise Unfit(f"wrong: recall {share:.3f}")
    part = queries[:max(1, min(len(queries), 256))]
    answer(part)
    estimate = event_ms(lambda: answer(part))[0] * len(queries) / len(part)
    repeats = min(options.repeats, int(options.limit * 1e3 / max(estimate, 1e-3)))
    if repeats < 1:
        raise Unfit(f"about {estimate / 1e3:.0f} s a search, over the limit of {options.limit:g} s")
    if repeats > 1:
        answer(queries)
    return [event_ms(lambda: answer(queries))[0] for _ in range(repeats)], share


# ------------------------------------------------------------------------------------------------------------ table

def chosen_rows(text):
    if text == "all":
        return list(range(len(ROWS)))
    rows = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        rows += range(int(first) - 1, int(last or first))
    if not all(0 <= row < len(ROWS) for row in rows):
        raise SystemExit(f"peers: rows are 1 to {len(ROWS)}, not {text}")
    return rows


def chosen_peers(text):
    """The names of the peers that run here; prints why others are skipped."""
    if text == "none" or torch is None or not torch.cuda.is_available():
        print("peers: none" + ("" if text == "none" else ": PyTorch cannot use the GPU"))
        return []
    names = list(PEERS) if text == "all" else text.split(",")
    there = []
    for name in names:
        if name not in PEERS:
            raise SystemExit(f"peers: unknown peer {name}; available: {', '.join(PEERS)}")
        try:
            # A peer imports its library here.
            answer = PEERS[name](torch.rand(1_000, 2, device="cuda"), 3)
            answer(torch.rand(40, 2, device="cuda")).cpu()
            there.append(name)
        except Exception as error:  # noqa: BLE001  (a peer may raise anything)
            print(f"peers: no {name}: {one_line(error)}")
    return there


def one_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "…"


def check_adversarial(warpscope, engines, peers, shapes, folder):
    """Runs all engines and peers on small adversarial clouds. Returns the wrong (engine, d, k)."""
    wrong = set()
    print(f"\nadversarial data, n = 20,000, {SAMPLE} queries: exact for Warpscope, recall for peers")
    for d, k in shapes:
        for name, make in ADVERSARIAL.items():
            rng = np.random.default_rng(7)
            data = make(rng, 20_000, d)
            queries = np.concatenate([data[-1:], data[:SAMPLE - 1]])
            np.save(folder / "data.npy", data)
            np.save(folder / "queries.npy", queries)
            truth = expected(data, queries, k)
            verdicts = []
            for engine in engines:
                try:
                    _, indices, distances = warpscope.run(engine, folder / "data.npy", folder / "queries.npy", k, 0, 1)
                    judge(data, queries, indices, distances, truth)
                    verdicts.append(f"{engine} exact")
                except (Wrong, RuntimeError) as error:
                    wrong.add((engine, d, k))
                    verdicts.append(f"{engine} WRONG: {one_line(error)}")
            for peer in peers:
                try:
                    points = torch.from_numpy(data).cuda()
                    found = PEERS[peer](points, k)(torch.from_numpy(queries).cuda()).cpu().numpy()
                    verdicts.append(f"{peer} {recall(data, queries, found, truth):.3f}")
                except Exception as error:  # noqa: BLE001
                    verdicts.append(f"{peer} fails: {one_line(error)[:60]}")
            print(f"  d {d:>3}, k {k:>4}, {name:<12}  " + "; ".join(verdicts), flush=True)
    return wrong


def ms_text(ms):
    return f"{ms * 1e3:.1f} µs" if ms < 1 else f"{ms:.2f} ms" if ms < 100 else f"{ms:,.0f} ms"


def run_row(number, warpscope, engines, peers, wrong, cloud, folder, options, writer):
    q, n, d, k, goal = ROWS[number]
    q, n = max(1, int(q * options.scale)) if q > 1 else 1, max(k, int(n * options.scale))
    data = cloud(n, d)
    rng = np.random.default_rng(options.seed + 1 + number)
    queries = uniform(rng, q, d)
    np.save(folder / "queries.npy", queries)
    sample = np.unique(np.linspace(0, q - 1, min(q, SAMPLE)).astype(int))
    truth = expected(data, queries[sample], k)
    print(f"\nrow {number + 1}: q {q:,} × n {n:,}, d {d}, k {k}" + (f", goal {ms_text(goal)}" if options.scale == 1 else ""), flush=True)
    best = None
    results = []

    def record(who, samples, verdict):
        nonlocal best
        median = statistics.median(samples)
        for repeat, ms in enumerate(samples):
            writer.writerow([who, n, q, d, k, repeat, f"{ms:.6f}"])
        if who.startswith("cuda"):
            best = median if best is None else min(best, median)
        results.append((who, median, min(samples), verdict))

    for engine in engines:
        if (engine, d, k) in wrong:
            print(f"  {engine:<13} not timed: wrong on adversarial data")
            continue
        try:
            samples, indices, distances = warpscope.run(engine, folder / "data.npy", folder / "queries.npy", k, options.warmup, options.repeats)
            judge(data, queries[sample], indices[sample], distances[sample], truth)
            record(engine, samples, "exact")
        except (Wrong, RuntimeError) as error:
            print(f"  {engine:<13} WRONG or failed: {one_line(error)}")
    if peers:
        points, wanted = torch.from_numpy(data).cuda(), torch.from_numpy(queries).cuda()
        for peer in peers:
            try:
                samples, share = time_peer(peer, points, wanted, data, k, truth, torch.from_numpy(sample).cuda(), options)
                record(peer, samples, f"recall {share:.3f}")
            except Exception as error:  # noqa: BLE001
                print(f"  {peer:<13} skipped: {one_line(error)}")
            torch.cuda.empty_cache()
    for who, median, least, verdict in results:
        rate = q * n / median * 1e3
        ratio = f"{median / best:>6.2f}× Warpscope's best" if best and not who.startswith("cuda") else ""
        met = (" goal met" if median <= goal else f" {median / goal:.2f}× the goal") if who.startswith("cuda") and options.scale == 1 else ""
        print(f"  {who:<13} {ms_text(median):>10}  least {ms_text(least):>10}  {rate:.3g} distances/s  {verdict}{met} {ratio}", flush=True)
    return [(number + 1, q, n, d, k, goal, *result) for result in results]


def summary(results, engines, peers, scale):
    """The table as Markdown."""
    columns = [who for who in engines + peers if any(result[6] == who for result in results)]
    print("\n| q | n | d | k | goal | " + " | ".join(columns) + " | best peer ÷ Warpscope |")
    print("|---" * (6 + len(columns)) + "|")
    for number in dict.fromkeys(result[0] for result in results):
        mine = {result[6]: result for result in results if result[0] == number}
        _, q, n, d, k, goal = next(iter(mine.values()))[:6]
        ours = [result[7] for who, result in mine.items() if who.startswith("cuda")]
        theirs = [result[7] for who, result in mine.items() if not who.startswith("cuda")]
        ratio = f"{min(theirs) / min(ours):.1f}×" if ours and theirs else ""
        cells = [ms_text(mine[who][7]) if who in mine else "" for who in columns]
        wanted = ms_text(goal) if scale == 1 else "of the whole"
        print(f"| {q:,} | {n:,} | {d} | {k:,} | {wanted} | " + " | ".join(cells) + f" | {ratio} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--warpscope", type=pathlib.Path, help="the program; default: the one on PATH, or ./warpscope")
    arguments.add_argument("--rows", default="all", help=f"1 to {len(ROWS)}: 1,3,5-7")
    arguments.add_argument("--engines", default="all", help="Warpscope's engines: all, or a list such as cuda,cuda-split")
    arguments.add_argument("--peers", default="all", help="all, none, or a list of " + ", ".join(PEERS))
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--warmup", type=int, default=2)
    arguments.add_argument("--limit", type=float, default=20, help="most seconds for all of a peer's repeats of a row")
    arguments.add_argument("--scale", type=float, default=1, help="factor for n and q, to try the script")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", type=pathlib.Path, help="CSV of every repeat")
    arguments.add_argument("--resources", action="store_true", help="only list the resources of the embedded kernels")
    arguments.add_argument("--index", action="store_true", help="only time the index against jz-tree")
    options = arguments.parse_args()
    path = options.warpscope or shutil.which("warpscope") or pathlib.Path("warpscope")
    if not os.access(path, os.X_OK):
        raise SystemExit("peers: cannot find warpscope on PATH or in this folder: use --warpscope PATH")
    path = pathlib.Path(path).resolve()
    if options.resources:
        import kernel_resources
        return kernel_resources.main([str(path)])

    if options.index:
        import index_gpu
        with tempfile.TemporaryDirectory() as name, open(options.out or os.devnull, "w", newline="") as file:
            return index_gpu.table(Warpscope(path, pathlib.Path(name)), options, csv.writer(file))

    rows = chosen_rows(options.rows)
    rows.sort(key=lambda row: (ROWS[row][2], ROWS[row][1]))  # generate each cloud once
    if torch is not None and torch.cuda.is_available():
        torch.backends.cuda.matmul.allow_tf32 = False
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", end="; ")
    with tempfile.TemporaryDirectory() as name, open(options.out or os.devnull, "w", newline="") as file:
        folder = pathlib.Path(name)
        warpscope = Warpscope(path, folder)
        print(warpscope.call("--version").strip())
        engines = [engine for engine in warpscope.engines() if options.engines == "all" or engine in options.engines.split(",")]
        if not engines:
            raise SystemExit(f"peers: --engines {options.engines}: none of them can run here")
        peers = chosen_peers(options.peers)
        shapes = sorted({(ROWS[row][2], ROWS[row][3]) for row in rows})
        (folder / "small").mkdir()
        wrong = check_adversarial(warpscope, engines, peers, shapes, folder / "small")
        writer = csv.writer(file)
        writer.writerow(["engine", "n", "q", "d", "k", "repeat", "search_ms"])
        kept = {}

        def cloud(n, d):
            if (n, d) not in kept:
                kept.clear()
                kept[n, d] = uniform(np.random.default_rng(options.seed), n, d)
                np.save(folder / "data.npy", kept[n, d])
            return kept[n, d]

        started = time.monotonic()
        results = []
        for row in rows:
            results += run_row(row, warpscope, engines, peers, wrong, cloud, folder, options, writer)
            file.flush()
        summary(sorted(results), engines, peers, options.scale)
        print(f"\n{time.monotonic() - started:.0f} s" + (f"; samples in {options.out}" if options.out else ""))
        expected_results = {(row + 1, engine) for row in rows for engine in engines}
        missing = expected_results - {(result[0], result[6]) for result in results}
        if missing:
            print(f"peers: {len(missing)} of Warpscope's measurements failed", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
