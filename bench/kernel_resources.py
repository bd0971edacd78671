#!/usr/bin/env python3
"""Lists registers, shared memory, spills and occupancy of a program's embedded kernels on this machine's GPU.

Usage: bench/kernel_resources.py WARPSCOPE [--all] [--csv FILE]     needs only the NVIDIA driver

Finds the program's fat binaries by their magic number and loads them with the driver, which reports each kernel's resources.
A module's `warp_knn_cut`, if present, holds the block size and the dynamic shared memory of its search kernels. Counted and
profiled builds are listed only with --all.
"""

import argparse
import csv
import ctypes
import pathlib
import re
import struct
import sys

FATBIN_MAGIC = struct.pack("<I", 0xBA55ED50)
# CUfunction_attribute, CUdevice_attribute
MAX_THREADS, SHARED, LOCAL, REGISTERS, MAX_DYNAMIC_SHARED = 0, 1, 3, 4, 8
MAJOR, MINOR, WARPS_THREADS = 75, 76, 39


class Driver:
    """libcuda, with errors as exceptions."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        self.device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(self.device), 0)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'error').decode()}")

    def number(self, name, *arguments):
        value = ctypes.c_int()
        self(name, ctypes.byref(value), *arguments)
        return value.value

    def device_attribute(self, attribute):
        return self.number("cuDeviceGetAttribute", attribute, self.device)


def fatbins(program):
    """Yields the fat binaries in a file. Header: magic, version, header size, body size."""
    image = pathlib.Path(program).read_bytes()
    start = image.find(FATBIN_MAGIC)
    while start >= 0:
        _, version, header, size = struct.unpack_from("<IHHQ", image, start)
        end = start + header + size
        if version == 1 and header == 16 and end <= len(image):
            yield image[start:end]
            start = image.find(FATBIN_MAGIC, end)
        else:
            start = image.find(FATBIN_MAGIC, start + 4)


def kernels(driver, image):
    """Yields (name, function, threads per block or None, dynamic shared bytes or None) of a module's kernels."""
    module = ctypes.c_void_p()
    driver("cuModuleLoadData", ctypes.byref(module), image)
    count = ctypes.c_uint()
    driver("cuModuleGetFunctionCount", ctypes.byref(count), module)
    functions = (ctypes.c_void_p * count.value)()
    driver("cuModuleEnumerateFunctions", functions, count, module)
    threads, dynamic = None, 0
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    if driver.library.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, b"warp_knn_cut") == 0:
        # A policy: its first number is the warps per block, its last the shared memory.
        cut = (ctypes.c_uint32 * (size.value // 4))()
        driver("cuMemcpyDtoH_v2", cut, address, size)
        threads, dynamic = cut[0] * 32, cut[len(cut) - 1]
    for function in functions:
        driver("cuFuncLoad", ctypes.c_void_p(function))  # otherwise loaded lazily, at the first launch
        name = ctypes.c_char_p()
        driver("cuFuncGetName", ctypes.byref(name), ctypes.c_void_p(function))
        # The policy applies only to search kernels, not to helpers in the same module.
        search = name.value.decode().startswith("warp_knn_k")
        yield name.value.decode(), ctypes.c_void_p(function), threads if search else None, dynamic if search else None


def describe(driver, name, function, threads, dynamic):
    """A row of the table."""
    attribute = lambda which: driver.number("cuFuncGetAttribute", which, function)  # noqa: E731
    registers, static, local = attribute(REGISTERS), attribute(SHARED), attribute(LOCAL)
    threads = threads or attribute(MAX_THREADS)
    if dynamic is None:
        # Their shared memory depends on d and is chosen at launch.
        if name.endswith(("_resident", "_streaming")):
            return [name, registers, f"{static} and more", local, threads, "", "", ""]
        return describe(driver, name, function, threads, 0)
    if dynamic > 48 * 1024:
        driver("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, dynamic)
    blocks = driver.number("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, ctypes.c_size_t(dynamic))
    warps = blocks * threads // 32
    share = warps * 32 / driver.device_attribute(WARPS_THREADS)
    return [name, registers, static + dynamic, local, threads, blocks, warps, f"{share:.0%}"]


HEADER = ["kernel", "registers", "shared bytes", "local bytes", "threads", "blocks per SM", "warps per SM", "occupancy"]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warpscope", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="also the counted and the profiled builds")
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args(arguments)
    try:
        driver = Driver()
    except (OSError, RuntimeError) as error:
        print(f"kernel_resources: no NVIDIA driver: {error}", file=sys.stderr)
        return 1
    rows, failed = [], []
    for image in fatbins(options.warpscope):
        try:
            rows += [describe(driver, *kernel) for kernel in kernels(driver, image) if options.all or not re.search("_(counted|profiled)$", kernel[0])]
        except RuntimeError as error:
            failed.append(str(error))
    if not rows:
        print(f"kernel_resources: no kernels for this GPU: {failed[0] if failed else 'the program embeds none'}: {options.warpscope}", file=sys.stderr)
        return 1
    rows = [row for i, row in enumerate(rows) if row not in rows[:i]]  # helpers are in several modules
    rows.sort(key=lambda row: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", row[0])])
    name = ctypes.create_string_buffer(100)
    driver("cuDeviceGetName", name, 100, driver.device)
    print(f"{name.value.decode()}, sm_{driver.device_attribute(MAJOR)}{driver.device_attribute(MINOR)}; local bytes: spills and stack per thread")
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file).writerows([HEADER, *rows])
    for error in sorted(set(failed)):
        print(f"kernel_resources: {failed.count(error)} modules skipped: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
