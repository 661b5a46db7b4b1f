"""What modules that call a row's kernels have to know: inputs, outputs, how to find sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from synth.render.host.launcher import NoHostSide, formula_symbols, sources_of
from synth.render.text import docstring
from validate.row.dtypes import parse
from validate.row.gradient import backward_row
from validate.row.sizes import symbols

Row = Mapping[str, Any]

_SYMBOL = re.compile(r"[A-Za-z_]\w*")


def with_backward(row: Row) -> list[Row]:
    """A row, and that of its backward kernel where it has one."""
    return [row] if row["cuda_plain_backward"] is None else [row, backward_row(row)]


class Operator:
    """A row as a function of arrays. Raises :class:`NoHostSide` for one without plain CUDA or
    without arrays to read, which say where it works and what its sizes are."""

    def __init__(self, row: Row, *others: Row) -> None:
        """``others``: rows of more kernels that the module launches on the same arrays."""
        if row["cuda_plain"] is None:
            raise NoHostSide("no plain CUDA")
        self.row = row
        self.name = str(row["kernel_name"])
        names = [given["name"] for given in row["plain_args"]]
        self.args = [{**arg, "name": name} for arg, name in zip(row["args"], names, strict=False)]
        self.inputs = [arg for arg in self.args if arg["role"] != "out"]
        self.outputs = [arg for arg in self.args if arg["role"] != "in"]
        self.arrays = [arg for arg in self.inputs if arg["kind"] == "array"]
        if not self.arrays:
            raise NoHostSide("no array among the inputs, whose device it would work on")
        self.sources = sources_of({**row, "args": self.args}, self.arrays)
        wanted = self._wanted((row, *others))
        self.loose = sorted(wanted - set(self.sources))
        """Size symbols that no input tells: the caller does."""
        taken = {arg["name"] for arg in self.args}
        self.sizes = {s: s if s not in taken else f"{s}_size" for s in sorted(wanted)}
        """The variable that holds each size symbol."""

    def _wanted(self, rows: tuple[Row, ...]) -> set[str]:
        found: set[str] = set()
        for row in rows:
            found |= formula_symbols(row)
            found |= {given["size"] for given in row["plain_args"] if given["size"]}
        for arg in self.args:
            if arg["role"] == "out":
                found |= {symbol for extent in arg["shape"] for symbol in symbols(extent)}
        return found

    def parameters(self) -> list[str]:
        """What the function takes: inputs in order, then sizes that no input tells."""
        return [arg["name"] for arg in self.inputs] + [self.sizes[s] for s in self.loose]

    def size_lines(self, body: Sequence[str]) -> list[str]:
        """Assignments of the sizes that inputs tell and that lines of a body name."""
        named = words(body)
        return [
            f"    {name} = {self.sources[symbol]}"
            for symbol, name in self.sizes.items()
            if symbol in self.sources and self.sources[symbol] != name and name in named
        ]

    def said(self, formula: str) -> str:
        """A formula of size symbols in the variables that hold them."""
        return _SYMBOL.sub(lambda found: self.sizes.get(found[0], found[0]), str(formula))

    def extents(self, arg: Row) -> str:
        """The shape of an array with its components, as a tuple."""
        extents = [self.said(extent) for extent in arg["shape"]]
        extents += map(str, parse(arg["dtype"]).shape)
        return f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"

    def docstring(self) -> list[str]:
        shapes = [
            f"{arg['name']}: {_described(arg)}" for arg in self.args if arg["kind"] == "array"
        ]
        sentence = str(self.row["description"]).split(". ")[0].rstrip(".")
        return docstring("\n".join([f"{sentence}.", "", *shapes]), 1)


def words(lines: Sequence[str]) -> set[str]:
    """The names that lines of Python use."""
    return set(_SYMBOL.findall("\n".join(lines)))


def result_name(arg: Row) -> str:
    """The variable that holds an output: a copy of what the kernel changes in place."""
    return f"new_{arg['name']}" if arg["role"] == "inout" else str(arg["name"])


def _described(arg: Row) -> str:
    kind = parse(arg["dtype"])
    extents = [*arg["shape"], *map(str, kind.shape)]
    role = {"in": "", "out": ", returned", "inout": ", its new values are returned"}[arg["role"]]
    return f"{kind.scalar} of shape ({', '.join(extents)}){role}"
