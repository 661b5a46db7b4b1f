"""Texts to measure the judge with, each with its row: suites, own texts, rewrites, mutants."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_texts import JudgeText, honest_texts, judge_rows, wrong_texts

from generators.program.serialise import from_json
from synth.dataset.stored import stored_rows
from synth.render.cuda.choose import schedule_for, schedules_of
from synth.render.cuda.module import render
from validate.mutants.plain.draw import plain_mutants
from validate.score.scorer import Answer

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "data" / "samples"
REWRITES = ROOT / "tests" / "data" / "honest_rewrites"

Row = dict[str, Any]

LAUNCHES = {"launches": "plain_launch", "scratch": "plain_scratch"}
"""What an answer calls the columns that say how it is launched."""


@dataclass(frozen=True)
class Text:
    """An answer and where it comes from; a `launch` of None is what the text says, or the row's."""

    name: str
    row: Row
    cuda: str
    launch: Mapping[str, Any] | None = None

    @property
    def answer(self) -> Answer:
        return Answer(self.cuda, self.row, self.launch)


def suite(which: str) -> list[Text]:
    """The texts of `tests/data/judge`; `which` is "wrong" or "honest"."""
    rows = judge_rows()
    found: list[JudgeText] = wrong_texts() if which == "wrong" else honest_texts()
    return [Text(f"{which}/{t.kind}/{t.name}", rows[t.row_id], t.text, t.launch) for t in found]


def suite_rows() -> list[Row]:
    """The rows that the suites are for."""
    return list(judge_rows().values())


def dataset_rows(data: Path, count: int | None = None) -> list[Row]:
    """`count` rows of a dataset, spread over it, with plain columns; all where it has no more."""
    rows = [row for _, row in stored_rows(data) if row["program"] or row["cuda_plain"]]
    if count is not None:
        rows = rows[:: max(1, len(rows) // count)][:count]
    for row in rows:
        if row["cuda_plain"] is None:
            row.update(render(from_json(row["program"])).columns())
    return rows


def own_texts(rows: Sequence[Row]) -> list[Text]:
    """The plain CUDA of rows, as an answer to them."""
    return [Text(f"own/{row['id']}", row, row["cuda_plain"]) for row in rows if row["cuda_plain"]]


def style_texts(rows: Sequence[Row]) -> Iterator[Text]:
    """The programs of rows in every style that they have a text in, as answers to the rows."""
    for row in rows:
        if not row["program"]:
            continue
        program = from_json(row["program"])
        for style in schedules_of(program):
            columns = render(program, schedule_for(program, style)).columns()
            # The same kernel may take its sizes in another order: then it answers another row.
            if columns["plain_args"] == row["plain_args"]:
                launch = {key: columns[name] for key, name in LAUNCHES.items()}
                yield Text(f"style/{style}/{row['id']}", row, columns["cuda_plain"], launch)


def rewritten_texts() -> list[Text]:
    """The rewrites by hand of `tests/data/honest_rewrites`."""
    lines = (REWRITES / "rows.jsonl").read_text().splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    found = []
    for path in sorted(REWRITES.glob("*.cu")):
        text = path.read_text()
        named, launch = re.search(r"// row: (\w+)", text), re.search(r"// launch: (.*)", text)
        if named is None or launch is None:
            raise ValueError(f"{path.name} does not say its row and its launch")
        found.append(Text(f"rewrite/{path.stem}", rows[named[1]], text, json.loads(launch[1])))
    return found


def mutant_texts(rows: Sequence[Row], per_row: int, seed: int) -> Iterator[Text]:
    """`per_row` mutants of the plain CUDA of each row, each as likely as any other."""
    for row in rows:
        every = plain_mutants(row)
        stream = random.Random(f"{seed}/{row['id']}")
        for at in sorted(stream.sample(range(len(every)), min(per_row, len(every)))):
            yield Text(f"mutant/{every[at].operator}/{row['id']}/{at}", row, every[at].text)
