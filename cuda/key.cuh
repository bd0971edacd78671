// A candidate packed into one number, and the padding value for unused slots. Twin of
// crates/engines/src/lockstep/key.rs.
#pragma once

namespace warpscope {

__device__ __forceinline__ float infinite_distance() { return __uint_as_float(0x7f800000u); }

// A candidate packed into one number: the bits of its squared distance, then its index. Distances are not
// negative, so their bits sort like the floats, and comparing keys compares (distance, index): a later point
// at an equal distance never displaces an earlier one.
using Key = unsigned long long;

// Fills unused slots: (+inf, 0xffffffff), greater than every real key.
constexpr Key PADDING = 0x7f800000ffffffffull;

__device__ __forceinline__ Key key_of(float squared_distance, unsigned index) {
    return static_cast<Key>(__float_as_uint(squared_distance)) << 32 | index;
}

__device__ __forceinline__ float distance_of(Key key) {
    return __uint_as_float(static_cast<unsigned>(key >> 32));
}

__device__ __forceinline__ unsigned index_of(Key key) { return static_cast<unsigned>(key); }

// `condition ? a : b` on values. Between two registers the operator itself selects between lvalues, which
// would move the whole array to local memory.
template <class T>
__device__ __forceinline__ T choose(bool condition, T a, T b) {
    return condition ? a : b;
}

// Row `number` of a matrix whose rows have `width` values.
template <class T>
__device__ __forceinline__ T* row_of(T* rows, size_t number, size_t width) {
    return rows + number * width;
}

// A query's row of the answer.
struct AnswerRow {
    unsigned* indices;
    float* squared_distances;

    template <class Search>
    __device__ __forceinline__ AnswerRow(const Search& search, size_t query) {
        size_t first = query * search.k;
        indices = search.indices + first;
        squared_distances = search.squared_distances + first;
    }

    __device__ __forceinline__ void put(unsigned rank, Key key) const {
        indices[rank] = index_of(key);
        squared_distances[rank] = distance_of(key);
    }
};

}  // namespace warpscope
