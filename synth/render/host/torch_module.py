"""A Python module that makes an operator of PyTorch of a row's plain CUDA, with its gradient where
the row has one: sources, `load_inline`, an `autograd.Function`, and a function to call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.render.host.launcher import (
    CHECK,
    DEVICE_HEADERS,
    HEADERS,
    PACKED,
    Launcher,
)
from synth.render.host.operator import Operator, result_name, with_backward, words
from synth.render.text import docstring, signature
from validate.row.dtypes import parse
from validate.row.gradient import COTANGENT, VALUE

Row = Mapping[str, Any]

_HALVES = (
    '    extra_cuda_cflags=["-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__"],\n'
)


def torch_module(row: Row, entry: str = "") -> str:
    """The module of a row. It needs PyTorch 2.6 or newer and a CUDA compiler; its two sides know
    each other by pointers alone, so that no compiler reads the whole of PyTorch's headers.
    ``entry`` names the function to call where it is not to have the kernel's name.

    Raises :class:`synth.render.host.launcher.NoHostSide` for a row with structs, which no tensor
    holds, and for one without arrays to read or plain CUDA.
    """
    return _Module(row, entry).text()


class _Module(Operator):
    def __init__(self, row: Row, entry: str) -> None:
        _, *others = rows = with_backward(row)
        super().__init__(*rows)
        self.entry = entry or self.name
        self.forward = Launcher(row, "forward_pass")
        self.backward = Launcher(others[0], "backward_pass") if others else None

    def text(self) -> str:
        launchers = [self.forward, *([self.backward] if self.backward else [])]
        includes = sorted({line for one in launchers for line in one.includes()})
        packs = any("packed<" in p.passed for one in launchers for p in one.params)
        cuda = [DEVICE_HEADERS + "".join(f"{line}\n" for line in includes)]
        cuda += [PACKED] if packs else []
        cuda += [launcher.text() + "\n" for launcher in launchers]
        cpp = [HEADERS, CHECK, *(one.host_text() + "\n" for one in launchers)]
        functions = ", ".join(f'"{launcher.name}"' for launcher in launchers)
        halves = _HALVES if any("cuda_fp16" in line for line in includes) else ""
        return "\n".join(
            [
                *docstring(self.row["description"], 0),
                "",
                "import torch",
                "from torch.utils.cpp_extension import load_inline\n",
                f"CUDA_SOURCE = r'''\n{chr(10).join(cuda)}'''\n",
                f"CPP_SOURCE = r'''\n{chr(10).join(cpp)}'''\n",
                "_extension = load_inline(",
                f'    name="{self.name}_{self.row["id"][:8]}",',
                "    cpp_sources=CPP_SOURCE,",
                "    cuda_sources=CUDA_SOURCE,",
                f"    functions=[{functions}],",
                "    no_implicit_headers=True,",
                f"{halves})\n\n",
                *([self._function_class()] if self.backward else []),
                self._entry(),
            ]
        )

    def _entry(self) -> str:
        names = self.parameters()
        lines = [*signature(f"def {self.entry}", names, ":"), *self.docstring()]
        if self.backward:
            lines += signature(f"    return {self._class_name()}.apply", names, "")
        else:
            lines += [*self._run(), f"    return {self._given()}"]
        return "\n".join(lines) + "\n"

    def _run(self) -> list[str]:
        """Sizes, outputs, and the launch of the forward kernel."""
        lines = []
        for arg in self.outputs:
            if arg["role"] == "inout":
                lines.append(f"    {result_name(arg)} = {arg['name']}.clone()")
            else:
                lines.append(self._empty(arg))
        passed = [result_name(arg) if arg["role"] == "inout" else arg["name"] for arg in self.args]
        lines += self._call(self.forward, passed, "    ")
        return [*self.size_lines(lines), *lines]

    def _empty(self, arg: Row) -> str:
        held = f"dtype=torch.{parse(arg['dtype']).scalar}, device={self.arrays[0]['name']}.device"
        return f"    {arg['name']} = torch.empty({self.extents(arg)}, {held})"

    def _call(self, launcher: Launcher, passed: Sequence[str], indent: str) -> list[str]:
        sizes = [self.sizes[symbol] for symbol in launcher.sizes]
        return signature(f"{indent}_extension.{launcher.name}", [*passed, *sizes], "")

    def _given(self) -> str:
        return ", ".join(result_name(arg) for arg in self.outputs)

    def _class_name(self) -> str:
        return f"{camel(self.name)}Function"

    def _function_class(self) -> str:
        body = self._backward()
        used = words(body)
        arrays = [a["name"] for a in self.inputs if a["kind"] == "array"]
        tensors = [name for name in arrays if name in used]
        values = [n for n in self.parameters() if n not in arrays and n in used]
        whole = [result_name(a) for a in self.outputs if not parse(a["dtype"]).is_float]
        lines = [f"class {self._class_name()}(torch.autograd.Function):", "    @staticmethod"]
        lines += signature("    def forward", ["ctx", *self.parameters()], ":")
        lines += _deeper(self._run())
        if whole:
            lines.append(f"        ctx.mark_non_differentiable({', '.join(whole)})")
        lines += [f"        ctx.save_for_backward({', '.join(tensors)})"] if tensors else []
        lines += [f"        ctx.{name} = {name}" for name in values]
        lines += [f"        return {self._given()}", "", "    @staticmethod"]
        given = [f"grad_of_{result_name(arg)}" for arg in self.outputs]
        lines += signature("    def backward", ["ctx", *given], ":")
        if tensors:
            saved = ", ".join(tensors) if len(tensors) > 1 else f"({tensors[0]},)"
            lines.append(f"        {saved} = ctx.saved_tensors")
        lines += [f"        {name} = ctx.{name}" for name in values]
        return "\n".join([*lines, *body, "\n"])

    def _backward(self) -> list[str]:
        """What the backward pass does once it has what was saved."""
        assert self.backward is not None
        by_arg = {a["name"]: b for a, b in zip(self.row["args"], self.args, strict=True)}
        given = self.row["backward_args"]
        cotangent = {arg["name"]: f"grad_of_{result_name(arg)}" for arg in self.outputs}
        lines: list[str] = []
        passed, found = [], {}
        for entry in given:
            if entry["arg"] is None:
                continue
            arg = by_arg[entry["arg"]]
            if entry["holds"] == VALUE:
                passed.append(arg["name"])
                if arg["role"] == "out":
                    # Of an output without a gradient the kernel asks for the extents alone.
                    lines += _deeper([self._empty(arg)])
            elif entry["holds"] == COTANGENT:
                passed.append(f"{cotangent[arg['name']]}.contiguous()")
            else:
                passed.append(entry["name"])
                found[arg["name"]] = entry["name"]
                lines.append(f"        {entry['name']} = {_start(arg, cotangent)}")
        lines += self._call(self.backward, passed, "        ")
        lines.append(f"        return {', '.join(self._returned(found, cotangent))}")
        return [*_deeper(self.size_lines(lines)), *lines]

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


def camel(name: str) -> str:
    """``RollingMean`` of ``rolling_mean``."""
    return "".join(part.capitalize() for part in name.split("_"))


def _start(arg: Row, cotangent: Mapping[str, str]) -> str:
    if arg["role"] == "inout":
        return f"{cotangent[arg['name']]}.clone(memory_format=torch.contiguous_format)"
    half = parse(arg["dtype"]).scalar == "float16"
    return f"torch.zeros_like({arg['name']}{', dtype=torch.float32' if half else ''})"


def _deeper(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
