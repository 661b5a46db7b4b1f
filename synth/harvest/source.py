"""A complete Python module around one hand-written kernel: what it uses, defined in one text."""

from __future__ import annotations

import ast
import enum
import inspect
import textwrap
import typing
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from synth.codegen.modules import WarpModules
from synth.harvest.enums import function_uses, static_uses
from synth.harvest.meaning import (
    IMPORTABLE,
    equal,
    is_builtin,
    is_foreign,
    means,
    module_at,
    own_overloads,
)
from synth.harvest.module_order import Built, ModuleDraft, class_text, function_decorator
from synth.harvest.names import Edit, Source, Surroundings, names_in
from synth.harvest.values import NotSelfContained, Texts


class SourceBuilder:
    """Builds the text of one module; use a new one for each kernel."""

    def __init__(self, modules: WarpModules) -> None:
        self._modules = modules
        self._warp = modules.warp
        self._text = ModuleDraft()
        self._texts = Texts(self._warp, modules.is_struct, self._struct_name)

    def build(self, kernel: Any, name: str) -> Built:
        """Write everything the kernel uses; raises :class:`NotSelfContained` with what cannot be.

        Whether the text says the same as the kernel is for the caller to prove.
        """
        self._bind("wp", self._warp)
        self._text.meanings[name] = kernel
        options = self._modules.module_options(kernel)
        if options:
            inner = ", ".join(f"{k!r}: {self._texts.value(v)}" for k, v in sorted(options.items()))
            self._text.definitions.append(f"wp.set_module_options({{{inner}}})\n")
        definition = self._definition(kernel.func, kernel.adj, name)
        return self._text.assemble(self._decorator(kernel) + "\n" + definition, name)

    def build_alone(self, kernel: Any, name: str) -> Built:
        """The kernel's own source under a plain decorator, with the free names left free."""
        self._bind("wp", self._warp)
        source = Source.parse(kernel.adj.source)
        try:
            decorator = self._decorator(kernel)
        except NotSelfContained:
            decorator = "@wp.kernel"
        edits = [source.renamed(name), *self._overload_edits(kernel, source)]
        return self._text.assemble(f"{decorator}\n{source.definition(edits)}", name)

    def _overload_edits(self, kernel: Any, source: Source) -> list[Edit]:
        """The types of an overload, so that those of one kernel are told apart."""
        if kernel.generic_parent is None:
            return []
        try:
            return self._annotation_edits(source, Surroundings(kernel.func), kernel.adj.arg_types)
        except NotSelfContained:
            return []

    def _decorator(self, kernel: Any) -> str:
        options = [f"{k}={self._texts.value(v)}" for k, v in kernel.options.items()]
        return f"@wp.kernel({', '.join(options)})" if options else "@wp.kernel"

    def _definition(self, function: FunctionType, adj: Any, name: str | None = None) -> str:
        """The text of a Warp function or kernel, its names bound in the module."""
        try:
            source = Source.parse(adj.source)
        except (ValueError, SyntaxError) as error:
            raise NotSelfContained(str(error)) from error
        around = Surroundings(function)
        edits = self._annotation_edits(source, around, adj.arg_types)
        edits += self._static_edits(source, around)
        edits += self._module_edits(source, around, edits)
        if name is not None:
            edits.append(source.renamed(name))
        self._bind_names(source, source.outer_names(), around)
        return source.definition(edits)

    def _annotation_edits(
        self, source: Source, around: Surroundings, types: dict[str, Any]
    ) -> list[Edit]:
        """Write out the annotations that do not mean the same outside their place."""
        edits = []
        for parameter, node in source.annotations():
            kind = types.get(parameter)
            said = around.evaluates(node) if parameter == "return" else means(node, around, kind)
            kept = said and self._bind_annotation(source, node, around)
            if not kept:
                edits.append((*source.span(node), self._texts.type(kind)))
        return edits

    def _bind_annotation(self, source: Source, node: ast.expr, around: Surroundings) -> bool:
        """Bind the names of an annotation; False when a module of the user's stands in it."""
        foreign = {n for n in names_in(node) if is_foreign(around.get(n))}
        if foreign:
            return False
        self._bind_names(source, names_in(node), around)
        return True

    def _bind_names(self, source: Source, names: set[str], around: Surroundings) -> None:
        for name in sorted(names):
            if name not in around:
                continue  # Warp may know it all the same; if not, the proof fails
            value = around[name]
            if is_foreign(value):
                continue  # its attributes were written out
            if isinstance(value, type) and self._is_namespace(value):
                self._bind_namespace(name, value, source)
            else:
                self._bind(name, value)

    def _static_edits(self, source: Source, around: Surroundings) -> list[Edit]:
        """Write out what enums give besides their members."""
        edits = []
        for call, value in static_uses(source, around):
            text = (
                self._function_name(value)
                if self._modules.is_function(value)
                else f"wp.static({self._texts.value(value)})"
            )
            edits.append((*source.span(call), text))
        for node, value in function_uses(source, around):
            if self._modules.is_function(value):
                edits.append((*source.span(node), self._function_name(value)))
        return edits

    def _function_name(self, function: Any) -> str:
        name = str(function.key if function.is_builtin() else function.func.__name__)
        if function.is_builtin():
            return f"wp.{name}"
        self._bind(name, function)
        return name

    def _module_edits(
        self, source: Source, around: Surroundings, others: Sequence[Edit] = ()
    ) -> list[Edit]:
        """Replace ``helpers.area`` with ``area`` where ``helpers`` is a module of the user's, but
        not inside of ``others``, which replace more."""
        edits: list[Edit] = []
        own = source.own_names()
        for node in source.attributes():
            first, last = source.span(node)
            if any(start <= first and last <= end for start, end, _ in others):
                continue
            module = module_at(node.value, around, own)
            value = getattr(module, node.attr, None) if module is not None else None
            if value is None or isinstance(value, ModuleType):
                continue
            if node.attr in own:
                raise NotSelfContained(f"{node.attr} has two meanings")
            self._bind(node.attr, value)
            edits.append((first, last, node.attr))
        return edits

    def _bind(self, name: str, value: Any) -> None:
        """Let ``name`` mean ``value`` in the module."""
        known = self._text.meanings
        if name in known:
            if known[name] is not value and not equal(known[name], value):
                raise NotSelfContained(f"{name} has two meanings")
            return
        known[name] = value
        if isinstance(value, ModuleType):
            self._import(name, value)
        elif value is Any:
            self._text.imports.add("from typing import Any")
            self._alias(name, "Any")
        elif _typing_name(value):
            self._text.imports.add(f"from typing import {_typing_name(value)}")
            self._alias(name, _typing_name(value))
        elif self._modules.is_function(value):
            self._bind_function(name, value)
        elif self._modules.is_struct(value):
            self._define_struct(value, name)
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            self._define_enum(value, name)
        elif isinstance(value, FunctionType):
            self._define_plain(name, value)
        elif not is_builtin(name, value):
            self._alias(name, self._texts.value(value))

    def _alias(self, name: str, text: str) -> None:
        if name != text:
            self._text.definitions.append(f"{name} = {text}\n")

    def _import(self, name: str, module: ModuleType) -> None:
        full = module.__name__
        if is_foreign(module):
            raise NotSelfContained(f"uses the module {full} as a value")
        self._text.imports.add(f"import {full}" if full == name else f"import {full} as {name}")

    def _bind_function(self, name: str, function: Any) -> None:
        if function.is_builtin():
            self._alias(name, f"wp.{function.key}")
            return
        own = function.func.__name__
        if own != name:
            self._bind(own, function)
            self._alias(name, own)
            return
        for overload in own_overloads(function):
            if overload.func.__name__ != own:
                raise NotSelfContained(f"{own} has overloads of other names")
            text = self._definition(overload.func, overload.adj)
            self._text.definitions.append(f"{function_decorator(overload)}\n{text}")
            self._bind_custom("func_grad", own, overload.custom_grad_func)
            self._bind_custom("func_replay", own, overload.custom_replay_func)

    def _bind_custom(self, decorator: str, owner: str, function: Any) -> None:
        if function is None:
            return
        name = function.func.__name__
        if self._text.meanings.setdefault(name, function) is not function and name != owner:
            raise NotSelfContained(f"{name} has two meanings")
        text = self._definition(function.func, function.adj)
        self._text.definitions.append(f"@wp.{decorator}({owner})\n{text}")

    def _struct_name(self, struct: Any) -> str:
        name = str(struct.cls.__name__)
        self._bind(name, struct)
        return name

    def _define_struct(self, struct: Any, name: str) -> None:
        own = str(struct.cls.__name__)
        if own != name:
            self._alias(name, self._struct_name(struct))
            return
        fields = [
            f"    {label}: {self._texts.type(var.type)}\n" for label, var in struct.vars.items()
        ]
        body = "".join(fields) or "    pass\n"
        self._text.definitions.append(f"@wp.struct\nclass {own}:\n{body}")

    def _define_enum(self, value: type[enum.Enum], name: str) -> None:
        base = "IntFlag" if issubclass(value, enum.IntFlag) else "IntEnum"
        if not issubclass(value, int):
            raise NotSelfContained(f"uses the enum {value.__name__}, which is not of integers")
        if value.__name__ != name:
            self._bind(value.__name__, value)
            self._alias(name, value.__name__)
            return
        self._text.imports.add(f"from enum import {base}")
        members = {label: repr(int(member)) for label, member in value.__members__.items()}
        self._text.definitions.append(class_text(name, base, members))

    def _is_namespace(self, value: type) -> bool:
        return not (
            self._texts.is_type(value)
            or issubclass(value, enum.Enum)
            or value.__module__ == "builtins"
            or value.__module__.split(".")[0] in IMPORTABLE
        )

    def _bind_namespace(self, name: str, value: type, source: Source) -> None:
        """A class that only holds constants: those that are used."""
        if self._text.meanings.setdefault(name, value) is not value:
            raise NotSelfContained(f"{name} has two meanings")
        attributes = self._text.namespaces.setdefault(name, {})
        for node in source.attributes():
            if isinstance(node.value, ast.Name) and node.value.id == name:
                if not hasattr(value, node.attr):
                    raise NotSelfContained(f"{name} has no {node.attr}")
                attributes[node.attr] = self._texts.value(getattr(value, node.attr))

    def _define_plain(self, name: str, function: FunctionType) -> None:
        """A Python function, which ``wp.static`` calls while Warp translates."""
        try:
            source = Source.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError, ValueError) as error:
            raise NotSelfContained(f"uses the Python function {name}: {error}") from error
        if source.node.name != name or source.node.decorator_list:
            raise NotSelfContained(f"uses the Python function {name}")
        around = Surroundings(function)
        for _, node in source.annotations():
            self._bind_names(source, names_in(node), around)
        self._bind_names(source, source.outer_names(), around)
        self._text.definitions.append(source.definition(self._module_edits(source, around)))


def _typing_name(value: Any) -> str:
    """The name under which ``typing`` has a value, as ``Tuple``; "" when it does not."""
    name = getattr(value, "_name", None)
    return name if isinstance(name, str) and getattr(typing, name, None) is value else ""
