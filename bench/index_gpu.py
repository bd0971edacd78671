"""`bench/peers.py --index`: `bvh` against the GPU index jz-tree (https://pypi.org/project/jztree), with published times of cudaKDTree.

Every point is a query, and all points are on the device. Warpscope's time is index and search, by CUDA events; jz-tree's is host time
around its compiled call, which builds its index each time. The squared radii of both must agree to the tolerance of Warpscope's oracle.
"""

import csv
import os
import shutil
import statistics
import time

import numpy as np

M = 1_000_000
ROWS = [  # n = q, d, k, goal in ms on an H200, best sum of build and query of cudaKDTree there
    (65_536, 2, 128, 0.5, 2.6),
    (M, 2, 8, 0.8, 5.8),
    (M, 2, 32, 1.3, 8.1),
    (M, 2, 128, 4.0, 32.9),
    (M, 3, 8, 1.3, 7.6),
    (M, 3, 32, 2.5, 12.4),
    (M, 3, 128, 7.0, 55.0),
    (10 * M, 2, 8, 7.0, 50.0),
    (10 * M, 2, 32, 13.0, 72.0),
    (10 * M, 3, 8, 12.0, 69.0),
    (10 * M, 3, 32, 25.0, 115.0),
]
CUDA_KD_TREE = "github.com/ingowald/cudaKDTree, HEAD, queries in Morton order; measured earlier on one H200, not by a script of this repository"


def jz_tree():
    """Returns a function that prepares a search of points with k, or prints why jz-tree cannot run and returns None."""
    try:
        # Otherwise JAX allocates three quarters of the GPU's memory at once.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
        import jztree
        from jztree.knn import knn
        if jax.default_backend() != "gpu":
            raise ImportError("jax does not reach the GPU")
    except Exception as error:  # noqa: BLE001  (a peer may raise anything)
        print(f"peers: no jz-tree: {' '.join(str(error).split())[:160]}")
        return None
    print(f"jz-tree {getattr(jztree, '__version__', '')}, jax {jax.__version__}")

    def prepare(points, k):
        resident = jax.device_put(points)
        compiled = jax.jit(lambda points: knn(points, k))

        def answer():
            return jax.block_until_ready(compiled(resident))
        return answer
    return prepare


def warpscope_row(warpscope, cloud, k, warmup, repeats):
    """Milliseconds of the index and of each search, and the squared distances."""
    out, found = warpscope.folder / "run", warpscope.folder / "found.npz"
    shutil.rmtree(out, ignore_errors=True)
    warpscope.call("run", "--engine", "bvh", "--device", "0", "--input", cloud, "--queries", "all", "--k", k, "--warmup", warmup, "--repeats",
                   repeats, "--neighbors", found, "--out", out)
    index, searches = 0.0, {}
    with open(out / "timings.csv", newline="") as file:
        for row in csv.DictReader(file):
            ms = float(row["duration_ms"])
            if row["phase"] == "build index":
                index += ms
            elif row["phase"] == "search":
                searches[row["repeat"]] = searches.get(row["repeat"], 0.0) + ms
    with np.load(found) as archive:
        return index, list(searches.values()), archive["squared_distances"]


def table(warpscope, options, writer):
    """Prints the table, and writes each repeat."""
    peer = jz_tree()
    print(f"cudaKDTree: {CUDA_KD_TREE}\n\n| q = n | d | k | goal | bvh, index + search | jz-tree | jz-tree ÷ bvh | cudaKDTree |\n" + "|---" * 8 + "|")
    writer.writerow(["engine", "n", "q", "d", "k", "repeat", "ms"])
    for n, d, k, goal, other in ROWS:
        n = max(k + 1, int(n * options.scale))
        points = np.random.default_rng(options.seed).random((n, d), dtype=np.float32)
        cloud = warpscope.folder / "cloud.npy"
        np.save(cloud, points)
        index, searches, squared = warpscope_row(warpscope, cloud, k, options.warmup, options.repeats)
        ours = index + statistics.median(searches)
        for repeat, ms in enumerate(searches):
            writer.writerow(["bvh", n, n, d, k, repeat, f"{index + ms:.6f}"])
        theirs, said = None, ""
        if peer:
            try:
                answer = peer(points, k)
                radii = np.asarray(answer()[0], np.float64)
                times = []
                for repeat in range(options.repeats):
                    start = time.perf_counter()
                    answer()
                    times.append((time.perf_counter() - start) * 1e3)
                    writer.writerow(["jz-tree", n, n, d, k, repeat, f"{times[-1]:.6f}"])
                theirs = statistics.median(times)
                wrong = int((np.abs(radii ** 2 - squared) > 1e-5 * squared + 1e-12).any(axis=1).sum())
                said = f"{theirs:.2f} ms" + (f", {wrong:,} queries differ" if wrong else "")
            except Exception as error:  # noqa: BLE001
                said = "failed: " + " ".join(str(error).split())[:60]
        ratio = f"{theirs / ours:.1f}×" if theirs else ""
        print(f"| {n:,} | {d} | {k} | {goal} ms | {ours:.3f} ms ({index:.3f} + {statistics.median(searches):.3f}) | {said} | {ratio} | {other} ms |",
              flush=True)
