#!/usr/bin/env python3
"""Times `warpscope knn` against Python's k-d trees: a uniform cloud, every point a query, from loaded points to all neighbours, index included.

Usage: bench/knn.py [--warpscope PATH] [--n 1000000] [--k 10] [--repeats 3]
Needs numpy, SciPy and pykdtree. Builds nothing. Compares the neighbours before timing; times are medians.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
from pykdtree.kdtree import KDTree
from scipy.spatial import cKDTree

ENGINES = ["auto", "bvh", "kdtree", "kdtree-threads"]


def timed(work):
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--warpscope", default="target/release/warpscope")
    arguments.add_argument("--n", type=int, default=1_000_000)
    arguments.add_argument("--k", type=int, default=10)
    arguments.add_argument("--repeats", type=int, default=3)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for dims in (2, 3):
            cloud = pathlib.Path(folder) / f"{dims}.npy"
            points = np.random.default_rng(1).random((given.n, dims), dtype=np.float32)
            np.save(cloud, points)

            def knn(engine, *more):
                done = subprocess.run([given.warpscope, "knn", cloud, "-k", str(given.k), "--engine", engine, "--quiet", "--json", *more], capture_output=True, text=True, check=True)
                return json.loads(done.stdout)

            out = pathlib.Path(folder) / "found.npz"
            knn("auto", "-o", out)
            theirs = cKDTree(points).query(points, k=given.k, workers=-1)[0]
            with np.load(out) as found:
                assert np.allclose(found["distances"], theirs, rtol=1e-5, atol=1e-7), "neighbours differ from SciPy's"
            planned = subprocess.run([given.warpscope, "run", "--input", cloud, "--queries", "all", "--k", str(given.k), "--warmup", "0", "--repeats", "1", "--dry-run"], capture_output=True, text=True, check=True)
            taken = next(line for line in planned.stdout.splitlines() if "taken" in line)
            peers = {
                "pykdtree": lambda: KDTree(points).query(points, k=given.k),
                "SciPy": lambda: cKDTree(points).query(points, k=given.k, workers=-1),
            }
            times = {name: [] for name in [*ENGINES, *peers]}
            for _ in range(given.repeats):
                for engine in ENGINES:
                    times[engine].append(knn(engine)["seconds"])
                for name, peer in peers.items():
                    times[name].append(timed(peer)[0])
            medians = {name: statistics.median(of) for name, of in times.items()}
            best = min(medians[name] for name in medians if name != "auto")
            print(f"{given.n:,} points in {dims} dimensions, k = {given.k}: predicted {' '.join(taken.split())}")
            for name, median in medians.items():
                print(f"  {name:15} {median:7.3f} s  {median / best:5.2f} of the best other")


if __name__ == "__main__":
    main()
