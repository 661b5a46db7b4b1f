"""A Python module that makes an operator of PyTorch of a row's plain CUDA, with its gradient where
the row has one: sources, `load_inline`, an `autograd.Function`, and a function to call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from synth.render.host.launcher import (
    CHECK,
    HEADERS,
    PACKED,
    Launcher,
    NoHostSide,
    sources_of,
)
from validate.row.dtypes import parse
from validate.row.gradient import COTANGENT, VALUE, backward_row
from validate.row.sizes import symbols

Row = Mapping[str, Any]

_HALVES = (
    '    extra_cuda_cflags=["-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__"],\n'
)


def torch_module(row: Row) -> str:
    """The module of a row. It needs PyTorch (2.3 or newer for unsigned integers wider than a byte)
    and a CUDA compiler.

    Raises :class:`synth.render.host.launcher.NoHostSide` for a row with structs, which no tensor
    holds, and for one without arrays to read or plain CUDA.
    """
    if row["cuda_plain"] is None:
        raise NoHostSide("no plain CUDA")
    if not any(arg["kind"] == "array" and arg["role"] != "out" for arg in row["args"]):
        raise NoHostSide("no array among the inputs, whose device it would work on")
    return _Module(row).text()


def wanted_sizes(row: Row) -> set[str]:
    """The size symbols that a module has to find out or to be told."""
    return _Module(row).wanted()


class _Module:
    def __init__(self, row: Row) -> None:
        self.row = row
        self.name = row["kernel_name"]
        self.forward = Launcher(row, "forward_pass")
        self.backward: Launcher | None = None
        if row["cuda_plain_backward"] is not None:
            self.backward = Launcher(backward_row(row), "backward_pass")
        names = [given["name"] for given in row["plain_args"]]
        self.args = [{**arg, "name": name} for arg, name in zip(row["args"], names, strict=False)]
        self.inputs = [arg for arg in self.args if arg["role"] != "out"]
        self.outputs = [arg for arg in self.args if arg["role"] != "in"]
        arrays = [arg for arg in self.inputs if arg["kind"] == "array"]
        self.sources = sources_of({**row, "args": self.args}, arrays)
        self.loose = sorted(self.wanted() - set(self.sources))
        """Size symbols that no input tells: the caller does."""
        taken = {arg["name"] for arg in self.args}
        self.sizes = {s: s if s not in taken else f"{s}_size" for s in self.wanted()}

    def wanted(self) -> set[str]:
        launchers = [self.forward, *([self.backward] if self.backward else [])]
        found = {symbol for launcher in launchers for symbol in launcher.sizes}
        for arg in self.args:
            if arg["role"] == "out":
                found |= {symbol for extent in arg["shape"] for symbol in symbols(extent)}
        return found

    def text(self) -> str:
        launchers = [self.forward, *([self.backward] if self.backward else [])]
        includes = sorted({line for one in launchers for line in one.includes()})
        packs = PACKED if any("packed<" in p.passed for p in self.forward.params) else ""
        cuda = [
            HEADERS + "".join(f"{line}\n" for line in includes),
            CHECK,
            *([packs] * bool(packs)),
        ]
        cuda += [launcher.text() + "\n" for launcher in launchers]
        cpp = ["#include <vector>", *(f"{one.declaration()};" for one in launchers)]
        functions = ", ".join(f'"{launcher.name}"' for launcher in launchers)
        halves = _HALVES if any("cuda_fp16" in line for line in includes) else ""
        return "\n".join(
            [
                f'"""{self.row["description"]}"""\n',
                "import torch",
                "from torch.utils.cpp_extension import load_inline\n",
                f"CUDA_SOURCE = r'''\n{chr(10).join(cuda)}'''\n",
                f"CPP_SOURCE = '''\n{chr(10).join(cpp)}\n'''\n",
                "_extension = load_inline(",
                f'    name="{self.name}_extension",',
                "    cpp_sources=CPP_SOURCE,",
                "    cuda_sources=CUDA_SOURCE,",
                f"    functions=[{functions}],",
                f"{halves})\n\n",
                *([self._function_class()] if self.backward else []),
                self._entry(),
            ]
        )

    def _parameters(self) -> list[str]:
        return [arg["name"] for arg in self.inputs] + [self.sizes[s] for s in self.loose]

    def _entry(self) -> str:
        names = ", ".join(self._parameters())
        arrays = [a for a in self.args if a["kind"] == "array"]
        shapes = [f"    {a['name']}: {_described(a)}" for a in arrays]
        lines = [f"def {self.name}({names}):", f'    """{_sentence(self.row)}', "", *shapes]
        lines.append('    """')
        if self.backward:
            lines.append(f"    return {self._class_name()}.apply({names})")
        else:
            lines += [*self._run(), f"    return {self._given()}"]
        return "\n".join(lines) + "\n"

    def _run(self) -> list[str]:
        """Sizes, outputs, and the launch of the forward kernel."""
        lines = [*self._size_lines()]
        device = next(a["name"] for a in self.inputs if a["kind"] == "array")
        for arg in self.outputs:
            if arg["role"] == "inout":
                lines.append(f"    {_result(arg)} = {arg['name']}.clone()")
            else:
                extents = [self._said(extent) for extent in arg["shape"]]
                extents += map(str, parse(arg["dtype"]).shape)
                dtype = f"torch.{parse(arg['dtype']).scalar}"
                lines.append(
                    f"    {arg['name']} = torch.empty(({', '.join(extents)},), dtype={dtype}, "
                    f"device={device}.device)"
                )
        passed = [_result(arg) if arg["role"] == "inout" else arg["name"] for arg in self.args]
        lines.append(self._call(self.forward, passed))
        return lines

    def _call(self, launcher: Launcher, passed: Sequence[str]) -> str:
        sizes = [self.sizes[symbol] for symbol in launcher.sizes]
        return f"    _extension.{launcher.name}({', '.join([*passed, *sizes])})"

    def _size_lines(self) -> list[str]:
        return [
            f"    {self.sizes[symbol]} = {self.sources[symbol]}"
            for symbol in sorted(self.sizes)
            if symbol in self.sources and self.sources[symbol] != self.sizes[symbol]
        ]

    def _said(self, extent: str) -> str:
        for symbol in sorted(symbols(extent), key=len, reverse=True):
            extent = _replaced(extent, symbol, self.sizes[symbol])
        return extent

    def _given(self) -> str:
        return ", ".join(_result(arg) for arg in self.outputs)

    def _class_name(self) -> str:
        return "".join(part.capitalize() for part in self.name.split("_")) + "Function"

    def _function_class(self) -> str:
        names = ", ".join(self._parameters())
        tensors = [a["name"] for a in self.inputs if a["kind"] == "array"]
        values = [name for name in self._parameters() if name not in tensors]
        whole = [_result(a) for a in self.outputs if not parse(a["dtype"]).is_float]
        lines = [f"class {self._class_name()}(torch.autograd.Function):", "    @staticmethod"]
        lines += [f"    def forward(ctx, {names}):", *_deeper(self._run())]
        if whole:
            lines.append(f"        ctx.mark_non_differentiable({', '.join(whole)})")
        lines.append(f"        ctx.save_for_backward({', '.join(tensors)})")
        lines += [f"        ctx.{name} = {name}" for name in values]
        lines += [f"        return {self._given()}", "", "    @staticmethod"]
        return "\n".join([*lines, *self._backward(tensors, values), "\n\n"])

    def _backward(self, tensors: Sequence[str], values: Sequence[str]) -> list[str]:
        assert self.backward is not None
        by_arg = {a["name"]: b for a, b in zip(self.row["args"], self.args, strict=True)}
        given = self.row["backward_args"]
        cotangent = {arg["name"]: f"grad_of_{_result(arg)}" for arg in self.outputs}
        lines = [f"    def backward(ctx, {', '.join(cotangent.values())}):"]
        lines.append(f"        ({', '.join(tensors)},) = ctx.saved_tensors")
        lines += [f"        {name} = ctx.{name}" for name in values]
        lines += _deeper(self._size_lines())
        passed, found = [], {}
        for entry in given:
            if entry["arg"] is None:
                continue
            arg = by_arg[entry["arg"]]
            if entry["holds"] == VALUE:
                passed.append(arg["name"])
            elif entry["holds"] == COTANGENT:
                passed.append(f"{cotangent[arg['name']]}.contiguous()")
            else:
                passed.append(entry["name"])
                found[arg["name"]] = entry["name"]
                lines.append(f"        {entry['name']} = {_start(arg, cotangent)}")
        lines += _deeper([self._call(self.backward, passed)])
        return [*lines, f"        return {', '.join(self._returned(found, cotangent))}"]

    def _returned(self, found: Mapping[str, str], cotangent: Mapping[str, str]) -> list[str]:
        """The gradient by each parameter of the forward function."""
        returned = []
        for arg in self.inputs:
            name = arg["name"]
            half = arg["role"] == "in" and parse(arg["dtype"]).scalar == "float16"
            if name in found:
                returned.append(f"{found[name]}.to({name}.dtype)" if half else found[name])
            elif arg["role"] == "inout" and parse(arg["dtype"]).is_float:
                # The kernel adds to it, so that what was there stays.
                returned.append(cotangent[name])
            else:
                returned.append("None")
        return [*returned, *["None"] * len(self.loose)]


def _start(arg: Row, cotangent: Mapping[str, str]) -> str:
    if arg["role"] == "inout":
        return f"{cotangent[arg['name']]}.clone(memory_format=torch.contiguous_format)"
    half = parse(arg["dtype"]).scalar == "float16"
    return f"torch.zeros_like({arg['name']}{', dtype=torch.float32' if half else ''})"


def _result(arg: Row) -> str:
    return f"new_{arg['name']}" if arg["role"] == "inout" else str(arg["name"])


def _deeper(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _described(arg: Row) -> str:
    kind = parse(arg["dtype"])
    extents = [*arg["shape"], *map(str, kind.shape)]
    role = {"in": "", "out": ", returned", "inout": ", its new values are returned"}[arg["role"]]
    return f"{kind.scalar} of shape ({', '.join(extents)}){role}"


def _sentence(row: Row) -> str:
    return str(row["description"]).split(". ")[0].rstrip(".") + "."


def _replaced(extent: str, symbol: str, name: str) -> str:
    return re.sub(rf"\b{symbol}\b", name, extent)
