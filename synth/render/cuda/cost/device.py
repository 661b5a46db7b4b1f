"""What a device does in a time: the constants of the cost model, fitted to measured times.

``scripts/measure/cost/fit_cost.py`` fits them to the table that ``pairsmith gpu tune`` writes;
figures, devices and errors are in ``notes/measurements/cost.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

LINE_BYTES = 128
SECTOR_BYTES = 32
WARP = 32


@dataclass(frozen=True)
class Device:
    """Rates of a whole device, each a microsecond, and its sizes in bytes.

    ``memory_bytes`` of DRAM and ``cache_bytes`` of the L2 cache; ``lines`` of 128 bytes that the
    L1 caches look up; ``instructions`` of warps; ``updates`` atomics at different addresses,
    ``updates_at_one`` at the same, ``shared_updates`` turns of a warp in shared memory, ``matches``
    updates before which lanes look who else is at their element. ``miss_us`` is what a load
    takes from memory that nothing hides, ``latency_us`` a load in a loop, ``step_us`` a dependent
    instruction, ``barrier_us`` a barrier, ``launch_us`` an empty launch; ``block_us`` and
    ``warp_us`` what a processor takes to start a block and each warp of it. All but the sizes are
    fitted: they stand for what the model leaves out as well, and are no figures of the device's
    maker.
    """

    name: str
    processors: int
    cache_size: float
    near_size: float
    memory_bytes: float
    cache_bytes: float
    lines: float
    instructions: float
    updates: float
    updates_at_one: float
    shared_updates: float
    matches: float
    miss_us: float
    latency_us: float
    step_us: float
    barrier_us: float
    launch_us: float
    block_us: float
    warp_us: float


H200 = Device(
    name="NVIDIA H200",
    processors=132,
    cache_size=50e6,
    near_size=200e3,
    memory_bytes=3.932e6,
    cache_bytes=3.0e7,
    lines=2.9e5,
    instructions=8.5e5,
    updates=8.0e4,
    updates_at_one=140.0,
    shared_updates=1.5e6,
    matches=1.6e5,
    miss_us=0.5,
    latency_us=0.101,
    step_us=3.1e-3,
    barrier_us=0.5,
    launch_us=3.957,
    block_us=0.015,
    warp_us=0.005,
)
