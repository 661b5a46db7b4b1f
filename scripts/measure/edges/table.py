"""What each op answers at the edges of its types: Warp's text, the plain text, the reference.

The table has an entry for every op, cast, atomic and sampler, made from the tables of ops, so that
a new op has one by itself. :func:`answers` runs both texts on the host and the reference lane by
lane; :func:`differences` compares, and asks the gates about every lane where the three differ:
they must refuse it, or agree within the deviation that they measure. ``EXPLAINED`` says why answers
may differ where the gates keep inputs away.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from generators.build.draw import Reject
from generators.program.dtypes import Array as ArrayType
from generators.program.dtypes import Type, scalar_of
from generators.program.expr import Op
from generators.program.ops import OPS
from generators.program.walk import expressions
from scripts.measure.edges.op_programs import POOL, OneOp, all_programs
from scripts.measure.edges.values import columns
from synth.codegen.translator import Translator
from synth.dataset.headers import copy_headers
from synth.gates.contract import args_of, launch_of, sizes_of
from synth.gates.evaluate import Evaluation
from synth.gates.lanes.ops import domain_of
from synth.gates.lanes.values import NATIVE, NOISE, REDRAWN
from synth.gates.variants import prepare
from synth.reasons import GateReason
from synth.render import warp as render_warp
from synth.render.cuda import module as render_cuda
from synth.render.cuda.choose import schedule_for
from synth.render.reference import module as render_reference
from synth.rows.maker import cuda_columns
from validate.host import clang
from validate.host.launch import launch, load_entry
from validate.host.memory import Arena, arrays_of, written_arrays
from validate.host.plain_launch import grid_of, launch_plain, load_plain
from validate.host.plain_link import Linker
from validate.host.plain_memory import plain_arrays, plain_outputs, plain_parameters
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row import dtypes
from validate.row.inputs import poison
from validate.text import plain as plain_unit
from validate.text import warp_host
from validate.text.headers import warp_include_dir
from validate.text.launches import launches_of

Array = np.ndarray[Any, np.dtype[Any]]
Row = dict[str, Any]
BATCH = 32


@dataclass
class Entry:
    """One op with one choice of types: its texts, its inputs and what answered what."""

    one: OneOp
    row: Row
    inputs: dict[str, Array]
    answers: dict[str, Array] = field(default_factory=dict)
    """By who answers: ``warp``, ``plain`` and ``reference``; NaN where a reference raises."""
    raised: Array | None = None
    """Lanes in which the reference raises."""

    @property
    def cases(self) -> int:
        return len(next(iter(self.inputs.values())))

    @property
    def name(self) -> str:
        return f"{self.one.op}({', '.join(map(str, self.one.types))})"

    @property
    def output(self) -> str:
        """The parameter that the kernel writes."""
        return next(a["name"] for a in self.row["args"] if a["role"] != "in")

    @property
    def result(self) -> Type:
        param = next(p for p in self.one.program.kernel.params if p.name == self.output)
        assert isinstance(param.type, ArrayType)
        return param.type.element


def table(pool: Sequence[Type] = POOL) -> list[Entry]:
    """Every op with every choice of types from a pool, and its cases."""
    return table_of(all_programs(pool))


def table_of(programs: Sequence[OneOp]) -> list[Entry]:
    """Entries of programs of one op each."""
    translator = Translator(backward=False)
    sources = [(render_warp.render(o.program), o.program.kernel.name) for o in programs]
    modules = translator.translate_batch(sources)
    return [_entry(o, text) for o, text in zip(programs, modules, strict=True)]


def _entry(one: OneOp, module: str) -> Entry:
    program, name = one.program, one.program.kernel.name
    row = {
        "id": name,
        "kernel_name": name,
        "reference": render_reference.render(program),
        "args": args_of(program),
        "launch": launch_of(program),
        "sizes": sizes_of(program),
        "checks": {},
        **cuda_columns(module, name),
        **render_cuda.render(program, schedule_for(program, "guarded")).columns(),
    }
    given = columns(one.types)
    if one.op == "lower_bound":
        given[0] = np.sort(given[0])
    cases = len(given[0])
    inputs = {f"a{k}": np.ascontiguousarray(values) for k, values in enumerate(given)}
    for arg in row["args"]:
        if arg["role"] == "out":
            inputs[arg["name"]] = poison(*_storage(arg["dtype"], program, cases))
    return Entry(one, row, inputs)


def _storage(dtype: str, program: Any, cases: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
    parsed = dtypes.parse(dtype)
    return dtypes.storage(dtype), (cases, *parsed.shape)


def answer(entries: Sequence[Entry]) -> None:
    """Run both texts of entries on the host, and their references."""
    with tempfile.TemporaryDirectory(prefix="pairsmith-edges-") as folder:
        linker = Linker(Path(folder))
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            _answer_warp(batch, Path(folder), start)
            _answer_plain(batch, Path(folder), start, linker)
    for entry in entries:
        _answer_reference(entry)


def undefined(entry: Entry) -> Array:
    """Cases that C++ leaves open: whole numbers divided by zero, or out of their range, shifts by
    the width and more, floats that the integer type cannot hold. Host and device may differ, and
    some end the process."""
    bad = np.zeros(entry.cases, np.bool_)
    scalar = scalar_of(entry.one.types[-1])
    first, last = entry.inputs["a0"], entry.inputs.get("a1")
    if entry.one.op in ("floordiv", "mod"):
        bad = last == 0
        if not scalar.is_unsigned:
            bad |= (first == scalar.int_range[0]) & (last == -1)
    elif entry.one.op in ("lshift", "rshift"):
        assert last is not None
        bad = (last < 0) | (last >= max(32, scalar.bits))
    elif entry.one.op in ("randi", "randu") and len(entry.one.types) == 3:
        bad = last == entry.inputs["a2"]
    elif entry.one.op == "cast" and first.dtype.kind == "f" and scalar.is_int:
        low, high = scalar.int_range
        whole = np.trunc(first.astype(np.float64))
        bad = ~((whole >= low) & (whole < float(high + 1)))
    return bad


def host_inputs(entry: Entry) -> dict[str, Array]:
    """The inputs, with harmless ones where what they lead to is undefined."""
    bad = undefined(entry)
    if not bad.any():
        return entry.inputs
    harmless = {"a0": 1, "a1": 1, "a2": 2}
    return {
        name: np.where(bad, values.dtype.type(harmless[name]), values)
        if name in harmless
        else values
        for name, values in entry.inputs.items()
    }


def _answer_warp(batch: Sequence[Entry], folder: Path, number: int) -> None:
    rows, handle = [e.row for e in batch], f"edges_warp_{number}"
    target = folder / f"{handle}.o"
    clang.build(warp_host.translation_unit(rows), target, warp_include_dir(), folder)
    clang.load(target, handle)
    for position, entry in enumerate(batch):
        args, inputs = entry.row["args"], host_inputs(entry)
        arena = Arena(arrays_of(args, inputs))
        loaded = load_entry(handle, "forward", position)
        launch(loaded, (entry.cases,), arena.parameters(args, inputs))
        entry.answers["warp"] = written_arrays(args, arena)[entry.output]
    clang.unload(handle)


def _answer_plain(batch: Sequence[Entry], folder: Path, number: int, linker: Linker) -> None:
    rows, handle = [e.row for e in batch], f"edges_plain_{number}"
    target = folder / f"{handle}.o"
    layouts = linker.build(rows, target)
    clang.load(target, handle)
    for position, entry in enumerate(batch):
        args, inputs, sizes = entry.row["args"], host_inputs(entry), {"n": entry.cases}
        arena = Arena(plain_arrays(args, inputs))
        meets = plain_unit.meets(entry.row["cuda_plain"])
        loaded = load_plain(handle, position, meets, layouts[position])
        values = plain_parameters(entry.row, sizes, inputs, arena.address)
        launch_plain(loaded, grid_of(launches_of(entry.row)[0], sizes), values, 0, None)
        laid = written_arrays(args, arena)
        entry.answers["plain"] = plain_outputs(args, inputs, laid)[entry.output]
    clang.unload(handle)


def _answer_reference(entry: Entry) -> None:
    """One call for all cases, and one for each where that raises."""
    parts = getattr(entry.result, "shape", ())
    floats = scalar_of(entry.result).is_float
    kind = np.float64 if floats else scalar_of(entry.result).name
    entry.raised = np.zeros(entry.cases, np.bool_)
    try:
        entry.answers["reference"] = _referred(entry, slice(None)).astype(kind)
        return
    except ReferenceFailed:
        found = np.zeros((entry.cases, *parts), kind)
    for k in range(entry.cases):
        try:
            found[k] = _referred(entry, slice(k, k + 1))[0]
        except ReferenceFailed:
            entry.raised[k] = True
    entry.answers["reference"] = found


def _referred(entry: Entry, which: slice) -> Array:
    row = entry.row
    inputs = {
        n: v if n == "a0" and entry.one.op == "lower_bound" else v[which]
        for n, v in host_inputs(entry).items()
    }
    dim = (len(inputs[entry.output]),)
    return run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)[
        entry.output
    ]


ULPS = 64.0
"""How far two answers may be apart without the gates being asked, in units of the last place of
the larger."""


NEAR_ZERO = {"erfinv": 2.0**-52, "erfcinv": 2.0**-52}
"""How far from zero the host's own approximation of a function may be where it crosses zero."""


def agree(a: Array, b: Array, type_: Type, floor: float = 0.0) -> Array:
    """Case by case, whether two answers are the same up to rounding; NaN equals NaN."""
    scalar = scalar_of(type_)
    if not scalar.is_float:
        return _all_parts(np.asarray(a == b))
    x, y = a.astype(np.float64), b.astype(np.float64)
    info = np.finfo(scalar.name)
    with np.errstate(all="ignore"):
        # What only float64 can hold is what the type would round it to.
        x, y = (v.astype(scalar.name).astype(np.float64) for v in (x, y))
        bound = ULPS * scalar.unit_roundoff * np.maximum(np.abs(x), np.abs(y))
        near = np.abs(x - y) <= bound + max(float(info.tiny), floor)
    return _all_parts(near | (x == y) | (np.isnan(x) & np.isnan(y)))


def _all_parts(same: Array) -> Array:
    return same.reshape(len(same), -1).all(axis=1)


EXPLAINED = {
    "unit_length": "formulas for rotations differ unless the length is 1",
    "rigid": "formulas for rotations differ unless the length is 1",
    "rotation": "the formula for a quaternion is that of a rotation",
    "positive": "a scale that is not positive has no meaning of its own",
    "inside_two": "the host's inverse error function is an approximation inside (0, 2)",
}
"""Domains of ops outside which Warp's answer is no meaning that anybody asks for, and why. What is
not named here (``length``, ``unit``, ``nonzero``, ``nonnegative``) Warp defines, and the plain text
must answer the same."""


def unexplained(found: Iterable[Difference]) -> list[Difference]:
    """Those that nothing allows: the gates let the case through, or the plain text leaves out what
    Warp defines."""
    return [d for d in found if not _allowed(d)]


def _allowed(d: Difference) -> bool:
    if d.verdict == "accepted":
        return False
    if d.other == "reference" or _is_wider(d):
        return True
    if d.verdict == str(GateReason.NOT_FINITE):
        return not _is_moderate(d)
    if d.verdict != str(GateReason.DOMAIN_ERROR):
        return True
    return bool(undefined(d.entry)[d.case]) or bool(domains(d.entry) & EXPLAINED.keys())


def _is_wider(d: Difference) -> bool:
    """Whether 16 bits underflow or overflow on Warp's way, and the plain text, which computes in
    float, has what the reference has."""
    answers, case = d.entry.answers, slice(d.case, d.case + 1)
    narrow = scalar_of(d.entry.one.types[0]).name == "float16"
    return narrow and bool(
        agree(answers["plain"][case], answers["reference"][case], d.entry.result)[0]
    )


MODERATE = 1e4


def _is_moderate(d: Difference) -> bool:
    """Whether Warp has a finite answer to arguments of which no product overflows."""
    given = [v[d.case] for n, v in d.entry.inputs.items() if n != d.entry.output]
    answered = np.isfinite(d.entry.answers["warp"][d.case].astype(np.float64)).all()
    return bool(answered and all((np.abs(v) < MODERATE).all() for v in given))


def domains(entry: Entry) -> set[str]:
    """What an op asks of its arguments."""
    node = next((e for e in expressions(entry.one.program.kernel.body) if isinstance(e, Op)), None)
    spec = OPS.get(entry.one.op)
    if node is None or spec is None:
        return set()
    # An identity is tried in a product.
    return {*spec.domain, *domain_of(node, OPS[node.op].domain)}


@dataclass(frozen=True)
class Difference:
    """A case in which two answers are not the same: who, and what the gates say of it."""

    entry: Entry
    case: int
    other: str
    verdict: str
    """A reason of the gates, ``within_tolerance``, or ``accepted``: then the two must agree."""

    def __str__(self) -> str:
        given = {n: v[self.case].tolist() for n, v in self.entry.inputs.items() if n[0] == "a"}
        found = {n: v[self.case].tolist() for n, v in self.entry.answers.items()}
        return f"{self.entry.name} {self.other} {self.verdict}: {given} {found}"


def differences(entries: Sequence[Entry]) -> Iterator[Difference]:
    """Every case in which the plain text or the reference differs from Warp's text."""
    for entry in entries:
        asked: dict[int, str] = {}
        left_open = undefined(entry)
        for other in ("plain", "reference"):
            floor = NEAR_ZERO.get(entry.one.op, 0.0)
            same = agree(entry.answers["warp"], entry.answers[other], entry.result, floor)
            if other == "reference":
                assert entry.raised is not None
                same &= ~entry.raised
            for case in np.flatnonzero(~same | left_open).tolist():
                if case not in asked:
                    asked[case] = verdict(entry, case)
                yield Difference(entry, case, other, asked[case])


def verdict(entry: Entry, case: int) -> str:
    """What the gates say of one case: why they refuse it, or whether the answers are within the
    deviation that they measure."""
    evaluation = refusal(entry, case)
    if isinstance(evaluation, str):
        return evaluation
    memory = evaluation.memories[entry.output]
    scalar = scalar_of(entry.result)
    if not scalar.is_float:
        return "accepted"
    base = np.asarray(memory.variant(0))
    noise = [np.abs(np.asarray(memory.variant(k)) - base) for k in (NATIVE, *range(NOISE, REDRAWN))]
    bound = 32.0 * np.max(noise, axis=0) + ULPS * scalar.unit_roundoff * np.abs(base)
    found = [a[case].astype(np.float64).reshape(-1) for a in entry.answers.values()]
    spread = np.max(found, axis=0) - np.min(found, axis=0)
    return "within_tolerance" if (spread <= bound.reshape(-1)).all() else "accepted"


def refusal(entry: Entry, case: int) -> str | Evaluation:
    """Why the gates refuse a case, or how it went."""
    given = {name: values[case : case + 1] for name, values in entry.inputs.items()}
    floats = [v for n, v in given.items() if n[0] == "a" and v.dtype.kind == "f"]
    if not all(np.isfinite(v).all() for v in floats):
        return "input_not_finite"
    try:
        with np.errstate(all="ignore"):
            evaluation = prepare(entry.one.program, {"n": 1}, redraw=False, given=given)
            evaluation.run()
    except Reject as reject:
        return str(reject.reason)
    return evaluation


def main(folder: Path) -> None:
    """Print what was found over all types, and write a folder for `on_gpu.py`."""
    entries = table()
    answer(entries)
    found = list(differences(entries))
    wrong = unexplained(found)
    cases = len({(id(d.entry), d.case) for d in found})
    kinds = Counter((d.other, d.verdict) for d in found)
    print(f"{len({e.one.op for e in entries})} ops, {len(entries)} entries")
    print(f"{sum(e.cases for e in entries)} cases, {cases} differ")
    for (other, why), count in sorted(kinds.items()):
        print(f"  {other}, {why}: {count}")
    print(f"unexplained: {len(wrong)}")
    for d in wrong[:20]:
        print(f"  {d}")
    write_folder(folder, entries)


def write_folder(folder: Path, entries: Sequence[Entry]) -> None:
    """Texts, inputs, what the host answered, what the gates say of each case, Warp's headers."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays, rows = {}, []
    for number, entry in enumerate(entries):
        reasons = ["undefined" if bad else "" for bad in undefined(entry)]
        for case in range(entry.cases):
            said = reasons[case] or refusal(entry, case)
            reasons[case] = said if isinstance(said, str) else "promised"
        explained = bool(domains(entry) & EXPLAINED.keys())
        rows.append(
            {
                **entry.row,
                "op": entry.one.op,
                "name": entry.name,
                "cases": entry.cases,
                "output": entry.output,
                "dtype": str(entry.result),
                "explained": explained,
            }
        )
        arrays[f"{number}/reasons"] = np.array(reasons)
        arrays[f"{number}/host"] = entry.answers["warp"]
        arrays |= {f"{number}/in/{name}": values for name, values in entry.inputs.items()}
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    np.savez_compressed(folder / "values.npz", **arrays)
    copy_headers(folder / "include")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
