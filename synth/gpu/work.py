"""How many bytes a launch must move and how many operations it does, from a row and its program.

Bytes are the compulsory ones: every input array read once, every output written once, what is
updated both. Operations are those on floats that `program` writes (of tiles, those of the same
program without them): one for each component of an elementwise operator or builtin, 2 n for a dot
product of n, 2 m k n for a matrix product. A branch counts as its dearer side, a `while` as one
turn, and so does a loop whose bounds neither a size nor a parameter gives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from generators.program import ir
from generators.program.serial import serial
from generators.program.serialise import from_json, to_json
from validate.gpu.large import bytes_moved
from validate.row.dtypes import FLOATS, INTEGERS, parse
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all
from validate.row.tiles import places

Node = Mapping[str, Any]

_FREE = {"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "where"}
_DOTS = {"dot", "ddot", "length_sq", "length"}


@dataclass(frozen=True)
class Work:
    """Of one launch: bytes that must move, operations on floats, and the widest float used."""

    bytes_moved: int
    operations: int
    scalar: str


def work_of(row: Mapping[str, Any], sizes: Mapping[str, int]) -> Work:
    """The work of a row's forward kernel at a shape."""
    counter = _Counter(row, sizes)
    threads = prod(evaluate_all(places(row, row["launch"]["dim"]), sizes))
    operations = threads * counter.body(counter.program["kernel"]["body"])
    scalar = "float64" if "float64" in counter.scalars else "float32"
    return Work(bytes_moved(row, sizes), operations, scalar)


class _Counter:
    def __init__(self, row: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.program: dict[str, Any] = _without_tiles(row["program"])
        self.sizes = sizes
        self.functions = {f["name"]: f["body"] for f in self.program["functions"]}
        self.shapes = {
            a["name"]: evaluate_all(a["shape"], sizes) for a in row["args"] if a["kind"] == "array"
        }
        whole = [a for a in row["args"] if a["kind"] == "scalar" and a["dtype"] in INTEGERS]
        drawn = draw_inputs(whole, sizes, row["input_seed"])
        self.values = {name: int(value) for name, value in drawn.items()}
        self.scalars: set[str] = set()

    def body(self, statements: Sequence[Node]) -> int:
        return sum(self.statement(statement) for statement in statements)

    def statement(self, node: Node) -> int:
        kind = node["_"]
        if kind == "If":
            tests = sum(self.expressions(branch[0]) for branch in node["branches"])
            bodies = [self.body(branch[1]) for branch in node["branches"]]
            return tests + max([*bodies, self.body(node["orelse"])])
        if kind == "For":
            return self.turns(node) * self.body(node["body"])
        if kind == "While":
            return self.expressions(node["condition"]) + self.body(node["body"])
        inside = sum(self.expressions(value) for value in node.values())
        if node.get("op"):
            inside += _components(node["value"]["type"], self.scalars)
        return inside

    def turns(self, node: Node) -> int:
        bounds = [self.known(node[key]) for key in ("start", "stop")]
        step = node["step"] if isinstance(node["step"], int) else self.known(node["step"])
        if None in bounds or not step:
            return 1
        start, stop = bounds
        return max(0, -(-(stop - start) // step))  # type: ignore[operator]

    def known(self, node: Node) -> int | None:
        """The value of a bound that sizes or parameters give."""
        kind = node["_"]
        if kind == "Const":
            return int(node["value"])
        if kind == "Extent":
            return int(self.shapes[node["array"]["name"]][node["axis"]])
        return self.values.get(node["name"]) if kind == "Var" else None

    def expressions(self, node: Any) -> int:
        """Operations of an expression, and of all below it."""
        if isinstance(node, list):
            return sum(self.expressions(part) for part in node)
        if not isinstance(node, dict) or "_" not in node:
            return 0
        inside = sum(self.expressions(value) for value in node.values())
        if node["_"] == "Call":
            return inside + self.body(self.functions[node["function"]])
        return inside + (self.operation(node) if node["_"] == "Op" else 0)

    def operation(self, node: Node) -> int:
        if node["op"] in _FREE:
            return 0
        types = [arg["type"] for arg in node["args"] if "type" in arg]
        widest = max((_components(t, self.scalars) for t in types), default=0)
        result = _components(node["type"], self.scalars)
        if node["op"] in _DOTS:
            return 2 * widest
        if node["op"] == "mul" and len(types) == 2:
            product = _matrix_product(types[0], types[1])
            if product:
                return product
        return max(widest, result) if result or widest else 0


def _without_tiles(text: str) -> dict[str, Any]:
    """A stored program, of tiles the same one without them."""
    found: dict[str, Any] = json.loads(text)
    if found["kernel"].get("_") == ir.TiledKernel.__name__:
        found = json.loads(to_json(serial(from_json(text))))
    return found


def _matrix_product(left: str, right: str) -> int:
    """Operations of a matrix product; 0 when it is none."""
    if not left.startswith("mat"):
        return 0
    rows, inner = parse(left).shape
    if right.startswith("mat"):
        return int(2 * rows * inner * parse(right).shape[1])
    return 2 * rows * inner if right.startswith("vec") else 0


def _components(text: str, seen: set[str]) -> int:
    """Components of a float type, 0 for any other; the scalar is noted."""
    if text.startswith("array"):
        return 0
    parsed = parse(text)
    if parsed.scalar not in FLOATS:
        return 0
    seen.add(parsed.scalar)
    return prod(parsed.shape)
