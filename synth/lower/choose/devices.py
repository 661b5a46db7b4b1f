"""What the cost models know of a device. Only that of the H100 was measured against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from validate.row.archs import DEFAULT_ARCH, WARPGROUP_ARCH

DEFAULT_DEVICE = "NVIDIA H100 80GB HBM3"
"""The device that is chosen for where none is named: the one whose measurements are at hand."""


_DRIVER = Path("/proc/driver/nvidia/gpus")


def device_here() -> str | None:
    """The name of this machine's first GPU, as its driver has it; None where there is none."""
    for file in sorted(_DRIVER.glob("*/information")):
        for line in file.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "Model":
                return value.strip()
    return None


@dataclass(frozen=True)
class Figures:
    """Rates of one multiprocessor a clock, and of the memory.

    `fma` is of float32; `fma64` of float64; `mma` products of 16 bits by `mma.sync` (of tf32 half
    as many, of int8 twice as many); `wgmma` by `wgmma`, 0 where there is none. `gbytes_s` is a
    copy's rate, bytes read and written counted.
    """

    multiprocessors: int
    clock_ghz: float
    fma: int
    fma64: int
    mma: int
    gbytes_s: float
    shared_bytes: int
    threads: int = 2048
    blocks: int = 32
    registers: int = 65536
    wgmma: int = 0


# Data sheets and the CUDA Programming Guide's tables; the copy rate of the H100 as measured.
_KNOWN = {
    "H200": Figures(132, 1.7, 128, 64, 1024, 4100.0, 228 << 10, wgmma=2048),
    "H100": Figures(132, 1.7, 128, 64, 1024, 3000.0, 228 << 10, wgmma=2048),
    "A100": Figures(108, 1.3, 64, 32, 1024, 1600.0, 164 << 10),
    "B200": Figures(148, 1.8, 128, 64, 1024, 6500.0, 228 << 10),
    "L40": Figures(142, 2.2, 128, 2, 512, 750.0, 100 << 10, 1536, 24),
    "RTX 4090": Figures(128, 2.5, 128, 2, 512, 900.0, 100 << 10, 1536, 24),
}


def archs_of(device: str) -> tuple[str, ...]:
    """What a text for a device alone may be made for: its own architecture where it has one."""
    return (WARPGROUP_ARCH if figures_of(device).wgmma and _is_known(device) else DEFAULT_ARCH,)


def _is_known(device: str) -> bool:
    return any(name in device for name in _KNOWN)


def figures_of(device: str) -> Figures:
    """Those of a device by its name, of the H100 for one that is not known."""
    return next((found for name, found in _KNOWN.items() if name in device), _KNOWN["H100"])
