"""How many blocks of a kernel an SM holds at a time, by the rules of each architecture.

The rules and their granularities are those of `cuda_occupancy.h` in CUDA's runtime, which a test
compiles and compares; what an SM has is from the CUDA Programming Guide, 5.1 "Compute
Capabilities", tables of technical specifications (8.8 is in neither: it is taken for an 8.6, whose
sizes of shared memory and number of blocks the header gives it).
"""

from __future__ import annotations

from dataclasses import dataclass

from validate.row.archs import MOST_SHARED_BYTES, check_archs

WARP_THREADS = 32
MOST_BLOCK_THREADS = 1024
MOST_REGISTERS = 256
"""Registers of a thread, as the header counts them; compilers use 255 at most."""
SM_REGISTERS = 65536
"""32-bit registers of an SM, and the most of a block."""

_PARTITIONS = 4
_REGISTERS_GRANULARITY = 256
_KIB = 1024


@dataclass(frozen=True)
class Sm:
    """What one SM has: warps and blocks at a time, shared memory for blocks, what of it each block
    gives up to the system, the granularity it is handed out in, and named barriers (0: they bound
    nothing)."""

    warps: int
    blocks: int
    shared_bytes: int
    reserved_shared_bytes: int = _KIB
    shared_granularity_bytes: int = 128
    barriers: int = 0


_AMPERE_LIKE = Sm(48, 16, 100 * _KIB)
SMS: dict[str, Sm] = {
    "sm_75": Sm(32, 16, 64 * _KIB, 0, 256),
    "sm_80": Sm(64, 32, 164 * _KIB),
    "sm_86": _AMPERE_LIKE,
    "sm_87": Sm(48, 16, 164 * _KIB),
    "sm_88": _AMPERE_LIKE,
    "sm_89": Sm(48, 24, 100 * _KIB),
    "sm_90": Sm(64, 32, 228 * _KIB, barriers=64),
    "sm_100": Sm(64, 32, 228 * _KIB, barriers=64),
    "sm_103": Sm(64, 32, 228 * _KIB, barriers=32),
    "sm_110": Sm(48, 24, 228 * _KIB, barriers=24),
    "sm_120": Sm(48, 24, 100 * _KIB, barriers=24),
    "sm_121": Sm(48, 24, 100 * _KIB, barriers=24),
}


@dataclass(frozen=True)
class Occupancy:
    """`blocks` an SM holds at a time (0: it cannot be launched), the share of its warps that they
    are, and what bounds them: "warps", "registers", "shared", "blocks" or "barriers", the first of
    these where several do."""

    blocks: int
    share: float
    limited_by: str


def occupancy(
    arch: str, *, threads: int, registers: int, shared_bytes: int, barriers: int = 0
) -> Occupancy:
    """Of a kernel of so many `threads` a block, `registers` a thread, bytes of shared memory a
    block (static and dynamic, 48 KiB at most) and named `barriers` a block.

    All of the L1 that can be shared memory is taken for it. Raises ValueError for an unknown
    architecture and for a block without threads.
    """
    (arch,) = check_archs([arch])
    if threads < 1:
        raise ValueError(f"a block of {threads} threads")
    sm = SMS[arch]
    warps = -(-threads // WARP_THREADS)
    limits = {
        "warps": sm.warps // warps if threads <= MOST_BLOCK_THREADS else 0,
        "registers": _by_registers(registers, warps, sm),
        "shared": _by_shared(shared_bytes, sm),
        "blocks": sm.blocks,
    }
    if barriers and sm.barriers:
        limits["barriers"] = sm.barriers // barriers
    limited_by = min(limits, key=lambda name: limits[name])
    blocks = limits[limited_by]
    return Occupancy(blocks, blocks * warps / sm.warps, limited_by)


def _by_registers(registers: int, warps: int, sm: Sm) -> int:
    """Registers are handed out to warps, in each of the four partitions of an SM."""
    if registers == 0:
        return sm.blocks
    a_warp = _up(registers * WARP_THREADS, _REGISTERS_GRANULARITY)
    # A launch is checked as if a block's warps took all partitions alike.
    if registers > MOST_REGISTERS or a_warp * _up(warps, _PARTITIONS) > SM_REGISTERS:
        return 0
    return SM_REGISTERS // _PARTITIONS // a_warp * _PARTITIONS // warps


def _by_shared(shared_bytes: int, sm: Sm) -> int:
    taken = _up(shared_bytes + sm.reserved_shared_bytes, sm.shared_granularity_bytes)
    if taken > MOST_SHARED_BYTES + sm.reserved_shared_bytes:
        return 0
    return sm.shared_bytes // taken if taken else sm.blocks


def _up(number: int, granularity: int) -> int:
    return -(-number // granularity) * granularity
