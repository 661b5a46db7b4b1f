"""Occupancy beside CUDA's own `cuda_occupancy.h`, compiled and asked the same."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess

import pytest

from validate.row.archs import ARCHS
from validate.row.occupancy import SMS, Occupancy, occupancy
from validate.text.headers import cuda_include_dir

THREADS = (1, 32, 33, 64, 96, 128, 192, 256, 384, 512, 640, 1000, 1024, 1025)
REGISTERS = (
    0,
    8,
    16,
    24,
    32,
    33,
    40,
    48,
    56,
    64,
    65,
    72,
    80,
    96,
    128,
    129,
    168,
    200,
    255,
    256,
    257,
)
SHARED = (0, 1, 512, 1024, 4096, 8192, 12345, 16384, 24576, 32768, 49151, 49152, 49153)
BARRIERS = (0, 1, 3, 16)

SOURCE = """
#include <cstring>
#include <climits>
#include "cuda_occupancy.h"
extern "C" int blocks_of(int major, int minor, int warps, int shared_of_sm, int reserved,
                         int threads, int registers, int shared, int barriers) {
    cudaOccDeviceProp device;
    device.computeMajor = major; device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024; device.maxThreadsPerMultiprocessor = warps * 32;
    device.regsPerBlock = 65536; device.regsPerMultiprocessor = 65536; device.warpSize = 32;
    device.sharedMemPerBlock = 49152; device.sharedMemPerMultiprocessor = shared_of_sm;
    device.numSms = 1; device.sharedMemPerBlockOptin = shared_of_sm - reserved;
    device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers;
    kernel.sharedSizeBytes = shared; kernel.numBlockBarriers = barriers;
    cudaOccDeviceState state;
    cudaOccResult found;
    int status = cudaOccMaxActiveBlocksPerMultiprocessor(&found, &device, &kernel, &state,
                                                         threads, 0);
    return status == CUDA_OCC_SUCCESS ? found.activeBlocksPerMultiprocessor : -1 - status;
}
"""


@pytest.fixture(scope="module")
def of_cuda(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler to compile CUDA's own header with")
    folder = tmp_path_factory.mktemp("occupancy")
    source = folder / "blocks.cpp"
    source.write_text(SOURCE)
    library = folder / "blocks.so"
    command = [compiler, "-O1", "-shared", "-fPIC", f"-I{cuda_include_dir()}", "-o", library]
    subprocess.run([*map(str, command), str(source)], check=True, capture_output=True)
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("arch", ARCHS)
def test_blocks_are_those_of_cuda(of_cuda: ctypes.CDLL, arch: str) -> None:
    sm = SMS[arch]
    major, minor = divmod(int(arch.removeprefix("sm_")), 10)
    device = (major, minor, sm.warps, sm.shared_bytes, sm.reserved_shared_bytes)
    for asked in itertools.product(THREADS, REGISTERS, SHARED, BARRIERS):
        threads, registers, shared, barriers = asked
        found = occupancy(
            arch, threads=threads, registers=registers, shared_bytes=shared, barriers=barriers
        )
        assert found.blocks == of_cuda.blocks_of(*device, *asked), (arch, asked)


def test_shares_by_hand() -> None:
    # 72 registers a thread, 2,304 a warp: 7 warps in each of 4 partitions, 3 blocks of 8 warps.
    of_registers = occupancy("sm_90", threads=256, registers=72, shared_bytes=0)
    assert of_registers == Occupancy(3, 24 / 64, "registers")
    of_warps = occupancy("sm_90", threads=256, registers=32, shared_bytes=0)
    assert of_warps == Occupancy(8, 1.0, "warps")
    # 48 KiB and the system's 1 KiB go four times into 228 KiB.
    of_shared = occupancy("sm_90", threads=64, registers=32, shared_bytes=49152)
    assert of_shared == Occupancy(4, 8 / 64, "shared")
    assert occupancy("sm_90", threads=32, registers=16, shared_bytes=0).limited_by == "blocks"


def test_what_cannot_be_launched() -> None:
    assert occupancy("sm_90", threads=1024, registers=65, shared_bytes=0).blocks == 0
    assert occupancy("sm_90", threads=32, registers=32, shared_bytes=50000).blocks == 0
    with pytest.raises(ValueError, match="0 threads"):
        occupancy("sm_90", threads=0, registers=32, shared_bytes=0)
    with pytest.raises(ValueError, match="unknown architecture"):
        occupancy("sm_99", threads=32, registers=32, shared_bytes=0)
