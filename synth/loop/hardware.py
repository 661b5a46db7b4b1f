"""The device that a model writes for, in words: the one that is here, an architecture, a text."""

from __future__ import annotations

import re

from synth.errors import SettingsError
from validate.errors import GpuUnavailable
from validate.gpu.device import Device, devices
from validate.row.archs import DEFAULT_ARCH
from validate.row.occupancy import SM_REGISTERS, SMS, WARP_THREADS

HERE = "here"
_ARCH = re.compile(r"\bsm_\d+\b")


def hardware_of(given: str) -> str:
    """What a prompt says of a device: of ``here`` the GPU that `doctor` lists first, of an
    architecture such as ``sm_90`` what an SM has, of any other text that text.

    Raises SettingsError where there is no GPU, and for an architecture that nobody knows.
    """
    if given == HERE:
        device = _first()
        memory, cache = device.memory_bytes / 2**30, device.l2_bytes / 2**20
        return (
            f"one {device.name} ({device.arch}) with {device.multiprocessors} SMs, "
            f"{memory:.0f} GiB of memory and {cache:.0f} MiB of L2 cache; {_sm(device.arch)}"
        )
    if _ARCH.fullmatch(given):
        if given not in SMS:
            raise SettingsError(f"--hardware {given}: known are {', '.join(SMS)}")
        return f"of the architecture {given}; {_sm(given)}"
    return given


def _first() -> Device:
    try:
        found = devices()
    except GpuUnavailable as error:
        raise SettingsError(f"--hardware {HERE}: {error}") from None
    if not found:
        raise SettingsError(f"--hardware {HERE}: no GPU is visible")
    return found[0]


def arch_of(hardware: str) -> str:
    """The architecture that a text names, for which answers are compiled; else the usual one."""
    found = [arch for arch in _ARCH.findall(hardware) if arch in SMS]
    return found[0] if found else DEFAULT_ARCH


def _sm(arch: str) -> str:
    if arch not in SMS:
        return "nothing is known of its SMs"
    sm = SMS[arch]
    return (
        f"an SM holds {sm.warps * WARP_THREADS} threads in up to {sm.blocks} blocks and has "
        f"{SM_REGISTERS} registers and {sm.shared_bytes // 1024} KiB of shared memory"
    )
