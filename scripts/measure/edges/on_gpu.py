"""Run the table of edges on a GPU: Warp's text and the plain text of every op, case by case.

`python -m scripts.measure.edges.table FOLDER` writes the folder on a machine with Warp. On the GPU
machine, with NumPy and CuPy alone: `python -m scripts.measure.edges.on_gpu FOLDER` (under two
minutes). Prints ops, cases, how many are equal and differ, and the first cases that differ though
they are promised. Without a GPU, `--compile sm_90` compiles every text and launches nothing.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from validate.gpu.device import devices
from validate.gpu.launch import load_kernel
from validate.gpu.nvrtc import compile_plain, compile_warp
from validate.gpu.text import PlainText, Shape, WarpText, run_text
from validate.text.plain import cuda_entries, cuda_program
from validate.text.warp_program import entry_names, program

Array = np.ndarray[Any, np.dtype[Any]]
Row = Mapping[str, Any]
BATCH = 48
ULPS = 64.0
PROMISED = "promised"


@dataclass(frozen=True)
class Case:
    """One op with one choice of types, as the folder has it."""

    row: Row
    inputs: dict[str, Array]
    host: Array
    reasons: Array


def read(folder: Path) -> list[Case]:
    """All entries of a folder."""
    rows = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    with np.load(folder / "values.npz") as values:
        found = {key: values[key] for key in values.files}
    names = [[arg["name"] for arg in row["args"]] for row in rows]
    return [
        Case(
            row,
            {n: found[f"{k}/in/{n}"] for n in names[k]},
            found[f"{k}/host"],
            found[f"{k}/reasons"],
        )
        for k, row in enumerate(rows)
    ]


def compiled(cases: Sequence[Case], arch: str, include: Path) -> Iterator[tuple[Case, Any, Any]]:
    """Each entry with Warp's and the plain text as machine code and the kernel's name in it."""
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        by_prologue: dict[str, list[Case]] = {}
        for case in batch:
            by_prologue.setdefault(case.row["cuda_prologue"], []).append(case)
        warp = {}
        for some in by_prologue.values():
            rows = [case.row for case in some]
            binary = compile_warp(program(rows), arch, include, None)
            warp |= {id(c): (binary, entry_names(rows, k)[0]) for k, c in enumerate(some)}
        rows = [case.row for case in batch]
        plain = compile_plain(cuda_program(rows), arch)
        for position, case in enumerate(batch):
            yield case, warp[id(case)], (plain, cuda_entries(rows, position)[0])


def agree(a: Array, b: Array, dtype: str) -> Array:
    """Case by case, whether two answers are the same up to rounding; NaN equals NaN."""
    if a.dtype.kind != "f":
        return np.asarray(a == b).reshape(len(a), -1).all(axis=1)
    info, (x, y) = np.finfo(a.dtype), (v.astype(np.float64) for v in (a, b))
    with np.errstate(all="ignore"):
        bound = ULPS * float(info.eps) * np.maximum(np.abs(x), np.abs(y)) + float(info.tiny)
        same = (np.abs(x - y) <= bound) | (x == y) | (np.isnan(x) & np.isnan(y))
    return same.reshape(len(a), -1).all(axis=1)


def run(folder: Path) -> int:
    """Launch everything; the number of promised cases in which the two texts differ."""
    (device, *_) = devices()
    cases = read(folder)
    pairs: dict[str, Counter[str]] = {"plain with warp": Counter(), "warp with host": Counter()}
    shown: list[str] = []
    for case, *texts in compiled(cases, device.arch, folder / "include"):
        row, shape = case.row, Shape({"n": len(case.reasons)}, (len(case.reasons),), case.inputs)
        warp, plain = (
            run_text(kind(load_kernel(*text)), row, shape).outputs[row["output"]]
            for kind, text in zip((WarpText, lambda k: PlainText([k])), texts, strict=True)
        )
        for name, (left, right) in zip(pairs, ((plain, warp), (warp, case.host)), strict=True):
            same = agree(left, right, row["dtype"])
            kinds = np.where(same, "equal", case.reasons)
            pairs[name].update(kinds.tolist())
            wrong = np.flatnonzero(~same & (case.reasons == PROMISED))
            shown += [_shown(name, case, k, left, right) for k in wrong[:3].tolist()]
    print(
        f"{device.name}, {device.arch}: {len({c.row['op'] for c in cases})} ops, "
        f"{len(cases)} entries, {sum(len(c.reasons) for c in cases)} cases"
    )
    for name, counts in pairs.items():
        print(f"{name}: {json.dumps(dict(sorted(counts.items())))}")
    print("\n".join(shown[:60]))
    return pairs["plain with warp"][PROMISED]


def _shown(name: str, case: Case, k: int, left: Array, right: Array) -> str:
    given = [v[k].tolist() for n, v in case.inputs.items() if n != case.row["output"]]
    return f"{name}: {case.row['name']} of {given}: {left[k].tolist()} and {right[k].tolist()}"


def main() -> None:
    """Of the command line: FOLDER, or FOLDER --compile ARCH."""
    folder = Path(sys.argv[1])
    if sys.argv[2:3] == ["--compile"]:
        built = list(compiled(read(folder), sys.argv[3], folder / "include"))
        size = sum(len(binary) for binary in {b for _, *both in built for b, _ in both})
        print(f"{len(built)} entries compiled for {sys.argv[3]}, {size} bytes of machine code")
        return
    sys.exit(1 if run(folder) else 0)


if __name__ == "__main__":
    main()
