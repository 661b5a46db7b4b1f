"""Spans are read from texts; here they are held against what printers write of the tree."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generators.program import ir
from generators.program.expr import Var
from generators.program.serialise import from_json
from generators.program.walk import bodies, statements
from synth.dataset.stored import stored_rows
from synth.render.cuda import lines
from synth.render.cuda.choose import schedules_of
from synth.render.cuda.expressions import Expressions
from synth.render.cuda.module import Plain, render
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.plain import fenced
from synth.views.spans import spans_of
from validate.text.lexer import lex

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
PRINTERS = (
    "kernel",
    *(f"styles.{name}" for name in ("axis", "halo", "rows", "threads", "vectors")),
)


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


class Printed:
    """What printers wrote of a tree: accesses of arrays, and the tests with which threads leave."""

    def __init__(self) -> None:
        self.accesses: set[str] = set()
        self.guards: set[str] = set()

    def listen(self, patch: pytest.MonkeyPatch) -> None:
        index, leaving = Expressions.index, lines.leaving

        def indexed(printer: Expressions, array: Var, indices: Any) -> Any:
            found = index(printer, array, indices)
            self.accesses.add(bare(found.text))
            return found

        def left(indent: int, test: str) -> list[str]:
            self.guards.add(bare(test))
            return leaving(indent, test)

        patch.setattr(Expressions, "index", indexed)
        for name in PRINTERS:
            patch.setattr(importlib.import_module(f"synth.render.cuda.{name}"), "leaving", left)


def texts() -> Iterator[tuple[ir.Program, str, Plain, Printed]]:
    """A text in each style of each row of the samples, with what was printed of its tree."""
    for _, row in stored_rows(SAMPLES):
        program = from_json(row["program"])
        for style, listed in schedules_of(program).items():
            printed = Printed()
            with pytest.MonkeyPatch.context() as patch:
                printed.listen(patch)
                plain = render(program, listed[0])
            yield program, style, plain, printed


def spans(plain: Plain) -> list[tuple[str, str, str]]:
    """Kind, text without blanks, and the name before it, of each span."""
    answer = fenced("cuda", plain.text)
    sizes = [str(arg["name"]) for arg in plain.args if arg["size"]]
    found = []
    for span in spans_of(answer, sizes):
        before = re.search(r"(\w+)\[$", answer[: span["start"]])
        inside = bare(answer[span["start"] : span["end"]])
        found.append((span["kind"], inside, before[1] if before else ""))
    return found


def test_spans_are_what_the_printers_wrote_of_the_tree() -> None:
    styles, accesses, guards = set[str](), 0, 0
    for _, style, plain, printed in texts():
        code = bare("".join(token.text for token in lex(plain.text)))
        found = spans(plain)
        indexed = {f"{name}[{inside}]" for kind, inside, name in found if kind == "index"}
        # A style may print an access and leave it out, as the second of two that are alike.
        wrote = {text for text in printed.accesses if text in code}
        assert wrote <= indexed, (style, plain.text)
        bounds = {inside for kind, inside, _ in found if kind == "bounds"}
        sizes = {str(arg["name"]) for arg in plain.args if arg["size"]}
        asked = {test for test in printed.guards if sizes & set(re.findall(r"\w+", test))}
        assert asked <= bounds, (style, plain.text)
        styles.add(style)
        accesses += len(wrote)
        guards += len(asked)
    assert len(styles) >= 5
    assert accesses >= 200
    assert guards >= 40


def test_one_thread_a_point_updates_what_the_tree_updates() -> None:
    seen = 0
    for program, style, plain, _ in texts():
        if style != ONE_THREAD_A_POINT:
            continue
        updates = [s for body in bodies(program) for s in statements(body)]
        arrays = {s.array.name for s in updates if isinstance(s, ir.Atomic)}
        named = [text for kind, text, _ in spans(plain) if kind == "atomic"]
        # Vectors go through a function, which takes the element's address.
        named += re.findall(r"\batomic_\w+\(&\w+\[", plain.text)
        met = {name for text in named for name in re.findall(r"&(\w+)\[", text)}
        assert met & {param.name for param in program.kernel.params} == arrays, plain.text
        seen += len(arrays)
    assert seen >= 3


def test_barriers_are_counted_as_a_lexer_counts_them() -> None:
    seen = 0
    for _, _, plain, _ in texts():
        barriers = [t for t in lex(plain.text) if re.fullmatch(r"__sync(threads|warp)\w*", t.text)]
        assert sum(kind == "barrier" for kind, _, _ in spans(plain)) == len(barriers)
        seen += len(barriers)
    assert seen >= 5


@pytest.mark.parametrize(
    "line",
    ["        : x[i + 1];", "    return x[i + 1];", "        ? x[i + 1]", "    else x[i + 1] = 3;"],
)
def test_what_only_looks_like_a_declaration(line: str) -> None:
    found = spans_of(f"```cuda\n{line}\n```", [])
    assert [span["kind"] for span in found] == ["index"]
