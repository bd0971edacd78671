// Entry points of the units.
#pragma once

// The name of an entry point: its arguments are expanded before WARPSCOPE_..._ENTRY (interface.cuh) pastes
// them.
#define WARPSCOPE_NAME(ENTRY, ...) ENTRY(__VA_ARGS__)

// A kernel of one parameter, which it hands to a function, the last argument. BOUNDS are those of
// __launch_bounds__, in parentheses.
#define WARPSCOPE_KERNEL(NAME, BOUNDS, PARAMETER, ...)                                                      \
    extern "C" __global__ void __launch_bounds__ BOUNDS NAME(const __grid_constant__ PARAMETER parameter) { \
        __VA_ARGS__(parameter);                                                                             \
    }
