#!/usr/bin/env python3
"""Measures the GPU's limits and compares the rates in samples of bench/peers.py with them.

Usage: bench/roofline.py SAMPLES.csv [--out roofline.svg]     needs CuPy and a GPU; matplotlib for the figure

Micro-kernels in this process measure the limits: FP32 fused multiply-adds from registers, 128-bit loads from shared memory,
reads from device memory. SAMPLES.csv is the output of `peers.py --out`. A distance in d dimensions takes d subtractions and
d multiply-adds, 3 operations in 2 instructions per coordinate, so the direct form reaches at most 3/4 of the peak. Rates above
that line used another form as a filter. Intensity counts only unavoidable traffic: points, queries and results, once each.
"""

import argparse
import csv
import pathlib
import statistics
import sys

SOURCE = r"""
extern "C" __global__ void multiply_adds(float* out, float a, float b, int rounds) {
    float acc[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) acc[i] = threadIdx.x + i;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int repeat = 0; repeat < 8; ++repeat) {
#pragma unroll
            for (int i = 0; i < 16; ++i) acc[i] = fmaf(acc[i], a, b);
        }
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += acc[i];
    if (sum == 12345.678f) out[0] = sum;
}

extern "C" __global__ void shared_loads(float* out, int rounds) {
    __shared__ float4 words[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) words[i] = make_float4(i, 1, 2, 3);
    __syncthreads();
    // Addresses advance by a run-time value, so that the compiler cannot hoist the loads.
    float4 sum[4] = {};
    unsigned at = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float4 word = words[(at + i * 128) & 2047];
            sum[i & 3].x += word.x; sum[i & 3].y += word.y; sum[i & 3].z += word.z; sum[i & 3].w += word.w;
        }
        at += rounds;
    }
    float all = 0;
    for (int i = 0; i < 4; ++i) all += sum[i].x + sum[i].y + sum[i].z + sum[i].w;
    if (all == 12345.678f) out[0] = all;
}

extern "C" __global__ void device_reads(float* out, const float4* words, size_t count) {
    float sum = 0;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 4 * step) {
        float4 w[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) w[j] = i + j * step < count ? words[i + j * step] : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int j = 0; j < 4; ++j) sum += w[j].x + w[j].y + w[j].z + w[j].w;
    }
    if (sum == 12345.678f) out[0] = sum;
}
"""


def limits():
    """FLOP/s of multiply-adds, bytes/s of shared memory, bytes/s of device memory; each the best of eleven launches."""
    import cupy
    module = cupy.RawModule(code=SOURCE)
    blocks = cupy.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"] * 16
    out = cupy.zeros(1, cupy.float32)

    def seconds(name, threads, *arguments):
        kernel, best = module.get_function(name), float("inf")
        for _ in range(11):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            kernel((blocks,), (threads,), arguments)
            stop.record()
            stop.synchronize()
            best = min(best, cupy.cuda.get_elapsed_time(start, stop) / 1e3)
        return best

    rounds = 2_000
    flops = blocks * 256 * rounds * 8 * 16 * 2 / seconds("multiply_adds", 256, out, cupy.float32(0.999), cupy.float32(0.001), cupy.int32(rounds))
    shared = blocks * 256 * rounds * 16 * 16 / seconds("shared_loads", 256, out, cupy.int32(rounds))
    words = cupy.zeros(1 << 30, cupy.float32)  # 4 GiB, far beyond any cache
    device = words.nbytes / seconds("device_reads", 256, out, words, cupy.uint64(words.size // 4))
    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(), flops, shared, device


def rates(path):
    """The median milliseconds of each (engine, n, q, d, k)."""
    samples = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            key = (row["engine"], *(int(row[name]) for name in "nqdk"))
            samples.setdefault(key, []).append(float(row["search_ms"]))
    return {key: statistics.median(times) for key, times in samples.items()}


def figure(path, name, flops, shared, device, points):
    """Draws the achieved rates of each shape and the limit for its intensity."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    matplotlib.rcParams["svg.hashsalt"] = "roofline"  # the same samples give the same file
    shapes = list(dict.fromkeys((intensity, label) for _, intensity, _, label in points))
    column = {shape: at for at, shape in enumerate(shapes)}
    fig, axes = pyplot.subplots(figsize=(11, 6))
    lines = [(flops, "FP32 multiply-adds, all operations fused", "black"),
             (0.75 * flops, "direct form: subtract, multiply-add", "#0072B2"),
             (0.75 * shared, "every coordinate loaded from shared memory for one query", "#D55E00")]
    for rate, text, colour in lines:
        axes.axhline(rate, color=colour, linewidth=1, linestyle="--", label=f"{text}: {rate / 1e12:.1f} T/s")
    for shape, at in column.items():
        axes.hlines(min(flops, shape[0] * device), at - 0.4, at + 0.4, color="black", linewidth=2.5,
                    label="roof: that, or reading the points once" if at == 0 else None)
    colours = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]
    for engine, marker, colour in zip(dict.fromkeys(point[0] for point in points), "os^Dvp*X", colours):
        mine = [point for point in points if point[0] == engine]
        axes.scatter([column[point[1], point[3]] for point in mine], [point[2] for point in mine], marker=marker, color=colour, label=engine, s=36, zorder=3)
    axes.set_xticks(range(len(shapes)), [label for _, label in shapes], fontsize=8)
    axes.set(yscale="log", ylabel="operations of the direct form per second",
             title=f"{name}: {flops / 1e12:.1f} TFLOP/s of multiply-adds, device memory {device / 1e12:.2f} TB/s")
    axes.grid(axis="y", color="#E0E0E0")
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.17), ncols=3, frameon=False)
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None} if str(path).endswith("svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="the figure: .svg or .png")
    parser.add_argument("--limits", help="use these instead of measuring: NAME,TFLOP/s,TB/s of shared memory,TB/s of device memory")
    options = parser.parse_args()
    measured = rates(options.samples)
    if options.limits:
        name, *terabytes = options.limits.split(",")
        flops, shared, device = (float(limit) * 1e12 for limit in terabytes)
    else:
        name, flops, shared, device = limits()
    print(f"{name}: {flops / 1e12:.1f} TFLOP/s of FP32 multiply-adds, shared memory {shared / 1e12:.1f} TB/s, device memory {device / 1e12:.2f} TB/s read")
    print("| engine | q | n | d | k | median | operations/s | of the peak | of the direct form's | unavoidable traffic/s | of device memory |")
    print("|---" * 11 + "|")
    points = []
    for (engine, n, q, d, k), ms in measured.items():
        operations, traffic = 3 * q * n * d, 4 * (n * d + q * d) + 8 * q * k
        rate, bytes_ = operations / ms * 1e3, traffic / ms * 1e3
        points.append((engine, operations / traffic, rate, f"q {q:,}\nn {n:,}\nd {d}\nk {k:,}"))
        print(f"| {engine} | {q:,} | {n:,} | {d} | {k:,} | {ms:.4g} ms | {rate:.3g} | {rate / flops:.0%} | {rate / flops / 0.75:.0%} | {bytes_:.3g} | {bytes_ / device:.0%} |")
    if options.out and points:
        try:
            figure(options.out, name, flops, shared, device, points)
            print(f"figure: {options.out}")
        except ImportError:
            print("roofline: no figure: matplotlib is not installed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
