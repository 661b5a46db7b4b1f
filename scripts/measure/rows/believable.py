"""What nobody would write: its share of a dataset's rows, from the stored programs alone.

Run: PYTHONPATH=. python scripts/measure/rows/believable.py OUT [--show RULE]. Prints, for each
rule, the share of rows by category and of all; then what makes rows deep, by level. ``--show``
prints the ids of the rows of a rule. The docstring of each function in ``RULES`` and ``DEPTH`` is
its definition.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from generators.build.outputs import MOST_SIDES, together
from generators.build.siblings import TUPLES, are_siblings, parts_in
from generators.program import ir
from generators.program.dtypes import BOOL, Array, Scalar, Struct, Type, scalar_of
from generators.program.expr import Call, Cast, Const, Expr, Load, Op, Var
from generators.program.serialise import from_json
from generators.program.walk import bodies, expressions, operands, parts, statements
from synth.dataset.stored import stored_rows
from synth.gates.habits import dead_start, lone_atomic, neutral_operation

_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_BRANCHLESS = {"nonzero"}
_UNDONE = re.compile(
    r"\bun(?:clamped|weighted|scaled|masked|normali[sz]ed|rounded)\b|\bor not\b|\bnothing else\b"
    r"|\bnot (?:clamped|checked|used|normali[sz]ed|scaled|needed|applied|counted|done|made)\b"
)


@dataclass
class Facts:
    """A program with what several rules ask of it."""

    program: ir.Program

    @property
    def kernel(self) -> ir.Kernel:
        return self.program.kernel

    @cached_property
    def roots(self) -> list[tuple[ir.Statement, Expr]]:
        """Every expression that stands directly in a statement of the kernel."""
        return [(s, e) for s in statements(self.kernel.body) for e in operands(s)]

    @cached_property
    def inputs(self) -> dict[str, Type]:
        """Elements' types of the input arrays, by name."""
        found = {p.name: p.type for p in self.kernel.params if p.role == "in"}
        return {name: t.element for name, t in found.items() if isinstance(t, Array)}

    @cached_property
    def written(self) -> list[ir.Param]:
        return [p for p in self.kernel.params if p.role != "in"]

    @cached_property
    def codes(self) -> set[str]:
        """Locals and helpers' arguments that hold a whole number as an input array holds it."""
        found = {v.name for f in self.program.functions for v in f.params if _whole(v.type)}
        return found | {
            s.name
            for s in statements(self.kernel.body)
            if isinstance(s, ir.Assign) and self.is_code(s.value)
        }

    def is_code(self, e: Expr) -> bool:
        """Whether an expression is an element of an input array of whole numbers."""
        return isinstance(e, Load) and e.array.name in self.inputs and _whole(e.type)


def _whole(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.is_int


def _computes(found: Iterator[Expr] | tuple[Expr, ...]) -> bool:
    """Whether floats are computed, not only copied."""
    return any(
        isinstance(e, Op | Call) and not isinstance(e.type, Struct) and scalar_of(e.type).is_float
        for e in found
    )


def _within(e: Expr) -> Iterator[Expr]:
    yield e
    for part in parts(e):
        yield from _within(part)


def _tests_code(f: Facts, test: Expr) -> bool:
    if not (isinstance(test, Op) and test.op == "eq" and isinstance(test.args[1], Const)):
        return False
    one = test.args[0]
    return f.is_code(one) or (isinstance(one, Var) and one.name in f.codes)


def switch(f: Facts) -> bool:
    """Formulas that a code of the element selects: an element of an integer input (or a helper's
    integer argument) is compared with literals, and two arms or more compute floats."""
    for body in bodies(f.program):
        for block in (body, *(s.body for s in statements(body) if isinstance(s, ir.For))):
            returns = [s for s in block if isinstance(s, ir.If) and len(s.branches) == 1]
            computing = [s for s in block if isinstance(s, ir.If) and _arms(f, s) > 1]
            early = [
                s for s in returns if _arms(f, s) and isinstance(s.branches[0][1][-1], ir.Return)
            ]
            if computing or (len(early) > 0 and isinstance(block[-1], ir.Return)):
                return True
        for e in expressions(body):
            chooses = isinstance(e, Op) and e.op == "where" and _tests_code(f, e.args[0])
            if chooses and all(_computes(tuple(_within(arm))) for arm in parts(e)[1:]):
                return True
    return False


def _arms(f: Facts, s: ir.If) -> int:
    """How many arms of a branch on a code compute floats."""
    if not _tests_code(f, s.branches[0][0]):
        return 0
    return sum(_computes(expressions(body)) for body in (*(b for _, b in s.branches), s.orelse))


def mask(f: Facts) -> bool:
    """An input array that only says which elements count: flags, codes or a score that nothing but
    a comparison with a literal or a parameter reads, at the thread's own index, beside arrays that
    are computed with; or that is all that a product with 0 or 1 reads."""
    if len(f.inputs) < 2 or switch(f):
        return False
    threads = {*f.kernel.threads}
    for name, element in f.inputs.items():
        if isinstance(element, Struct) or not isinstance(element, Scalar):
            continue
        loads = [e for _, r in f.roots for e in _within(r) if isinstance(e, Load)]
        mine = [e for e in loads if e.array.name == name]
        own = all(isinstance(i, Var) and i.name in threads for e in mine for i in e.indices)
        if mine and own and _only_decides(f, name):
            return True
    return False


def _only_decides(f: Facts, name: str) -> bool:
    """Whether a value is read in conditions alone, through locals that hold it as it is."""
    found = False
    for s, root in f.roots:
        uses = list(_uses(root, name, isinstance(s, ir.If)))
        if not uses:
            continue
        found = True
        if isinstance(s, ir.Assign) and _bare(root, name):
            if not _only_decides(f, s.name):
                return False
        elif not all(uses):
            return False
    return found


def _named(e: Expr) -> str:
    return e.array.name if isinstance(e, Load) else e.name if isinstance(e, Var) else ""


def _bare(e: Expr, name: str) -> bool:
    """Whether an expression is a value as it is, or that value compared with a setting."""
    if isinstance(e, Cast):
        return _bare(e.value, name)
    return _named(e) == name or _compared(e, name)


def _compared(e: Expr, name: str) -> bool:
    if not (isinstance(e, Op) and e.op in _COMPARISONS):
        return False
    one, other = e.args
    return _named(one) == name and isinstance(other, Const | Var)


def _uses(e: Expr, name: str, deciding: bool) -> Iterator[bool]:
    """For each read of a value in an expression, whether it only decides something."""
    if _named(e) == name:
        yield deciding and e.type == BOOL
        return
    if isinstance(e, Op) and (e.op in _BRANCHLESS or (deciding and _compared(e, name))):
        yield from (True for part in _within(e) if _named(part) == name)
        return
    for place, part in enumerate(parts(e)):
        chooses = isinstance(e, Op) and e.op == "where" and place == 0
        logical = isinstance(e, Op) and e.op in ("and", "or", "not")
        yield from _uses(part, name, chooses or (deciding and logical))


def torn(f: Facts) -> bool:
    """Siblings with unlike names: two arrays of one type, shape and role name different parts of
    one tuple (x and y, re and im, row and col) and differ in other words too, and neither has a
    sibling that is named as it is."""
    arrays = [p for p in f.kernel.params if isinstance(p.type, Array)]
    names = [p.name for p in arrays]
    alone = [p for p in arrays if not any(are_siblings(p.name, name) for name in names)]
    for k, p in enumerate(alone):
        for q in alone[k + 1 :]:
            one, other = parts_in(p.name), parts_in(q.name)
            alike = (p.type, p.shape, p.role) == (q.type, q.shape, q.role)
            if alike and any(one & t and other & t and one & t != other & t for t in TUPLES):
                return True
    return False


def sides(f: Facts) -> bool:
    """More than one side output: three or more arrays are written, those of one tuple (a common
    name, and the part of it that each is) counted once."""
    return len(together(f.written)) > 1 + MOST_SIDES


def neutral(f: Facts) -> bool:
    """An operation that changes nothing: :func:`synth.gates.habits.neutral_operation`."""
    return bool(neutral_operation(f.program))


def dead(f: Facts) -> bool:
    """A local whose first value nothing reads: :func:`synth.gates.habits.dead_start`."""
    return bool(dead_start(f.program))


def lone(f: Facts) -> bool:
    """An atomic where no threads meet: :func:`synth.gates.habits.lone_atomic`."""
    return bool(lone_atomic(f.program))


def undone(f: Facts) -> bool:
    """A description that says what is not done: unclamped, or not, nothing else."""
    return bool(_UNDONE.search(f.program.description))


def _scalars(f: Facts) -> set[str]:
    found = set()
    for p in f.kernel.params:
        element = p.type.element if isinstance(p.type, Array) else p.type
        types = [t for _, t in element.fields] if isinstance(element, Struct) else [element]
        found |= {scalar_of(t).name for t in types}
    return found


def double(f: Facts) -> bool:
    """A parameter holds float64."""
    return "float64" in _scalars(f)


def half(f: Facts) -> bool:
    """A parameter holds float16."""
    return "float16" in _scalars(f)


def half_widened(f: Facts) -> bool:
    """A parameter holds float16, and the kernel computes in float32."""
    return half(f) and any(
        isinstance(e, Op) and not isinstance(e.type, Struct) and scalar_of(e.type).name == "float32"
        for body in bodies(f.program)
        for e in expressions(body)
    )


def passes(f: Facts) -> bool:
    """Two loops or more, one after or within another."""
    return sum(isinstance(s, ir.For | ir.While) for s in statements(f.kernel.body)) > 1


def neighbours(f: Facts) -> bool:
    """A read at an index that is computed, or that another array holds."""
    loads = [e for _, root in f.roots for e in _within(root) if isinstance(e, Load)]
    given = {s.name for s in statements(f.kernel.body) if isinstance(s, ir.Assign)}
    return any(
        not isinstance(i, Var | Const) or (isinstance(i, Var) and i.name in given)
        for e in loads
        for i in e.indices
    )


def updates(f: Facts) -> bool:
    """An array is updated in place, or by atomics."""
    return any(p.role == "inout" for p in f.written)


def repeats(f: Facts) -> bool:
    """A loop."""
    return any(isinstance(s, ir.For | ir.While) for s in statements(f.kernel.body))


Rule = Callable[[Facts], bool]
RULES: Mapping[str, Rule] = {
    rule.__name__: rule for rule in (switch, mask, sides, torn, neutral, dead, lone, undone)
} | {rule.__name__: rule for rule in (double, half, half_widened)}
DEPTH: Mapping[str, Rule] = {r.__name__: r for r in (repeats, passes, neighbours, updates)}


def shares(rules: Mapping[str, Rule], programs: Sequence[Facts]) -> dict[str, float]:
    """For each rule the share of some programs that have it."""
    return {name: sum(map(rule, programs)) / len(programs) for name, rule in rules.items()}


def _table(title: str, rules: Mapping[str, Rule], groups: Mapping[str, list[Facts]]) -> None:
    print(f"| {title} | {' | '.join(groups)} |\n|---|{'--:|' * len(groups)}")
    found = [shares(rules, programs) for programs in groups.values()]
    for name in rules:
        print(f"| {name} | {' | '.join(f'{100 * each[name]:.1f} %' for each in found)} |")


def main(out: Path, show: str) -> None:
    """Print the tables, or the ids of the rows of one rule."""
    by_category, by_level = defaultdict[str, list[Facts]](list), defaultdict[str, list[Facts]](list)
    idioms, every = Counter[str](), list[Facts]()
    for _, row in stored_rows(out, ["id", "category", "idiom", "level", "program"]):
        f = Facts(from_json(row["program"]))
        every.append(f)
        by_category[row["category"]].append(f)
        by_level[f"level {row['level']}"].append(f)
        if show and {**RULES, **DEPTH}[show](f):
            idioms[f"{row['category']}/{row['idiom']}"] += 1
            print(f"{row['id']} {row['category']}/{row['idiom']} level {row['level']}")
    if show:
        print(*(f"{n} {name}" for name, n in idioms.most_common()), sep="\n")
        return
    _table(f"rows that have it, of {len(every)}", RULES, {**by_category, "all": every})
    print()
    _table("depth", {**DEPTH, **RULES}, dict(sorted(by_level.items())))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--show", choices=sorted({**RULES, **DEPTH}), default="")
    args = parser.parse_args()
    main(args.out, args.show)
