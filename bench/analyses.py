#!/usr/bin/env python3
"""Compares results of `analyse`, `recall` and haversine with scikit-learn, SciPy and Faiss on the same rows.

Usage: bench/analyses.py WARPSCOPE     needs numpy, scipy, scikit-learn and faiss-cpu

The digits come with scikit-learn; other clouds are generated. Both programs compute each result, the peer in float64, and the largest
difference over all rows is printed. The exit status is 1 if a difference exceeds its tolerance. Digits have integer coordinates, so
some rows have ties at the k-th distance, and each program may choose different neighbours. Results that depend on that choice are
compared without these rows or over the same neighbours, as their line says.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import faiss
import numpy as np
from scipy.sparse import coo_array, load_npz
from scipy.sparse.csgraph import connected_components
from scipy.stats import skew
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor, NearestNeighbors

K = 20
EPS = 12.0
EARTH_KM = 6371.0088


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("warpscope", type=pathlib.Path)
    warpscope = arguments.parse_args().warpscope
    with tempfile.TemporaryDirectory() as name:
        lines = list(compared(warpscope, pathlib.Path(name)))
    print("| result | data | compared with | largest difference | tolerance |")
    print("|---|---|---|---|---|")
    for what, over, peer, difference, allowed in lines:
        print(f"| {what} | {over} | {peer} | {difference:.1e} | {allowed:.0e} |" if difference else f"| {what} | {over} | {peer} | 0 | {allowed:.0e} |")
    return int(any(not line[3] <= line[4] for line in lines))


def compared(warpscope, folder):
    """Yields for each comparison: result, data, peer, largest difference, tolerance."""
    rng = np.random.default_rng(1)
    digits, labels = load_digits(return_X_y=True)
    cloud = rng.standard_normal((5000, 3)).astype(np.float32)
    for over, points, kinds in [("1,797 digits", digits, labels), ("5,000 points in 3-D", cloud, None)]:
        yield from analyses(warpscope, folder, over, points.astype(np.float64), kinds)
    yield from globe(warpscope, folder, rng)
    yield from recall(warpscope, folder, rng)


def run(warpscope, *arguments):
    done = subprocess.run([warpscope, *map(str, arguments)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout


def analyses(warpscope, folder, over, points, labels):
    n, d = points.shape
    data, rows, graph = folder / "data.csv", folder / "rows.npz", folder / "graph.npz"
    table = points if labels is None else np.column_stack([points, labels])
    np.savetxt(data, table, delimiter=",", fmt="%.9g", header=",".join(f"c{at}" for at in range(table.shape[1])), comments="")
    flags = ["--density", "--lof", "--hubness", "--lid", "--components", "--duplicates", EPS if labels is not None else 0.05]
    flags += ["--labels", f"c{d}"] if labels is not None else []
    said = json.loads(run(warpscope, "analyse", data, "--columns", f"0-{d - 1}", "-k", K, *flags, "--graph", graph, "--graph-as", "csr",
                          "--out", rows, "--json"))
    found = np.load(rows)

    nearest = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(points)
    distances, neighbours = nearest.kneighbors()
    tied = np.isclose(distances[:, K], distances[:, K - 1], rtol=1e-12)
    distances, neighbours = distances[:, :K], neighbours[:, :K]
    alone = f"{over}, without {tied.sum()} with a tie at k" if tied.any() else over
    yield "distance to the k-th", over, "NearestNeighbors", worst(found["k_distance"], distances[:, -1]), 1e-6

    with np.errstate(divide="ignore"):
        lid = 1 / np.mean(np.log(distances[:, -1:] / distances[:, :-1]), axis=1)
    some = np.isfinite(lid) & (distances > 0).all(axis=1)
    yield "local dimension", over, "the formula in float64", worst(found["lid"][some], lid[some]), 1e-4

    graph = load_npz(graph).tocsr()
    kneighbors = nearest.kneighbors_graph(n_neighbors=K, mode="distance")
    yield "graph of neighbours", alone, "kneighbors_graph", abs(graph - kneighbors)[~tied].max(), 1e-5
    # Uses warpscope's neighbours, so that ties do not matter.
    out = graph.indices.reshape(n, K)
    if tied.any():
        peer, factors = "its formula over the same neighbours", outlier_factors(points, out)
    else:
        peer, factors = "LocalOutlierFactor", -LocalOutlierFactor(n_neighbors=K).fit(points).negative_outlier_factor_
    yield "local outlier factor", over, peer, worst(found["lof"], factors), 1e-6
    yield "k-occurrence", over, "NumPy", worst(found["k_occurrence"], np.bincount(out.ravel(), minlength=n)), 0
    skewness = of(said, "skewness")
    yield "its skewness", over, "scipy.stats.skew", abs(skewness - skew(np.bincount(out.ravel(), minlength=n))), 1e-9
    edges = coo_array((np.ones(n * K), (np.repeat(np.arange(n), K), out.ravel())), shape=(n, n)).tocsr()
    components = connected_components(edges.multiply(edges.T))[1]
    yield "mutual components", over, "connected_components", partitions(found["component"], components), 0
    groups = DBSCAN(eps=EPS if labels is not None else 0.05, min_samples=1).fit(points).labels_
    yield "groups of near-duplicates", over, "DBSCAN(min_samples=1)", partitions(alone_too(found["duplicate_group"]), groups), 0

    if labels is not None:
        votes = KNeighborsClassifier(n_neighbors=K).fit(points, labels)
        predicted = votes.predict(None)  # leave-one-out
        mine = found["predicted_label"].astype(float).astype(int)
        yield "predicted label", alone, "KNeighborsClassifier", int((mine != predicted)[~tied].sum()), 0
        ours = confusion_matrix(labels, mine)
        yield "leave-one-out accuracy", over, "its confusion_matrix", abs(of(said, "accuracy") - ours.trace() / n), 1e-12


def globe(warpscope, folder, rng):
    n, q = 20_000, 500
    z, longitude = rng.uniform(-1, 1, n), rng.uniform(-180, 180, n)
    places = np.column_stack([longitude, np.degrees(np.arcsin(z))])
    data, found = folder / "places.csv", folder / "found.npz"
    np.savetxt(data, places, delimiter=",", fmt="%.6f", header="longitude,latitude", comments="")
    places = np.loadtxt(data, delimiter=",", skiprows=1)
    run(warpscope, "run", "--input", data, "--metric", "haversine", "--queries", f"rows:0-{q - 1}", "--k", K, "--warmup", 0, "--repeats", 1,
        "--neighbors", found)
    radians = np.radians(places[:, ::-1])
    distances, neighbours = NearestNeighbors(n_neighbors=K, metric="haversine", algorithm="ball_tree").fit(radians).kneighbors(radians[:q])
    found = np.load(found)
    yield "haversine, km", f"{q} of {n:,} places", "ball tree in float64", worst(found["distances_km"], distances * EARTH_KM), 1e-3
    yield "the same, other neighbours", f"{q} of {n:,} places", "ball tree in float64", int((found["indices"] != neighbours).sum()), 0


def recall(warpscope, folder, rng):
    n, q, d = 20_000, 1_000, 32
    base, queries = rng.standard_normal((n, d)).astype(np.float32), rng.standard_normal((q, d)).astype(np.float32)
    np.save(folder / "base.npy", base)
    np.save(folder / "queries.npy", queries)
    approximate, exact = faiss.IndexHNSWFlat(d, 8), faiss.IndexFlatL2(d)
    approximate.add(base)
    exact.add(base)
    answers, truth = approximate.search(queries, K)[1], exact.search(queries, K)[1]
    width = np.full((q, 1), K, np.int32)
    np.hstack([width, answers.astype(np.int32)]).tofile(folder / "answers.ivecs")
    said = json.loads(run(warpscope, "recall", folder / "answers.ivecs", "--input", folder / "base.npy", "--queries", folder / "queries.npy",
                          "--at", f"1,{K}", "--json"))
    for at, mean in zip([1, K], recalls(said)):
        theirs = np.mean([len(np.intersect1d(a[:at], t[:at])) / at for a, t in zip(answers, truth)])
        yield f"recall at {at}: {theirs:.4f}", f"{q:,} queries, {n:,} points, d = {d}", "IndexFlatL2 over IndexHNSWFlat", abs(mean - theirs), 1e-9


def worst(a, b):
    return float(np.max(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)) / np.maximum(1, np.abs(b))))


def outlier_factors(points, neighbours):
    """scikit-learn's formula for the local outlier factor, over given neighbours."""
    distances = np.linalg.norm(points[:, None] - points[neighbours], axis=2)
    reach = np.maximum(distances, distances.max(axis=1)[neighbours])
    density = 1 / (reach.mean(axis=1) + 1e-10)
    return density[neighbours].mean(axis=1) / density


def alone_too(groups):
    """Gives each row without a group its own group."""
    return np.where(np.isnan(groups), -1 - np.arange(len(groups)), groups)


def partitions(a, b):
    """The number of rows whose group differs between two partitions, independent of the groups' names."""
    first = lambda groups: np.unique(groups, return_index=True)[1][np.unique(groups, return_inverse=True)[1]]
    return int((first(a) != first(b)).sum())


def of(said, key):
    """Finds a key in nested objects."""
    if isinstance(said, dict):
        values = [said[key]] if key in said else (of(value, key) for value in said.values())
        return next((value for value in values if value is not None), None)
    return None


def recalls(said):
    return [each["mean"] for each in said["recall"]]


if __name__ == "__main__":
    sys.exit(main())
