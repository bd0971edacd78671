// Macros for entry points.
#pragma once

// Expands the arguments before WARPSCOPE_..._ENTRY (interface.cuh) pastes them into a name.
#define WARPSCOPE_NAME(ENTRY, ...) ENTRY(__VA_ARGS__)

// Defines a kernel that passes its one parameter to a function, the last argument. BOUNDS are the arguments
// of __launch_bounds__, in parentheses.
#define WARPSCOPE_KERNEL(NAME, BOUNDS, PARAMETER, ...)                                                      \
    extern "C" __global__ void __launch_bounds__ BOUNDS NAME(const __grid_constant__ PARAMETER parameter) { \
        __VA_ARGS__(parameter);                                                                             \
    }
