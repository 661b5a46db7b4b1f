"""What a device does in a time: the constants of the cost model, fitted to measured times.

``scripts/measure/fit_cost.py`` fits them to the table that ``pairsmith gpu tune`` writes; figures,
devices and errors are in ``notes/measurements/cost.md``.
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
    ``updates_at_one`` at the same, ``shared_updates`` in shared memory. ``latency_us`` is what a
    load takes that nothing hides, ``step_us`` a dependent instruction, ``barrier_us`` a barrier,
    ``launch_us`` an empty launch. All but the sizes are fitted: they stand for what the model
    leaves out as well, and are no figures of the device's maker.
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
    latency_us: float
    step_us: float
    barrier_us: float
    launch_us: float


H100 = Device(
    name="NVIDIA H100",
    processors=132,
    cache_size=50e6,
    near_size=200e3,
    memory_bytes=3.23e6,
    cache_bytes=4.4e7,
    lines=2.403e5,
    instructions=1.134e6,
    updates=2.174e4,
    updates_at_one=431.2,
    shared_updates=1.265e5,
    latency_us=0.4141,
    step_us=8.726e-4,
    barrier_us=1.219,
    launch_us=4.421,
)
