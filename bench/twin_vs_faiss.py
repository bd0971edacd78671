#!/usr/bin/env python3
"""Times the CPU twin of the direct kernel against faiss-cpu's IndexFlatL2 on the same cores.

Usage: bench/twin_vs_faiss.py WARPSCOPE [--rounds 5] [--out FILE.csv]     needs numpy and faiss-cpu

Rounds alternate between the two on the same cloud and queries, so that other load affects both. Only the search is timed:
Faiss's `search`, and the twin's `search` phase. The neighbours of every round must agree.
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import tempfile
import time

import faiss
import numpy as np

SHAPES = [  # n, q, d, k
    (1_000_000, 1_000, 2, 32),
    (1_000_000, 1_000, 3, 32),
    (1_000_000, 1_000, 2, 1_024),
    (100_000, 1_000, 128, 32),
]


def twin(warpscope, folder, data, queries, k):
    """The milliseconds of one search, and its squared distances."""
    out = folder / "run"
    subprocess.run(
        [warpscope, "run", "--engine", "lockstep", "--input", data, "--queries", queries, "--k", str(k), "--warmup", "1",
         "--repeats", "1", "--neighbors", folder / "found.npz", "--out", out],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    with open(out / "timings.csv", newline="") as file:
        search = sum(float(row["duration_ms"]) for row in csv.DictReader(file) if row["phase"] == "search")
    return search, np.load(folder / "found.npz")["squared_distances"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("warpscope", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--out", type=pathlib.Path)
    options = arguments.parse_args()

    rows = []
    print(f"faiss-cpu {faiss.__version__}, {faiss.omp_get_max_threads()} threads; medians of {options.rounds} rounds")
    print(f"{'n':>9} {'q':>6} {'d':>4} {'k':>5} {'faiss ms':>9} {'twin ms':>9} {'ratio':>6}")
    for n, q, d, k in SHAPES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            rng = np.random.default_rng(1)
            data, queries = rng.random((n, d), dtype=np.float32), rng.random((q, d), dtype=np.float32)
            np.save(folder / "data.npy", data)
            np.save(folder / "queries.npy", queries)
            index = faiss.IndexFlatL2(d)
            index.add(data)
            samples = {"faiss": [], "twin": []}
            for round_ in range(options.rounds):
                start = time.perf_counter()
                expected, _ = index.search(queries, k)
                samples["faiss"].append((time.perf_counter() - start) * 1e3)
                ms, found = twin(options.warpscope, folder, folder / "data.npy", folder / "queries.npy", k)
                samples["twin"].append(ms)
                # Loose tolerance: Faiss's expanded form loses digits in few dimensions.
                assert np.allclose(found, expected, rtol=1e-3, atol=1e-5 * d), "the neighbours differ"
                rows += [(engine, n, q, d, k, round_, samples[engine][-1]) for engine in samples]
            faiss_ms, twin_ms = (statistics.median(samples[engine]) for engine in ("faiss", "twin"))
            print(f"{n:>9} {q:>6} {d:>4} {k:>5} {faiss_ms:>9.0f} {twin_ms:>9.0f} {faiss_ms / twin_ms:>5.1f}x")
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["engine", "n", "q", "d", "k", "round", "search_ms"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
