"""Why a kernel is laid out as it is: what its time goes to, how its threads meet memory, what the
next best layout would take and why. All of it follows from the cost model and the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from synth.render.cuda.cost.access import UPDATE
from synth.render.cuda.cost.device import H200
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.render.cuda.styles.walks import ROW_VECTORS
from synth.views.accesses import accesses_sentence, elements_at_a_time, named, wide_of
from synth.views.causes import LIMITS, because, difference, updates
from synth.views.layout import AS_LONG, Choice, Cost
from synth.views.layout import choice_of as choice_of
from synth.views.plain import pick
from synth.views.sizes import counted, many, size_names, us

Row = Mapping[str, Any]

MOSTLY_LAUNCH = 0.5
"""From which share of the time on the launch itself is what is told of."""
_SECOND = 0.5
"""A second limit is told of where it alone would take so much of the first's time."""
_TELLS_IDLE = 1.1


def reasons(row: Row, asked: bool = False, given: Schedule | None = None) -> str:
    """Two to six sentences; empty where nobody chose the layout. ``asked``: the question names the
    layout. ``given``: the question has a slower kernel of that layout, of which is told first."""
    choice = choice_of(row) if json.loads(row["schedule"])["limits"] else None
    if choice is None:
        return ""
    cost, form = choice.cost(), pick(row, "reasons", 6)
    slow = choice.of(given) if given else None
    about = "" if slow is None else _given(cost, choice.cost(slow))
    at = _sizes(row, choice)
    told = [
        f"{at} {about} Laid out as below, " if about else f"{at} ",
        accesses_sentence(row, cost, form // 2),
        _together(choice, cost),
        _changed(row, cost, choice.cost(slow)) if about and slow else "",
        "" if about else _compared(row, choice, cost, form, asked),
        _edges(cost),
    ]
    told[0] += f"{_limit(choice, cost, form)}."
    return " ".join(filter(None, told))


def _given(cost: Cost, slow: Cost) -> str:
    """The time of a kernel that was given and what is slow in it; nothing where the model, unlike
    a device, does not know it to be slower."""
    if slow.time_us < AS_LONG * cost.time_us:
        return ""
    called = styles()[slow.schedule.style].called
    why = difference(cost, slow)
    return f"the kernel given ({called}) takes {us(slow.time_us)} by the model: {why}."


def _sizes(row: Row, choice: Choice) -> str:
    names = size_names(row)
    told = [f"`{names.get(s, s)}` = {n:,}" for s, n in choice.sizes.items()]
    return f"With {', '.join(told)},"


def _limit(choice: Choice, cost: Cost, form: int) -> str:
    """What the predicted time is made of, without its full stop."""
    if cost.launch_us >= MOSTLY_LAUNCH * cost.time_us:
        return _mostly_launch(cost, form)
    whole = f"{us(cost.time_us)} by a cost model of the {H200.name}"
    first, own = LIMITS[cost.limits], us(cost.times_us[cost.limits])
    why = because(cost, cost.limits)
    told = (
        f"it takes {whole}, of which {first} would take {own} alone: {why}",
        f"what decides is {first} with {own} of {whole}: {why}",
        f"the time is {whole}; {first} alone would take {own} of it: {why}",
    )[form % 3]
    second = sorted(cost.times_us, key=lambda name: -cost.times_us[name])[1]
    if cost.times_us[second] >= _SECOND * cost.times_us[cost.limits]:
        told += f"; then {LIMITS[second]} with {us(cost.times_us[second])}"
        told += f" ({because(cost, second)})"
    return told


def _mostly_launch(cost: Cost, form: int) -> str:
    count = cost.plan.launches
    empty = "an empty launch" if count == 1 else f"{count} empty launches"
    whole, start = us(cost.time_us), us(cost.launch_us)
    rest = f"{LIMITS[cost.limits]} ({because(cost, cost.limits)})"
    model = f"a cost model of the {H200.name}"
    return (
        f"{empty} alone would take {start} of the {whole} that {model} gives; most of the rest is "
        f"{rest}",
        f"{model} gives {whole}, {start} of them for {empty}, and little is left for {rest}",
        f"{model} gives {whole}, most of it ({start}) to start at all; beyond that it is {rest}",
    )[form % 3]


def _together(choice: Choice, cost: Cost) -> str:
    """What threads do together: copies in shared memory, staged loads, shuffles, barriers."""
    plan = cost.plan
    told = [_shared_loads(cost), _joined_updates(choice, cost)]
    if plan.shuffles:
        count = cost.shuffles
        known = None if count is None else counted(count, "shuffle joins", "shuffles join")
        told.append(f"{known or 'shuffles join'} the lanes' values in registers")
    if plan.barriers:
        barriers = cost.barriers
        what = "barriers" if barriers is None else counted(barriers, "barrier", "barriers")
        order = "orders" if barriers == 1 else "order"
        told.append(f"{what} a block {order} writes and reads of shared memory")
    text = "; ".join(filter(None, told))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _shared_loads(cost: Cost) -> str:
    served = {name: uses for name, uses in cost.plan.served.items() if uses > 1.0}
    if not served:
        return ""
    return f"one load of {named(served)} serves {many(min(served.values()))} reads"


def _joined_updates(choice: Choice, cost: Cost) -> str:
    """Copies of arrays that blocks add to, or lanes that join what they add."""
    plan = cost.plan
    plain = [c for c in choice.all if c.schedule.style == ONE_THREAD_A_POINT]
    if not plain or not (plan.in_shared or plan.combined or plan.matched):
        return ""
    alone, most = choice.cost(plain[0]), cost.most_updates
    before = alone.asked.updates
    if plan.in_shared:
        names = _updated(cost, plan.in_shared)
        copies = f"{plan.copies:.0f} copies, one for each lane," if plan.copies > 1 else "a copy"
        each = f"each of {cost.blocks:,} blocks adds to {copies} of {named(names)} in shared memory"
        if most >= before:
            return each
        return (
            f"{each}, so that at most {many(most)} atomics reach memory in place of "
            f"{updates(alone)}"
        )
    if cost.asked.updates >= before:
        return ""
    names = _updated(cost, {**plan.combined, **plan.matched})
    return (
        f"lanes join what they add to {named(names)} first: {updates(cost)} atomics in place of "
        f"{updates(alone)}"
    )


def _changed(row: Row, cost: Cost, slow: Cost) -> str:
    """What is changed in a kernel that was given."""
    ours, theirs = (styles()[c.schedule.style].called for c in (cost, slow))
    parts = [f"{ours} in place of {theirs}"] if ours != theirs else []
    width = cost.schedule.vector_width
    loads, stores = wide_of(row)
    if loads or stores:
        does = " and ".join([*_if(loads, "loads of"), *_if(stores, "stores to")])
        at_a_time = elements_at_a_time(row, width)
        parts.append(f"{does} {at_a_time}" if width > 1 else f"vector {does}")
    left = sorted({*slow.plan.staged} - {*cost.plan.staged})
    # What is kept in registers counts as staged too.
    if left and "__shared__" in slow.columns["cuda_plain"]:
        parts.append(f"{named(left)} read through the caches and not staged in shared memory")
    block, before = (" x ".join(map(str, c.schedule.block)) for c in (cost, slow))
    if block != before:
        parts.append(f"blocks of {block} threads and not of {before}")
    return f"What changes: {'; '.join(parts)}." if parts else ""


def _updated(cost: Cost, nodes: Mapping[int, float]) -> list[str]:
    found = [a.array for a in cost.facts.accesses if a.kind == UPDATE and a.node in nodes]
    return list(dict.fromkeys(found))


def _compared(row: Row, choice: Choice, cost: Cost, form: int, asked: bool) -> str:
    """The next best layout, its predicted time, and what makes the difference; nothing of one that
    takes about as long, which is no reason for either."""
    found = choice.next_best()
    if found is None:
        return ""
    other = choice.cost(found)
    called = styles()[other.schedule.style].called
    if cost.schedule.style == ROW_VECTORS and found.schedule.style == ONE_THREAD_A_POINT:
        called = "the same with scalar loads"
    subject, theirs = f"{called[0].upper()}{called[1:]}", us(other.time_us)
    ratio = other.time_us / cost.time_us
    if ratio >= AS_LONG:
        why = difference(cost, other)
        return (
            f"{subject} would take {theirs}: {why}.",
            f"{subject} comes to {theirs}, since {why}.",
            f"Against that stands {called} with {theirs}: {why}.",
        )[form % 3]
    is_quicker = ratio < 1.0 / AS_LONG
    if choice.own.schedule.style != ONE_THREAD_A_POINT:
        quicker = (called, theirs) if is_quicker else None
        return _kept(row, cost, other, quicker, asked, form)
    return f"{subject} is predicted to be quicker, {theirs}, with more code." if is_quicker else ""


def _kept(
    row: Row, cost: Cost, other: Cost, quicker: tuple[str, str] | None, asked: bool, form: int
) -> str:
    """A layout that is more than another and no quicker: what it does change, and where the other
    is ``quicker`` what that is called and takes."""
    why = ("As asked, ", "The question asks for it: ")[form // 2 % 2] if asked else ""
    changes = _changes(row, cost, other)
    changes = changes if why else f"{changes[0].upper()}{changes[1:]}"
    if quicker is None:
        return f"{why}{changes}."
    called, theirs = quicker
    return (
        f"{why}{changes}; {called} would be quicker, {theirs}.",
        f"{why}{changes}. In time that costs more: {called} would take {theirs}.",
    )[form % 2]


def _changes(row: Row, cost: Cost, other: Cost) -> str:
    width = cost.schedule.vector_width
    loads, stores = wide_of(row)
    if width > 1 and (loads or stores):
        parts = [*_if(loads, "reads"), *_if(stores, "writes")]
        return (
            f"a thread {' and '.join(parts)} {elements_at_a_time(row, width)}, {_rest(row, width)}"
        )
    if cost.blocks != other.blocks:
        grid = counted(cost.blocks, "block", "blocks")
        return f"a grid of {grid} does the work of {other.blocks:,}"
    if cost.plan.in_turn and cost.threads >= cost.facts.points:
        return "a loop over the grid, of which each thread has one turn at these sizes"
    return "threads take the work in another order"


def _if(names: list[str], does: str) -> list[str]:
    return [f"{does} {named(names)}"] if names else []


def _rest(row: Row, width: int) -> str:
    """What a text does where a length is no multiple of the width."""
    if f"% {width} == 0" in row["cuda_plain"] or f"% {width} != 0" in row["cuda_plain"]:
        return f"if a row is a multiple of {width} and so stays aligned, else one by one"
    return f"and the last few one by one where {width} do not go into the length"


def _edges(cost: Cost) -> str:
    """Blocks that do not fill the device, and lanes beyond the edge."""
    if cost.filled < 1.0:
        none = H200.processors - cost.blocks
        grid = counted(cost.blocks, "block", "blocks")
        return f"The grid has {grid}, so {none} of {H200.processors} SMs have none."
    if cost.idle > _TELLS_IDLE:
        block = " x ".join(map(str, cost.schedule.block))
        return f"A block of {block} leaves {1 - 1 / cost.idle:.0%} of the threads beyond the edge."
    return ""
