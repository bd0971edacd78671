#!/usr/bin/env python3
"""Measures what exact order costs: `warpscope knn --arithmetic file` against `f32`, file to file, on generated data.

Usage: bench/exact_order.py [--warpscope PATH] [--datasets all|utm,utm-csv,globe,embedding,savetxt] [--devices cpu,0] [--repeats 3]
Needs numpy. Builds nothing.

Both commands alternate; times are medians. *File to file* is the time of the whole command, *search* is the time from loading to the
last neighbour. Prints a Markdown table.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

EMBEDDING_QUERIES_ON_CPU = 100  # of 100,000; more would take too long


def utm(rng):
    """10⁶ × 3 coordinates in metres, rounded to millimetres, about 0.5 m apart."""
    n = 1_000_000
    area = rng.uniform(0, 0.5 * np.sqrt(n), (n, 2))
    height = 300 + 20 * np.sin(area[:, 0] / 50) + rng.normal(0, 0.1, n)
    metres = np.column_stack([area + [456_000, 5_428_000], height])
    return np.round(metres, 3)


def globe(rng):
    """10⁶ × 2 degrees of longitude and latitude, uniform on the globe, seven digits after the point."""
    n = 1_000_000
    degrees = [rng.uniform(-180, 180, n), np.degrees(np.arcsin(rng.uniform(-1, 1, n)))]
    return np.round(np.column_stack(degrees), 7)


def decimals(rng):
    """10⁶ × 3 values in [0, 1) with 19 digits, as `numpy.savetxt` writes them by default."""
    return rng.random((1_000_000, 3))


def embedding(rng):
    """10⁵ × 1,536 unit vectors in 200 clusters, f32."""
    n, d = 100_000, 1_536
    vectors = rng.standard_normal((200, d), dtype=np.float32)[rng.integers(0, 200, n)]
    vectors += 0.7 * rng.standard_normal((n, d), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write_csv(path, table, header, digits):
    np.savetxt(path, table, fmt=f"%.{digits}f", delimiter=",", header=header, comments="")


DATASETS = {  # file, generator, k, writer
    "utm": ("utm.npy", utm, 16, np.save),
    "utm-csv": ("utm.csv", utm, 16, lambda path, data: write_csv(path, data, "easting,northing,elevation", 3)),
    "globe": ("globe.csv", globe, 10, lambda path, data: write_csv(path, data, "lon,lat", 7)),
    "embedding": ("embedding.npy", embedding, 100, np.save),
    "savetxt": ("savetxt.csv", decimals, 16, lambda path, data: np.savetxt(path, data, delimiter=",", header="x,y,z", comments="")),
}


def timed(command):
    start = time.monotonic()
    answer = subprocess.run(command, capture_output=True, text=True)
    wall = time.monotonic() - start
    if answer.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {answer.stderr}")
    return wall, json.loads(answer.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--warpscope", default="target/release/warpscope")
    parser.add_argument("--datasets", default="all")
    parser.add_argument("--devices", default="cpu,0")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = DATASETS if options.datasets == "all" else options.datasets.split(",")
    print("| file | k | device, engine | file to file, `file` and `f32` | ratio | search, `file` and `f32` | ratio |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            file, data, k, write = DATASETS[name]
            path = pathlib.Path(folder) / file
            write(path, data(np.random.default_rng(options.seed)))
            for device in options.devices.split(","):
                queries = str(EMBEDDING_QUERIES_ON_CPU) if name == "embedding" and device == "cpu" else "all"
                command = [options.warpscope, "knn", path, queries, "-k", str(k), "-o", path.with_suffix(".parquet")]
                command += ["--json", "--device", device]
                samples = {"file": [], "f32": []}
                for _ in range(options.repeats):
                    for arithmetic, times in samples.items():
                        wall, answer = timed([*command, "--arithmetic", arithmetic])
                        times.append((wall, answer["seconds"]))
                wall, search = ([statistics.median(t[at] for t in samples[a]) for a in ("file", "f32")] for at in (0, 1))
                print(
                    f"| `{file}` | {k} | {answer['device']}, {answer['engine']} | {wall[0]:.2f} s, {wall[1]:.2f} s | {wall[0] / wall[1]:.2f} "
                    f"| {search[0]:.2f} s, {search[1]:.2f} s | {search[0] / search[1]:.2f} |",
                    flush=True,
                )
            path.unlink()


if __name__ == "__main__":
    main()
