"""Mutants of plain CUDA that the host run lets through, beside those that the scorer lets through.

    PYTHONPATH=.:tests/support python scripts/measure/judge/mutants.py [--data OUT] [--rows N] …

Takes N rows of the dataset OUT, spread over it, and K mutants of each row's plain text, every one
as likely as any other (--operators takes only mutants of these kinds). Each is run by
`HostRunner.run_plain`, as the gate of the generator does, and scored with one hidden seed. Prints
a table by kind of mutant: made; compiling by both; killed by the host run and by the scorer; passed
by both, by one alone. Those that the scorer alone passes are listed with a diff (--all: those that
both pass, too).

`run_plain` also launches texts in smaller blocks than the row names, in which an answer is never
launched. "in own blocks" says that it passes the mutant in the row's: there it is a right answer.
"same PTX" says that NVRTC makes the same optimised PTX of the mutant as of the row's text. Exit
code 1 when the scorer alone passes a mutant that is neither.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.measure.judge.corpus import SAMPLES, Text, dataset_rows, mutant_texts
from validate.host.runner import HostRunner, RunResult
from validate.mutants.plain.draw import OPERATORS
from validate.nvrtc.compiler import CompileRunner
from validate.score.scorer import Scorer, Verdict
from validate.statuses import RunStatus, ScoreStatus

_ROWS_AT_ONCE = 12
_NOT_COMPILED = (ScoreStatus.COMPILE_ERROR, ScoreStatus.NO_KERNEL)


@dataclass(frozen=True)
class Tried:
    """A mutant, what both say of it, and whether its optimised PTX is that of the row's text.

    `own_blocks`: whether the host run passes it in the row's own blocks. Both of the last are
    None where that was not asked: of mutants that the scorer does not pass.
    """

    text: Text
    run: RunResult
    verdict: Verdict
    own_blocks: bool | None = None
    same_ptx: bool | None = None

    @property
    def operator(self) -> str:
        return self.text.name.split("/")[1]

    @property
    def compiles(self) -> bool:
        refused = self.verdict.status in _NOT_COMPILED
        return self.run.status != RunStatus.COMPILE_ERROR and not refused

    @property
    def run_passes(self) -> bool:
        return self.run.status == RunStatus.AGREES

    @property
    def scorer_alone(self) -> bool:
        return self.verdict.passed and not self.run_passes

    @property
    def excused(self) -> bool:
        return bool(self.same_ptx or self.own_blocks)


def sound_rows(rows: Sequence[dict[str, Any]], host: HostRunner) -> list[dict[str, Any]]:
    """Those whose own text agrees on the host; the others are named."""
    found = []
    for row, result in zip(rows, host.run_plain(rows, relaunch=True), strict=True):
        if result.status == RunStatus.AGREES:
            found.append(row)
        else:
            print(f"left out {row['id']}: {result.status}: {result.reason[:160]}")
    return found


def try_all(
    rows: Sequence[dict[str, Any]], scorer: Scorer, told: argparse.Namespace
) -> Iterator[Tried]:
    """Every chosen mutant of the rows, tried by both."""
    parts = [rows[at : at + _ROWS_AT_ONCE] for at in range(0, len(rows), _ROWS_AT_ONCE)]
    with (
        ThreadPoolExecutor(told.workers) as pool,
        CompileRunner(batch_size=16) as compiler,
    ):
        for number, tried in enumerate(pool.map(lambda part: _part(part, scorer, told), parts)):
            print(f"part {number + 1} of {len(parts)}: {len(tried)} mutants", flush=True)
            yield from _with_ptx(tried, compiler)


def _part(rows: Sequence[dict[str, Any]], scorer: Scorer, told: argparse.Namespace) -> list[Tried]:
    with HostRunner(timeout_s=told.timeout_s, batch_size=16) as host:
        sound = sound_rows(rows, host)
        texts = chosen(sound, told)
        wrong = [text.row | {"cuda_plain": text.cuda} for text in texts]
        results = host.run_plain(wrong, relaunch=True)
        verdicts = scorer.score_batch([text.answer for text in texts])
        asked = [at for at, verdict in enumerate(verdicts) if verdict.passed]
        in_own = host.run_plain([wrong[at] for at in asked])
    own = {at: r.status == RunStatus.AGREES for at, r in zip(asked, in_own, strict=True)}
    return [
        Tried(*each, own.get(at))
        for at, each in enumerate(zip(texts, results, verdicts, strict=True))
    ]


def chosen(rows: Sequence[dict[str, Any]], told: argparse.Namespace) -> list[Text]:
    """The mutants to try."""
    if not told.operators:
        return list(mutant_texts(rows, told.mutants_per_row, told.seed))
    every = mutant_texts(rows, sys.maxsize, told.seed)
    found: dict[tuple[str, str], list[Text]] = {}
    for text in every:
        operator = text.name.split("/")[1]
        if operator in told.operators:
            found.setdefault((text.row["id"], operator), []).append(text)
    return [text for group in found.values() for text in group[: told.mutants_per_row]]


def _with_ptx(tried: Sequence[Tried], compiler: CompileRunner) -> list[Tried]:
    """The same, told which of those that the scorer passes have the PTX of their rows."""
    passed = [each for each in tried if each.verdict.passed]
    own = {each.text.row["id"]: each.text.row for each in passed}
    asked = [*own.values(), *(each.text.row | {"cuda_plain": each.text.cuda} for each in passed)]
    texts = compiler.optimised_plain_ptx(asked) if asked else []
    ptx = dict(zip(own, texts, strict=False))
    same = [
        text is not None and text == ptx[each.text.row["id"]]
        for each, text in zip(passed, texts[len(own) :], strict=True)
    ]
    by_name = {each.text.name: s for each, s in zip(passed, same, strict=True)}
    return [replace(each, same_ptx=by_name.get(each.text.name)) for each in tried]


_COLUMNS: Mapping[str, Callable[[Tried], bool]] = {
    "made": lambda t: True,
    "compile": lambda t: t.compiles,
    "run_plain kills": lambda t: t.compiles and not t.run_passes,
    "scorer kills": lambda t: t.compiles and not t.verdict.passed,
    "both pass": lambda t: t.run_passes and t.verdict.passed,
    "  same PTX": lambda t: t.run_passes and t.verdict.passed and bool(t.same_ptx),
    "run_plain alone": lambda t: t.run_passes and t.compiles and not t.verdict.passed,
    "scorer alone": lambda t: t.scorer_alone,
    " in own blocks": lambda t: t.scorer_alone and bool(t.own_blocks),
    "neither": lambda t: t.scorer_alone and not t.excused,
}


def print_table(tried: Sequence[Tried]) -> None:
    """How many of each kind of mutant, by what became of them."""
    print(f"\n{'kind':22}", *(f"{name:>15}" for name in _COLUMNS))
    for operator in [*OPERATORS, "all"]:
        ours = [each for each in tried if operator in (each.operator, "all")]
        if ours:
            cells = (sum(map(of, ours)) for of in _COLUMNS.values())
            print(f"{operator:22}", *(f"{cell:>15}" for cell in cells))


def print_passed(title: str, tried: Sequence[Tried]) -> None:
    """Mutants, each with its difference from the row's text."""
    print(f"\n{title}: {len(tried)}")
    for each in tried:
        row, told = each.text.row, "; same PTX" if each.same_ptx else ""
        told += "; passes in the row's own blocks" if each.own_blocks else ""
        print(f"\n{each.text.name} ({row['kernel_name']}){told}")
        print(f"  run_plain: {each.run.status} {each.run.reason[:160]}")
        before, after = (text.splitlines() for text in (row["cuda_plain"], each.text.cuda))
        for line in list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]:
            print(f"    {line}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=SAMPLES, metavar="OUT", help="a dataset")
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--mutants-per-row", type=int, default=6)
    parser.add_argument(
        "--operators", nargs="+", choices=OPERATORS, help="only these, K of each of a row"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the choice of mutants")
    parser.add_argument("--hidden-seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--timeout-s", type=float, default=5.0, help="of a mutant in the host run")
    parser.add_argument("--all", action="store_true", help="list those that both pass, too")
    parser.add_argument("--json", type=Path, help="write what became of each mutant here")
    return parser.parse_args()


def main() -> int:
    """Try the mutants and print what became of them."""
    told = arguments()
    rows = [row for row in dataset_rows(told.data, told.rows) if row["cuda_plain"]]
    began = time.monotonic()
    with Scorer(hidden_seed=told.hidden_seed, workers=told.workers) as scorer:
        tried = list(try_all(rows, scorer, told))
    took_s = time.monotonic() - began
    both = [each for each in tried if each.run_passes and each.verdict.passed]
    if told.all:
        print_passed("passed by both, of other PTX", [t for t in both if not t.same_ptx])
    alone = [each for each in tried if each.scorer_alone]
    print_passed("passed by the scorer alone", alone)
    print_table(tried)
    print(f"{len(rows)} rows, {len(tried)} mutants, {took_s:.0f} s")
    if told.json:
        told.json.write_text("".join(json.dumps(_record(each)) + "\n" for each in tried))
    return 1 if any(not each.excused for each in alone) else 0


def _record(each: Tried) -> dict[str, Any]:
    return {
        "name": each.text.name,
        "run": [each.run.status, each.run.reason],
        "score": [each.verdict.status, each.verdict.reason],
        "own_blocks": each.own_blocks,
        "same_ptx": each.same_ptx,
    }


if __name__ == "__main__":
    sys.exit(main())
