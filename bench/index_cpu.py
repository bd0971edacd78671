#!/usr/bin/env python3
"""Times all-nearest-neighbour search on the CPU: bvh and kdtree against pykdtree and SciPy's cKDTree.

    bench/index_cpu.py [--program warpscope] [--n 1000000] [--k 32] [--dims 2,3] [--rounds 3] [--out samples.csv]

Each round times every method in turn, index and search together, with all threads available to the process. The table has each
method's best round and its ratio to bvh. All distances must equal those of bvh. Needs numpy, scipy and pykdtree; peers that
cannot be imported are skipped.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="warpscope")
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=32)
    parser.add_argument("--dims", default="2,3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", help="write every sample here")
    return parser.parse_args()


def warpscope(program, engine, points, k, folder):
    """Seconds of building and searching once, and the squared distances."""
    cloud, found, out = folder / "points.npy", folder / "found.npz", folder / engine
    if not cloud.exists():
        np.save(cloud, points)
    command = [program, "run", "--input", cloud, "--queries", "all", "--k", str(k), "--engine", engine, "--device", "cpu"]
    command += ["--warmup", "0", "--repeats", "1", "--neighbors", found, "--out", out]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out / "timings.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    seconds = sum(float(row["duration_ms"]) for row in rows if row["phase"] in ("build index", "search")) / 1e3
    return seconds, np.load(found)["squared_distances"]


def peers():
    """Yields the name of each peer, and a function from points and k to distances."""
    try:
        from pykdtree.kdtree import KDTree

        yield "pykdtree", lambda points, k: KDTree(points).query(points, k=k)[0]
    except ImportError:
        print("pykdtree is not installed", file=sys.stderr)
    try:
        from scipy.spatial import cKDTree

        yield "scipy", lambda points, k: cKDTree(points).query(points, k=k, workers=-1)[0]
    except ImportError:
        print("scipy is not installed", file=sys.stderr)


def main():
    args = arguments()
    threads = len(os.sched_getaffinity(0))
    os.environ["OMP_NUM_THREADS"] = str(threads)
    others = list(peers())
    samples = []
    print(f"n = {args.n:,}, k = {args.k}, {threads} threads; best of {args.rounds} rounds, in seconds, index included")
    for dims in map(int, args.dims.split(",")):
        points = np.random.default_rng(0).random((args.n, dims), dtype=np.float32)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            best = {}
            for round in range(args.rounds):
                reference = None
                for engine in ("bvh", "kdtree"):
                    seconds, squared = warpscope(args.program, engine, points, args.k, folder)
                    reference = squared if reference is None else reference
                    if not np.array_equal(reference, squared):
                        sys.exit(f"distances of {engine} differ from bvh's")
                    samples.append((dims, engine, round, seconds))
                    best[engine] = min(best.get(engine, seconds), seconds)
                for name, search in others:
                    start = time.perf_counter()
                    distances = search(points, args.k)
                    seconds = time.perf_counter() - start
                    if not np.allclose(np.asarray(distances) ** 2, reference, rtol=1e-4, atol=1e-12):
                        sys.exit(f"distances of {name} differ from bvh's")
                    samples.append((dims, name, round, seconds))
                    best[name] = min(best.get(name, seconds), seconds)
        line = ", ".join(f"{name} {seconds:.2f} s ({seconds / best['bvh']:.2f}x)" for name, seconds in best.items())
        print(f"d = {dims}: {line}", flush=True)
    if args.out:
        with open(args.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["d", "method", "round", "seconds"])
            writer.writerows(samples)


if __name__ == "__main__":
    main()
