"""A Python module that calls a row's plain CUDA through CuPy: source, `RawModule`, and a function
for the kernel, with one for its backward kernel where the row has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.render.breaks import WIDTH
from synth.render.host.launcher import NoHostSide
from synth.render.host.operator import Operator, result_name
from synth.render.text import docstring, signature
from validate.row.dtypes import parse
from validate.row.gradient import COTANGENT, GRADIENT, VALUE, backward_row
from validate.text.launches import FORMULA

Row = Mapping[str, Any]

_PACKED = '''def _packed(components, dtype):
    """A vector or a matrix as CUDA passes it by value: its components in one item."""
    flat = numpy.asarray(components, dtype).ravel()
    item = numpy.zeros((), [("components", dtype, flat.shape)])
    item["components"] = flat
    return item


'''


def cupy_module(row: Row) -> str:
    """The module of a row. It needs CuPy and NumPy, and compiles when it is imported.

    Raises :class:`synth.render.host.launcher.NoHostSide` for a row with structs, for one without
    arrays to read, and for one without plain CUDA.
    """
    if any(arg["fields"] for arg in row["args"]):
        raise NoHostSide("structs")
    return _Module(row).text()


class _Module(Operator):
    def __init__(self, row: Row) -> None:
        self.backward = backward_row(row) if row["cuda_plain_backward"] is not None else None
        super().__init__(row, *([self.backward] if self.backward else []))

    def text(self) -> str:
        texts = {"SOURCE": self.row}
        if self.backward:
            texts["BACKWARD_SOURCE"] = self.backward
        values = [arg for arg in self.inputs if arg["kind"] != "array"]
        composites = any(parse(arg["dtype"]).kind != "scalar" for arg in values)
        lines = [*docstring(self.row["description"], 0), ""]
        lines += ["import cupy", "import numpy\n"]
        for name, row in texts.items():
            lines.append(f"{name} = r'''\n{row['cuda_plain'].strip()}\n'''\n")
        for name, row in texts.items():
            module = f"_{name.lower().replace('source', 'module')}"
            lines.append(f'{module} = cupy.RawModule(code={name}, options=("--std=c++17",))')
            kernels = dict.fromkeys(launch["kernel"] for launch in row["plain_launch"])
            lines += [f'_{kernel} = {module}.get_function("{kernel}")' for kernel in kernels]
        lines += ["\n", *([_PACKED.rstrip("\n"), "\n"] if composites else []), *self._forward()]
        if self.backward:
            lines += ["\n", *self._backward(self.backward)]
        return "\n".join(lines) + "\n"

    def _forward(self) -> list[str]:
        lines: list[str] = []
        for arg in self.outputs:
            if arg["role"] == "inout":
                lines.append(f"    {result_name(arg)} = {arg['name']}.copy()")
            else:
                lines.append(self._empty(arg))
        passed = {arg["name"]: self._passed(arg, result_name(arg)) for arg in self.args}
        lines += self._launches(self.row, passed)
        lines.append(f"    return {', '.join(result_name(arg) for arg in self.outputs)}")
        head = [*signature(f"def {self.name}", self.parameters(), ":"), *self.docstring()]
        return [*head, *self.size_lines(lines), *lines]

    def _backward(self, backward: Row) -> list[str]:
        """Gradients of the float inputs, in order, from cotangents of the outputs."""
        by_arg = {a["name"]: own for a, own in zip(self.row["args"], self.args, strict=True)}
        given = [entry for entry in self.row["backward_args"] if entry["arg"] is not None]
        in_place = {arg["name"] for arg in self.row["args"] if arg["role"] == "inout"}
        starts = [e["name"] for e in given if e["holds"] == COTANGENT or e["arg"] in in_place]
        starts = [name for name in starts if name not in {e["arg"] for e in given}]
        found = [entry for entry in given if entry["holds"] == GRADIENT]
        head = [
            *signature(f"def {backward['kernel_name']}", [*self.parameters(), *starts], ":"),
            f'    """Gradients ({", ".join(entry["name"] for entry in found)}) of a loss by inputs',
            f"    of :func:`{self.name}`, from those by its outputs ({', '.join(starts)}).",
            '    """',
        ]
        lines: list[str] = []
        passed = {}
        for entry in given:
            arg = by_arg[entry["arg"]]
            passed[entry["name"]] = entry["name"]
            if entry["holds"] == VALUE:
                passed[entry["name"]] = self._passed(arg, arg["name"])
                if arg["role"] == "out":
                    # Of an output without a gradient the kernel asks for the extents alone.
                    lines.append(self._empty(arg))
            elif entry["holds"] == GRADIENT:
                lines.append(f"    {entry['name']} = {self._start(entry, arg, in_place)}")
        lines += self._launches(backward, passed)
        lines.append(f"    return {', '.join(entry['name'] for entry in found)}")
        return [*head, *self.size_lines(lines), *lines]

    def _empty(self, arg: Row) -> str:
        dtype = f"cupy.{_scalar(arg)}"
        return f"    {arg['name']} = cupy.empty({self.extents(arg)}, dtype={dtype})"

    def _start(self, entry: Row, arg: Row, in_place: set[str]) -> str:
        if entry["arg"] in in_place:
            return f"{entry['name']}.copy()"
        half = _scalar(arg) == "float16"
        return f"cupy.zeros_like({arg['name']}{', dtype=cupy.float32' if half else ''})"

    def _passed(self, arg: Row, name: str) -> str:
        """An argument as the kernel takes it."""
        if arg["kind"] == "array":
            return name
        if parse(arg["dtype"]).kind != "scalar":
            return f"_packed({name}, numpy.{_scalar(arg)})"
        return f"numpy.{_scalar(arg)}({name})"

    def _launches(self, row: Row, passed: Mapping[str, str]) -> list[str]:
        lines, known = [], dict(passed)
        for entry in row["plain_scratch"]:
            make = "zeros" if entry["init"] == "zero" else "empty"
            shape = ", ".join([self._whole(entry["count"]), *map(str, parse(entry["dtype"]).shape)])
            lines.append(
                f"    {entry['name']} = cupy.{make}(({shape},), dtype=cupy.{_scalar(entry)})"
            )
            known[entry["name"]] = entry["name"]
        for given in row["plain_args"]:
            if given["size"]:
                known[given["name"]] = f"numpy.int32({self.sizes[given['size']]})"
        for launch in row["plain_launch"]:
            names = launch["args"] or [given["name"] for given in row["plain_args"]]
            values = [
                f"numpy.int32({self._whole(name.removeprefix(FORMULA))})"
                if name.startswith(FORMULA)
                else known[name]
                for name in names
            ]
            grid = ", ".join(self._whole(extent) for extent in launch["grid"])
            block = ", ".join(map(str, launch["block"]))
            shared = f", shared_mem={launch['shared_bytes']}" if launch["shared_bytes"] else ""
            lines += _call(f"    _{launch['kernel']}", f"({grid},), ({block},)", values, shared)
        return lines

    def _whole(self, formula: str) -> str:
        return self.said(formula).replace("/", "//")


def _call(head: str, where: str, values: Sequence[str], shared: str) -> list[str]:
    """A launch on one line if it fits, else its grid and block and each value on one of its own."""
    whole = f"{head}({where}, ({', '.join(values)}{',' if len(values) == 1 else ''}){shared})"
    if len(whole) <= WIDTH:
        return [whole]
    return [f"{head}(", f"        {where},", *signature("        ", values, f"{shared},"), "    )"]


def _scalar(arg: Row) -> str:
    """NumPy's name for the components."""
    scalar = parse(arg["dtype"]).scalar
    return "bool_" if scalar == "bool" else scalar
