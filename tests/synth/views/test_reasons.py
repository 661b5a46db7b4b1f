"""What answers say before their code: held against the cost model, and against what threads do."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_programs import drawn_choice
from sweeps import part_of

from generators.build.registry import LEVELS
from generators.program.joins import named
from generators.program.serial import serial
from generators.program.serialise import from_json
from synth.dataset.stored import stored_rows
from synth.render.cuda.choose import candidates_of
from synth.render.cuda.cost.access import LOAD, STORE, UPDATE
from synth.render.cuda.cost.device import H200
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.launch import Launch
from synth.render.cuda.cost.predict import (
    ATOMICS,
    CACHE,
    INSTRUCTIONS,
    LATENCY,
    MEMORY,
    STARTS,
)
from synth.render.cuda.find.owned import settled
from synth.render.cuda.style import styles
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.render.cuda.styles.vectors import VECTORS
from synth.views.accesses import APART, BY_DATA, RUNS, SAME, SIDE_BY_SIDE, ways_of, wide_of
from synth.views.causes import LIMITS
from synth.views.joined import BARRIER, SHUFFLE, counted
from synth.views.layout import AS_LONG, Choice, Cost, choice_of
from synth.views.plain import LeftOut, is_free
from synth.views.reasons import MOSTLY_LAUNCH, reasons
from synth.views.sizes import in_bytes, us
from synth.views.texts import EXCHANGES, TO_PLAIN
from validate.oracle.reference import _to_reference
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.text.formula import evaluate

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ROWS = [row for _, row in stored_rows(SAMPLES) if row["cuda_plain"] is not None]
Row = dict[str, Any]
Notes = dict[int, list[int]]


def _id(row: Row) -> str:
    return str(row["kernel_name"])


def choice(row: Row) -> Choice:
    found = choice_of(row)
    assert found is not None
    return found


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:])\s+(?=[A-Z])", text)


def skeleton(sentence: str) -> str:
    """A sentence without its names and numbers."""
    return re.sub(
        r"\d[\d,.]*", "#", re.sub(r"`[^`]*`(?:, `[^`]*`)*(?: and `[^`]*`)?", "`", sentence)
    )


def test_no_sentence_is_in_every_answer() -> None:
    whole: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    for row in ROWS:
        told = set(sentences(reasons(row, asked=not is_free(row))))
        assert 2 <= len(told) <= 7, row["id"]
        whole.update(told)
        forms.update({skeleton(sentence) for sentence in told})
    assert max(whole.values()) <= 2, whole.most_common(3)
    assert max(forms.values()) <= len(ROWS) / 4, forms.most_common(3)


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_sizes_are_exact_in_use_and_those_of_the_argument(row: Row) -> None:
    """Numbers as they are, within the regime, and the branch of vectors is the one that runs."""
    found = choice(row)
    told = re.findall(r"`\w+` = ([\d,]+)", reasons(row).partition(", ")[0] + reasons(row))
    assert {int(text.replace(",", "")) for text in told} == {*found.sizes.values()}
    for span in row["regime"]:
        assert span["low"] <= found.sizes[span["symbol"]] <= span["high"]
    for size in row["sizes"]:
        if size["symbol"] in found.sizes:
            assert found.sizes[size["symbol"]] % size["multiple_of"] == 0
    schedule = json.loads(row["schedule"])
    if schedule["style"] == VECTORS and f"% {schedule['vector_width']} == 0" in row["cuda_plain"]:
        (inner,) = evaluate_all(row["launch"]["dim"][-1:], found.sizes)
        assert inner % schedule["vector_width"] == 0


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_times_and_causes_are_those_of_the_model(row: Row) -> None:
    found, text = choice(row), reasons(row)
    listed = candidates_of(from_json(row["program"]), found.sizes)
    own = next(c for c in listed if c.schedule == found.own.schedule)
    cost = found.cost()
    known = {us(c.prediction.time_us) for c in listed} | {us(cost.launch_us)}
    known |= {us(t) for c in listed for t in found.cost(c).times_us.values()}
    assert us(own.prediction.time_us) in text
    for told in re.findall(r"[\d,.]+ µs", text):
        assert told in known
    first = text.partition(";")[0]
    largest = max(cost.times_us, key=lambda name: cost.times_us[name])
    causes = [name for name, words in LIMITS.items() if words in sentences(text)[0]]
    assert largest in causes
    if cost.launch_us >= MOSTLY_LAUNCH * own.prediction.time_us:
        assert us(cost.launch_us) in sentences(text)[0]
        assert causes == [largest]
    assert "about as quick" not in first


def test_the_model_tells_of_each_limit() -> None:
    assert set(LIMITS) == {MEMORY, CACHE, INSTRUCTIONS, ATOMICS, LATENCY, STARTS}
    for style in styles().values():
        assert style.called[0].islower(), style.name


class _Watched:
    """An array of a reference that notes at which places each thread touches it."""

    def __init__(
        self, array: Any, dims: int, notes: dict[int, list[int]], thread: list[int]
    ) -> None:
        self.array, self.dims, self.notes, self.thread = array, dims, notes, thread

    def _note(self, index: Any) -> None:
        places = index if isinstance(index, tuple) else (index,)
        shape = self.array.shape[: self.dims]
        if len(places) >= self.dims:
            flat = int(np.ravel_multi_index([int(p) for p in places[: self.dims]], shape))
            self.notes.setdefault(self.thread[0], []).append(flat)

    def __getitem__(self, index: Any) -> Any:
        self._note(index)
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._note(index)
        self.array[index] = value

    def __len__(self) -> int:
        return len(self.array)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.array


def touched(
    row: Row, sizes: dict[str, int], dims: tuple[int, ...] | None = None
) -> dict[str, Notes]:
    """By array, the flat places that each thread of the reference touches, in order; of ``dims``
    threads where not all are run."""
    thread = [-1]

    def counted(function: Any) -> Any:
        def call(*args: Any) -> None:
            thread[0] += 1
            function(*args)

        return call

    text = row["reference"].replace("    def thread(", "    @counted\n    def thread(")
    namespace: dict[str, Any] = {"__name__": "reference", "counted": counted}
    exec(text, namespace)
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    notes: dict[str, Notes] = {}
    values = []
    for arg in row["args"]:
        value = _to_reference(arg, inputs[arg["name"]], namespace, False)
        if arg["kind"] == "array":
            notes[arg["name"]] = {}
            value = _Watched(value, len(arg["shape"]), notes[arg["name"]], thread)
        values.append(value)
    namespace[row["kernel_name"]](dims or evaluate_all(row["launch"]["dim"], sizes), *values)
    return notes


def strides(notes: Notes, inner: int) -> set[int]:
    """Differences between what two threads beside each other touch at the same step."""
    found: set[int] = set()
    for thread, places in notes.items():
        if (thread + 1) % inner and thread + 1 in notes:
            found |= {abs(b - a) for a, b in zip(places, notes[thread + 1], strict=False)}
    return found


def _cost_at(row: Row, sizes: dict[str, int]) -> Cost:
    found = choice(row)
    program = named(settled(found.program))
    return Cost(facts_of(serial(program), sizes), found.cost().plan, found.own, program, sizes)


def _told_ways() -> Iterator[Row]:
    for row in ROWS:
        if not choice(row).cost().plan.lanes and row["reference"] and "tile" not in row["category"]:
            yield row


TOLD = list(_told_ways())


@pytest.mark.parametrize("row", TOLD, ids=_id)
def test_what_is_said_of_neighbouring_threads_is_what_they_do(row: Row) -> None:
    """The reference is run with arrays that note their indices; the sizes are the row's own."""
    sizes = own_sizes(row["sizes"])
    inner = evaluate_all(row["launch"]["dim"], sizes)[-1]
    cost, wide = _cost_at(row, sizes), {*wide_of(row)[0], *wide_of(row)[1]}
    notes = touched(row, sizes)
    for name, (way, stride, _) in ways_of(cost, wide).items():
        if way == BY_DATA or not notes[name] or inner < 2:
            continue
        # The reference has a thread for each element, where a thread of the text takes several.
        taken = 1 if name in wide else cost.plan.vector_width
        expected = {SIDE_BY_SIDE: 1, RUNS: 1, SAME: 0, APART: stride / taken}[way]
        # Where no two neighbours are at work, as in an exchange of pairs, there is nothing to see.
        found = strides(notes[name], inner)
        assert not found or expected in found, (name, way)


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_wide_accesses_are_claimed_only_of_arrays_that_have_them(row: Row) -> None:
    loads, stores = wide_of(row)
    casts = set(re.findall(r"reinterpret_cast<(?:const )?\w+\*>\(&?(\w+)", row["cuda_plain"]))
    assert {*loads, *stores} <= casts
    for view in TO_PLAIN:
        try:
            exchange = EXCHANGES[view](row)
        except LeftOut:
            continue
        told = f"{exchange.question.partition('```')[0]} {exchange.reasons}"
        for claim in re.findall(r"vector (?:loads of|stores to) ((?:`\w+`(?:, | and )?)+)", told):
            assert set(re.findall(r"`(\w+)`", claim)) <= casts
        if not casts:
            assert "elements at a time" not in told


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_what_is_no_gain_is_asked_for(row: Row) -> None:
    """A layout of more than one thread a point is answered unasked only where it is quicker."""
    found = choice(row)
    plain = [c for c in found.all if c.schedule.style == ONE_THREAD_A_POINT]
    if is_free(row) and plain and found.own.schedule.style != ONE_THREAD_A_POINT:
        assert plain[0].prediction.time_us > found.own.prediction.time_us
    exchange = EXCHANGES["sft"](row)
    told = re.search(r"[Aa]s asked|question asks", exchange.reasons)
    assert not (told and is_free(row))
    style = styles()[found.own.schedule.style]
    if told and style.name != VECTORS:
        assert style.asks(json.loads(row["schedule"])) in exchange.question


def test_poor_answers_are_those_that_the_model_calls_so() -> None:
    poor = [row for row in ROWS if choice(row).is_poor]
    assert 1 <= len(poor) <= len(ROWS) / 5
    for row in ROWS:
        cost = choice(row).cost()
        full = max(cost.times_us[MEMORY], cost.times_us[INSTRUCTIONS] * cost.filled)
        if cost.idle >= 2.0:
            assert row in poor
        elif row in poor:
            assert cost.time_us > 4.0 * (cost.launch_us + full)
        else:
            busy = cost.filled >= 0.5 and cost.limits not in (CACHE, LATENCY)
            assert busy or cost.time_us <= 4.0 * (cost.launch_us + full)


def cost_arrays(found: Choice) -> dict[str, float]:
    return found.cost().facts.arrays


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_bytes_are_told_as_each_array_moved_once(row: Row) -> None:
    """At most each array in full for its loads and again for its stores, and never a fetch of what
    is only written."""
    found = choice(row)
    accesses = found.cost().facts.accesses
    most = 0.0
    for name, size in cost_arrays(found).items():
        kinds = {access.kind for access in accesses if access.array == name} - {UPDATE}
        most += size * len(kinds)
    assert 0 <= found.cost().moved_bytes <= most + 1e-6
    told = re.findall(r"([\d.]+ (?:GB|MB|kB|bytes)) of arrays are read and written", reasons(row))
    known = {in_bytes(found.cost(c).moved_bytes) for c in found.all}
    assert {*told} <= known


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_a_layout_that_takes_about_as_long_is_not_named_as_a_reason(row: Row) -> None:
    found = choice(row)
    other = found.next_best()
    for asked in (False, True):
        text = reasons(row, asked)
        assert "longer text" not in text
        assert "would change neither" not in text
        if other is None or not 1 / AS_LONG <= found.ratio(other) < AS_LONG:
            continue
        called = styles()[other.schedule.style].called
        assert called not in text
        assert f"{called[0].upper()}{called[1:]}" not in text


def test_lines_and_bytes_are_told_without_waits() -> None:
    """Elements in turn ask for as many lines as one thread for each, if later."""
    compared = 0
    for row in ROWS:
        found = choice(row)
        plain = {
            c.schedule.block: found.cost(c)
            for c in found.all
            if c.schedule.style == ONE_THREAD_A_POINT
        }
        for cost in (found.cost(c) for c in found.all if c.schedule.style == "grid_stride"):
            like = plain.get(cost.schedule.block)
            if like is not None and cost.asked.waited > 1.5:
                # Of few blocks the last, which is not full, is counted whole.
                assert cost.lines == pytest.approx(
                    like.lines, rel=0.05 + 1 / max(1, cost.blocks - 1)
                )
                assert cost.moved_bytes == like.moved_bytes
                compared += 1
    assert compared


def _in_use(row: Row) -> dict[str, int]:
    """Sizes at which a warp does not come to an edge: those told of, or a few hundred."""
    factors = {size["symbol"]: size["multiple_of"] for size in row["sizes"]}
    found = {}
    for symbol, size in {**own_sizes(row["sizes"]), **choice(row).sizes}.items():
        most = -(-_MOST // factors[symbol]) * factors[symbol]
        found[symbol] = min(size, most)
    return found


_MOST = 96


@pytest.mark.parametrize("row", part_of(TOLD, 2, _id, itemgetter("category")), ids=_id)
def test_what_is_said_of_a_warp_is_so_at_sizes_in_use(row: Row) -> None:
    """The lanes of the first warps, run alone: most of them are as far apart as is told."""
    sizes = _in_use(row)
    dims = evaluate_all(row["launch"]["dim"], sizes)
    wide = {arg["name"] for arg in row["args"]}
    ways = ways_of(_cost_at(row, sizes), wide)
    first = (*(min(2, extent) for extent in dims[:-1]), min(64, dims[-1]))
    notes = touched(row, sizes, first)
    for name, (way, stride, _) in ways.items():
        if way == BY_DATA or first[-1] < 32:
            continue
        expected = {SIDE_BY_SIDE: 1, RUNS: 1, SAME: 0, APART: stride}[way]
        found = strides(notes[name], first[-1])
        assert not found or expected in found, (name, way, found)


def test_no_store_is_told_to_be_at_the_same_place() -> None:
    for row in ROWS:
        found = choice(row)
        for cost in map(found.cost, found.all[:4]):
            stored = {a.array for a in cost.facts.accesses if a.kind == STORE}
            loaded = {a.array for a in cost.facts.accesses if a.kind == LOAD}
            ways = ways_of(cost, ())
            assert not [n for n in stored - loaded if n in ways and ways[n][0] == SAME]


def test_elements_of_vectors_that_are_read_one_by_one_are_apart() -> None:
    """Each thread has some: neighbours are as many elements apart."""
    checked = 0
    for row in ROWS:
        found = choice(row)
        for cost in (found.cost(c) for c in found.all if c.schedule.style == VECTORS):
            beside = ways_of(cost, {arg["name"] for arg in row["args"]})
            for name, (way, stride, _) in ways_of(cost, ()).items():
                if beside[name][0] == SIDE_BY_SIDE and way == APART:
                    assert stride in (1, cost.schedule.vector_width), name
                    checked += 1
    assert checked


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_vector_stores_are_to_what_the_kernel_writes(row: Row) -> None:
    _, stores = wide_of(row)
    inputs = {arg["name"] for arg in row["args"] if arg["role"] == "in"}
    assert not {*stores} & inputs


def test_a_load_that_is_broken_over_two_lines_is_no_store() -> None:
    text = (
        "    const float4 x4 =\n        *reinterpret_cast<const float4*>(x + first);\n"
        "    *reinterpret_cast<float4*>(y + first) =\n        x4;\n"
    )
    args = [{"name": name, "kind": "array"} for name in "xy"]
    assert wide_of({"cuda_plain": text, "args": args}) == (["x"], ["y"])


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_blocks_are_those_of_the_grid(row: Row) -> None:
    found = choice(row)
    cost, blocks = found.cost(), 1
    for extent in row["plain_launch"][0]["grid"]:
        blocks *= evaluate(extent, found.sizes)
    assert cost.blocks == blocks
    told = re.findall(r"(?:The grid has|[Ee]ach of|grid of) ([\d,]+) blocks?", reasons(row))
    assert {int(text.replace(",", "")) for text in told} <= {blocks}


def test_threads_beyond_the_edge_are_counted_of_vectors_too() -> None:
    """A warp of 32 along x that takes 4 elements each has 26 lanes beyond a row of 24."""
    checked = 0
    for row in ROWS:
        found = choice(row)
        for cost in (found.cost(c) for c in found.all):
            extents = cost.facts.extents
            if cost.schedule.style != VECTORS or len(cost.schedule.block) != len(extents):
                continue
            small = replace(cost.facts, extents=(*extents[:-1], 24))
            idle = Launch(small, cost.plan, cost.schedule, H200).idle
            lanes = -(-24 // cost.schedule.vector_width)
            assert idle >= cost.schedule.block[0] / lanes
            checked += 1
    assert checked


_JOINS = """__device__ float2 warp_sum(float2 value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value.x += __shfl_xor_sync(0xffffffff, value.x, offset);
        value.y += __shfl_xor_sync(0xffffffff, value.y, offset);
    }
    return value;
}

__device__ float2 block_sum(float2 value)
{
    value = warp_sum(value);
    __syncthreads();
    return warp_sum(value);
}

extern "C" __global__ void __launch_bounds__(512) sums(
    const float2* x,
    int n)
{
    float2 own = x[threadIdx.x];
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        own += x[k];
    }
    own = block_sum(own);
}

extern "C" __global__ void tiles(int n)
{
    for (int k = 0; k < n; k += 32) {
        __syncthreads();
    }
}
"""


def test_barriers_and_shuffles_are_counted_in_the_text() -> None:
    assert counted(_JOINS, "sums", BARRIER) == 1
    assert counted(_JOINS, "sums", SHUFFLE) == 20
    assert counted(_JOINS, "tiles", BARRIER) is None
    told = 0
    for row in ROWS:
        kernel = row["plain_launch"][0]["kernel"] or row["kernel_name"]
        for what, words in ((BARRIER, r"barriers?"), (SHUFFLE, r"shuffles? joins?")):
            found = re.search(rf"([\d,]+) {words} (?:a block|the lanes)", reasons(row))
            count = counted(row["cuda_plain"], kernel, what)
            if found and count is not None:
                assert int(found[1].replace(",", "")) == count, row["id"]
                told += 1
    assert told


def test_no_time_is_told_of_barriers_and_no_bytes_as_a_time() -> None:
    for row in ROWS:
        found = choice(row)
        for schedule in [None, *(c.schedule for c in found.all[-3:])]:
            text = reasons(row, given=schedule)
            assert not re.search(r"barriers? of a block|and that is", text)
            assert not re.search(r"\b1 (?:barriers|loads|shuffles|blocks|atomics)\b", text)


def test_atomics_of_copies_are_blocks_times_elements_of_each_array_once() -> None:
    checked = 0
    patterns = [drawn_choice("atomic", "binary_pattern_counts", level) for level in LEVELS]
    for found in [*map(choice, ROWS), *patterns]:
        for cost in (found.cost(c) for c in found.all if c.schedule.style == "block_bins"):
            updates = [a for a in cost.facts.accesses if a.kind == UPDATE]
            if any(a.node not in cost.plan.in_shared for a in updates):
                continue
            arrays = {a.array: a for a in updates}
            bins = 0.0
            for array, access in arrays.items():
                held = cost.plan.held.get(access.node, inf)
                numbers = access.atoms * min(held, cost.facts.arrays[array] / access.bytes)
                bins += numbers
            if not cost.plan.held:
                assert cost.most_updates == pytest.approx(cost.blocks * bins)
                checked += 1
            assert cost.most_updates >= cost.blocks * bins * 0.999
            assert cost.asked.updates <= cost.most_updates * 1.001
    assert checked


def test_what_changes_is_told_of_a_kernel_that_was_given() -> None:
    """Vectors and another block, in words."""
    told = 0
    for row in ROWS:
        found = choice(row)
        for slow in found.all:
            text = reasons(row, given=slow.schedule)
            if "the kernel given" in text and slow.schedule.style != found.own.schedule.style:
                assert "What changes: " in text, row["id"]
                if any(wide_of(row)):
                    assert re.search(r"What changes: [^.]*(?:vector|elements at a time)", text)
                told += 1
    assert told
