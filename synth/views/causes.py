"""What the time of a layout goes to: the amount behind each limit, and what makes one slower."""

from __future__ import annotations

from synth.render.cuda.cost.access import LOAD
from synth.render.cuda.cost.device import H200, WARP
from synth.render.cuda.cost.predict import (
    ATOMICS,
    CACHE,
    INSTRUCTIONS,
    LATENCY,
    MEMORY,
    STARTS,
)
from synth.views.layout import Cost
from synth.views.sizes import counted, in_bytes, many, us

LIMITS = {
    MEMORY: "memory traffic",
    CACHE: "requests to the caches",
    INSTRUCTIONS: "instructions",
    ATOMICS: "atomics",
    LATENCY: "latency",
    STARTS: "starting blocks",
}
"""What time goes to, in the words of an answer."""

_WAITS = 1.1
_HALF = 0.5
_MUCH = 1.2
_EXACT = 1.01


def because(cost: Cost, limit: str) -> str:
    """The amount behind a limit."""
    if limit == MEMORY:
        return _traffic(cost)
    if limit == CACHE:
        return _requests(cost)
    if limit == INSTRUCTIONS:
        each = cost.asked.instructions * cost.filled * WARP / cost.facts.points
        # Where branches or data decide, the model takes a share.
        about = "an estimated" if cost.is_estimate else "about"
        return f"{about} {each:,.0f} instructions for each of {many(cost.facts.points)} points"
    if limit == STARTS:
        blocks = counted(cost.blocks, "block", "blocks")
        return f"{blocks} of {cost.schedule.threads} threads are started"
    return _atomics(cost) if limit == ATOMICS else _latency(cost)


def _requests(cost: Cost) -> str:
    asked = cost.asked
    if asked.lines / H200.lines > asked.cache_bytes / H200.cache_bytes:
        # Where data lead to an element or into a branch, nobody knows how many lines.
        about = "an estimated " if cost.is_estimate else ""
        return f"{about}{many(cost.lines)} lines of 128 bytes are looked up in the L1 caches"
    return f"an estimated {in_bytes(asked.cache_bytes / asked.waited)} are asked of the L2 cache"


def _atomics(cost: Cost) -> str:
    asked = cost.asked
    if asked.shared_updates / H200.shared_updates > asked.updates / H200.updates:
        own = cost.updates_in_shared
        return f"at most {counted(own, 'update', 'updates')} of copies in shared memory"
    told = f"{updates(cost)} atomics reach memory"
    if asked.updates_at_one / H200.updates_at_one > asked.updates / H200.updates:
        told += (
            f", and of them some {many(asked.updates_at_one)} wait for each other at one address"
        )
    return told


def updates(cost: Cost) -> str:
    """How many atomics reach memory: at most, where branches decide, else about."""
    expected, most = cost.asked.updates, cost.all_updates
    return f"at most {many(most)}" if most > _EXACT * expected else f"about {many(expected)}"


def _traffic(cost: Cost) -> str:
    """Bytes of arrays, and what the model counts of them: what is stored as fetched too, of
    branches a share, of stray elements their whole sectors."""
    most = "at most " if cost.is_most else ""
    arrays = f"{most}{in_bytes(cost.moved_bytes)} of arrays are read and written"
    return f"{arrays}, and the model counts {in_bytes(cost.traffic_bytes)} of traffic"


def _latency(cost: Cost) -> str:
    """What a thread waits for. What the model allows for barriers was fitted, and is no time that
    these take."""
    asked = cost.asked
    steps = counted(
        asked.steps / cost.launch.in_waves, "dependent operation", "dependent operations"
    )
    looped = [a for a in cost.facts.accesses if a.kind == LOAD and a.loops]
    loads = f"about {counted(cost.looped_loads, 'load', 'loads')} of a thread in its loops, few of "
    loads += "them under way at a time"
    if any(turns.is_guess for access in looped for turns in access.loops):
        loads = "loads in a loop of which data decide how often it turns"
    parts = {
        f"about {steps} of one thread": asked.steps * H200.step_us,
        "loads that nothing hides": asked.misses * H200.miss_us,
        loads: asked.loads * H200.latency_us,
        "a rough allowance for what a block's threads do together": asked.barriers
        * H200.barrier_us,
    }
    return max(parts, key=lambda part: parts[part])


def difference(cost: Cost, other: Cost) -> str:
    """What of the other layout takes the time that the row's own saves."""
    more = {name: other.times_us[name] - cost.times_us[name] for name in other.times_us}
    name = max(more, key=lambda key: more[key])
    if other.launch_us - cost.launch_us > more[name]:
        return f"it needs {counted(other.plan.launches, 'launch', 'launches')}"
    if more[name] <= 0.0:
        return "its parts overlap less"
    takes = f"{LIMITS[name]} would take {us(other.times_us[name])}"
    if name == LATENCY and other.plan.threads_an_element < cost.plan.threads_an_element:
        each = cost.plan.threads_an_element / other.plan.threads_an_element
        return f"each thread does in turn what {many(each)} do here, and {takes}"
    if _is_by_processors(cost, other, name):
        empty = f"{1 - other.filled:.0%} of the {H200.processors} SMs"
        blocks = "block leaves" if other.blocks == 1 else "blocks leave"
        return f"its {other.blocks:,} {blocks} {empty} without work"
    is_few = other.plan.in_turn and other.asked.waited > max(_WAITS, cost.asked.waited)
    if name in (MEMORY, CACHE) and is_few:
        few = f"its {many(other.threads)} threads are too few to keep memory busy"
        return f"{few}, and {takes}"
    if name == INSTRUCTIONS and _explains(other.idle / cost.idle, cost, other, name):
        return f"{1 - 1 / other.idle:.0%} of its threads lie beyond the edge, and {takes}"
    if other.idle_lanes:
        turns, lanes = other.idle_lanes
        return (
            f"of {lanes} lanes that share an element {lanes - turns} have none of the {turns} "
            f"turns of its loop, and {takes}"
        )
    theirs = because(other, name)
    return takes if because(cost, name) == theirs else f"{theirs}, so {takes}"


def _is_by_processors(cost: Cost, other: Cost, name: str) -> bool:
    """Whether processors that have no block are what slows another layout."""
    is_filled = name in (INSTRUCTIONS, CACHE) and other.filled < cost.filled
    return is_filled and _explains(cost.filled / other.filled, cost, other, name)


def _explains(factor: float, cost: Cost, other: Cost, name: str) -> bool:
    """Whether the better half of a difference in time goes where another layout is rid of what
    makes it so many times slower."""
    own, theirs = cost.times_us[name], other.times_us[name]
    return factor >= _MUCH and theirs / factor <= own + _HALF * (theirs - own)
