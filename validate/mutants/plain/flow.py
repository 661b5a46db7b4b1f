"""Mutants of where control goes in plain CUDA and of what is stored: loops, branches, stores."""

from __future__ import annotations

import re
from collections.abc import Iterator

from validate.mutants.plain.tables import ASSIGNMENTS, ATOMICS
from validate.mutants.plain.text import Code
from validate.mutants.plain.values import Edit, bracketed, replaced

_LEAVES = re.compile(r"if \(([^;{}]*)\) \{\s*(?:return|continue);\s*\}")
_GRID_LOOP = re.compile(r"for \(int (\w+) = [^;]*;\s*\1 < ([^;]*);\s*\1 \+= stride\)")
_VECTORS = re.compile(r"if \((\w+) \+ (\d) < ([^;{}]*)\) \{")
_PAST = re.compile(r"([\w.]+) >= (.*)")


def loops(code: Code) -> Iterator[list[tuple[int, int]]]:
    """The three parts of each `for`."""
    for at, token in enumerate(code.tokens):
        if token.text == "for":
            yield code.split(at + 2, code.pair[at + 1], ";")


def conditions(code: Code) -> Iterator[tuple[int, int, int]]:
    """Where the condition of each `if` and `while` starts and ends, after the word's place."""
    for at, token in enumerate(code.tokens):
        if token.text in ("if", "while"):
            yield at, at + 2, code.pair[at + 1]


def body_of(code: Code, condition_end: int) -> str:
    """The text of the block behind a condition."""
    first = condition_end + 1
    return code.text(first, code.pair[first] + 1) if code.at(first) == "{" else ""


def loop_bound_moved(code: Code) -> Iterator[Edit]:
    """A loop that ends one turn later or one earlier, or starts one later."""
    for start, condition, _ in loops(code):
        for at in range(*condition):
            if code.at(at) in ("<", ">", "<=", ">=") and code.is_binary(at):
                end = code.right_of(at)
                bound = bracketed(code, at + 1, end)
                yield replaced(code, at + 1, end, f"{bound} + 1")
                yield replaced(code, at + 1, end, f"{bound} - 1")
        assigned = [at for at in range(*start) if code.at(at) == "="]
        if assigned:
            first = bracketed(code, assigned[0] + 1, start[1])
            yield replaced(code, assigned[0] + 1, start[1], f"{first} + 1")


def branch_removed(code: Code) -> Iterator[Edit]:
    """A branch always taken or never; one side of a `? :`; a `while` that is never entered."""
    for at, first, end in conditions(code):
        yield replaced(code, first, end, "false")
        if code.at(at) == "if":
            yield replaced(code, first, end, "true")
    for at, token in enumerate(code.tokens):
        if token.text == "?":
            first = _start_of_choice(code, at)
            yes, no = code.choices(at)
            yield replaced(code, first, no[1], bracketed(code, *yes))
            yield replaced(code, first, no[1], bracketed(code, *no))


def _start_of_choice(code: Code, at: int) -> int:
    stops = {"(", "[", "{", ",", ";", "}", "return", "?", ":", *ASSIGNMENTS}
    while code.at(at - 1) not in stops:
        at = code.pair[at - 1] if code.at(at - 1) in (")", "]") else at - 1
    return at


def last_store_skipped(code: Code) -> Iterator[Edit]:
    """The last element's thread stores nothing: to an array of the kernel, or by an atomic."""
    if not code.is_kernel:
        return
    test = _is_last(code.text(0, len(code.tokens)))
    for first, end in stores(code):
        yield replaced(code, first, end, f"if (!({test})) {code.text(first, end)}")


def _is_last(body: str) -> str:
    """Whether a thread is that of the last element, as C++."""
    loop, vectors, leaves = _GRID_LOOP.search(body), _VECTORS.search(body), _LEAVES.search(body)
    if vectors:
        return f"{vectors[1]} + {2 * int(vectors[2]) + 1} >= {vectors[3]}"
    if loop:
        return f"{loop[1]} == {loop[2]} - 1"
    tests = [_PAST.fullmatch(part) for part in re.split(r"\s*\|\|\s*", leaves[1])] if leaves else []
    found = [f"{test[1]} == {test[2]} - 1" for test in tests if test]
    return " && ".join(found) or "blockIdx.x == gridDim.x - 1"


def stores(code: Code) -> Iterator[tuple[int, int]]:
    """Statements that write to what the kernel's pointers lead to."""
    pointers = {name for name, kind in code.types.items() if kind.endswith("*")}
    for at, token in enumerate(code.tokens):
        if token.text not in ASSIGNMENTS or code.around[at] != "{":
            continue
        first, end = code.statement(at)
        if code.at(first) in pointers or code.at(first) == "*":
            yield first, end
    for at, _ in code.calls():
        if code.at(at).startswith("atomic") and code.around[at] == "{":
            first, end = code.statement(at)
            if first == at:
                yield first, end


def atomic_made_plain(code: Code) -> Iterator[Edit]:
    """An atomic update made a load, an operation and a store: a race."""
    for at, args in code.calls():
        if code.at(at) not in ATOMICS or len(args) != 2:
            continue
        place, value = (code.text(*part) for part in args)
        old = f"(*({place}))"
        first, end = code.statement(at)
        store = f"{old} = {ATOMICS[code.at(at)].format(old=old, value=value)};"
        if first == at:
            yield replaced(code, first, end, store)
        elif code.around[at] == "{":
            kept = f"{code.text(first, at)} {old}{code.text(code.pair[at + 1] + 1, end)}"
            yield replaced(code, first, end, f"{kept} {store}")
