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
    ``updates_in_line`` at one line, ``shared_updates`` in shared memory. ``latency_us`` is what a
    load takes that nothing hides, ``step_us`` a dependent instruction, ``barrier_us`` a barrier,
    ``launch_us`` an empty launch.
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
    memory_bytes=2.4e6,
    cache_bytes=5.5e6,
    lines=132 * 1700.0,
    instructions=132 * 1700.0 * 2.5,
    updates=50e3,
    updates_at_one=1500.0,
    shared_updates=132 * 1700.0 * 8,
    latency_us=0.125,
    step_us=0.004,
    barrier_us=0.02,
    launch_us=3.0,
)
