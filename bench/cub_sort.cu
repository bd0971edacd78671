// Times CUB's radix sorts of (distance, position) pairs in the rows of a matrix: the peer of the engine `sort` (Hanák 2023, §5.5).
//
//     nvcc -std=c++17 -O3 -arch=native -o cub_sort bench/cub_sort.cu && ./cub_sort 1048576 1000
//
// Prints the median of ten repeats after three warm-ups, in ms, for one segmented sort of all rows, and for one sort per row on eight
// streams.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "error: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

// Distances in [0, 1), and each one's position in its row.
__global__ void fill(float* distances, unsigned* positions, size_t n, size_t count) {
    for (size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x; at < count; at += size_t(gridDim.x) * blockDim.x) {
        unsigned long long state = (at + 1) * 0x9e3779b97f4a7c15ull;
        state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ull;
        distances[at] = static_cast<float>((state ^ state >> 27) >> 40) / 16777216.0f;
        positions[at] = static_cast<unsigned>(at % n);
    }
}

// Start offset of each row.
struct RowStart {
    long long n;
    __host__ __device__ long long operator()(long long row) const { return row * n; }
};

static double median_ms(const std::function<void()>& work) {
    cudaEvent_t before, after;
    check(cudaEventCreate(&before));
    check(cudaEventCreate(&after));
    std::vector<float> times;
    for (int repeat = -3; repeat < 10; ++repeat) {
        check(cudaDeviceSynchronize());
        check(cudaEventRecord(before));
        work();
        // The default stream waits for all others.
        check(cudaEventRecord(after));
        check(cudaEventSynchronize(after));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, before, after));
        if (repeat >= 0) {
            times.push_back(ms);
        }
    }
    std::sort(times.begin(), times.end());
    return (times[4] + times[5]) / 2;
}

int main(int argc, char** argv) {
    if (argc != 3 || std::atoll(argv[1]) < 1 || std::atoll(argv[2]) < 1) {
        std::fprintf(stderr, "usage: cub_sort DISTANCES_A_ROW ROWS\n");
        return 2;
    }
    long long n = std::atoll(argv[1]), q = std::atoll(argv[2]);
    size_t count = static_cast<size_t>(n) * q;
    float* keys[2];
    unsigned* values[2];
    for (int i = 0; i < 2; ++i) {
        check(cudaMalloc(&keys[i], 4 * count));
        check(cudaMalloc(&values[i], 4 * count));
    }
    fill<<<4096, 256>>>(keys[0], values[0], n, count);
    check(cudaGetLastError());

    auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator<long long>(0), RowStart{n});
    auto segmented = [&](void* scratch, size_t& bytes) {
        check(cub::DeviceSegmentedRadixSort::SortPairs(scratch, bytes, keys[0], keys[1], values[0], values[1], static_cast<long long>(count), q,
                                                       starts, starts + 1));
    };
    size_t bytes = 0;
    segmented(nullptr, bytes);
    void* scratch = nullptr;
    check(cudaMalloc(&scratch, bytes));
    std::printf("segmented: %.3f ms\n", median_ms([&] { segmented(scratch, bytes); }));
    check(cudaFree(scratch));

    constexpr int STREAMS = 8;
    cudaStream_t streams[STREAMS];
    void* scratches[STREAMS];
    auto one = [&](void* of_stream, size_t& size, long long row, cudaStream_t stream) {
        size_t at = static_cast<size_t>(row) * n;
        check(cub::DeviceRadixSort::SortPairs(of_stream, size, keys[0] + at, keys[1] + at, values[0] + at, values[1] + at, n, 0, 32, stream));
    };
    size_t size = 0;
    one(nullptr, size, 0, nullptr);
    for (int i = 0; i < STREAMS; ++i) {
        check(cudaStreamCreate(&streams[i]));
        check(cudaMalloc(&scratches[i], size));
    }
    double by_query = median_ms([&] {
        for (long long row = 0; row < q; ++row) {
            one(scratches[row % STREAMS], size, row, streams[row % STREAMS]);
        }
    });
    std::printf("by query, %d streams: %.3f ms\n", STREAMS, by_query);
    return 0;
}
