"""Statements and expressions of a program as plain CUDA C++."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from generators import expr, ir
from generators.dtypes import BOOL, INT32, Array, Scalar, Struct, Transform, Type, scalar_of
from generators.walk import statements
from synth.cuda_device import Library, built, number, written
from synth.cuda_ops import CUDA_OPS, narrow
from synth.cuda_scopes import Declarations, plan
from synth.cuda_text import TAB, WIDTH, Prec, Text, at_least, binary, call, item, member, wrapped
from synth.cuda_types import computed, is_builtin_vector, literal, name_of, parts

KEYWORDS = frozenset(
    {
        *("alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char"),
        *("class", "const", "constexpr", "continue", "default", "delete", "do", "double", "else"),
        *("enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if"),
        *(
            "inline",
            "int",
            "long",
            "mutable",
            "namespace",
            "new",
            "noexcept",
            "not",
            "operator",
            "or",
        ),
        *("private", "protected", "public", "register", "return", "short", "signed", "sizeof"),
        *("static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef"),
        *("typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor"),
        *("index", "stride", "dim3", "half"),
    }
)
"""Names that C++, or the text around a kernel's body, has for itself."""

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_INT_ATOMICS = {"min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor"}


class Body:
    """Prints the body of one function or kernel, with what it needs in a :class:`Library`."""

    def __init__(
        self,
        library: Library,
        names: Mapping[str, str],
        shapes: Mapping[str, Sequence[str]],
        results: Mapping[str, Type],
        leave: str,
    ) -> None:
        """``shapes`` are C++ texts of each array's extents; ``leave`` ends a thread early."""
        self.library = library
        self.names = names
        self.shapes = shapes
        self.results = results
        self.leave = leave
        self.lines: list[str] = []
        self.declared = Declarations()
        self.types: dict[str, Type] = {}
        self._expressions: dict[type, Callable[[Any], Text]] = {
            expr.Const: lambda e: _literal(e),
            expr.Var: lambda e: Text(self.name(e.name)),
            expr.Op: self._op,
            expr.Cast: self._cast,
            expr.Load: self._load,
            expr.Extent: lambda e: Text(self.shapes[e.array.name][e.axis]),
            expr.Component: self._component,
            expr.Field: self._field,
            expr.Call: lambda e: call(self.name(e.function), self.show_all(e.args)),
            expr.Construct: self._construct,
        }
        self._statements: dict[type, Callable[[Any, int], None]] = {
            ir.Assign: self._assign,
            ir.AugAssign: self._augment,
            ir.SetComponent: self._set_component,
            ir.SetField: self._set_field,
            ir.Store: self._store,
            ir.Atomic: self._atomic,
            ir.Sample: self._sample,
            ir.If: self._if,
            ir.For: self._for,
            ir.While: self._while,
            ir.Break: lambda _s, d: self.put(d, "break;"),
            ir.Continue: lambda _s, d: self.put(d, "continue;"),
            ir.Return: self._return,
            ir.Comment: self._comment,
        }

    def name(self, name: str) -> str:
        return self.names.get(name, name)

    def put(self, depth: int, text: str) -> None:
        self.lines += wrapped(depth * TAB, text)

    def run(self, body: ir.Body, given: Mapping[str, Type], depth: int) -> list[str]:
        """The lines of a whole body; ``given`` are the variables that it starts with."""
        self.declared = plan(body, set(given))
        self.types = {name: computed(t) for name, t in given.items() if not isinstance(t, Array)}
        for s in statements(body):
            if isinstance(s, ir.Assign):
                self.types[s.name] = computed(s.value.type)
            elif isinstance(s, ir.Sample):
                self.types[s.name] = computed(s.type)
        self.lines = []
        self.block(body, depth)
        return self.lines

    def block(self, body: ir.Body, depth: int) -> None:
        for s in body:
            for name in self.declared.before.get(id(s), []):
                self.put(depth, f"{self.library.type(self.types[name])} {self.name(name)};")
            self._statements[type(s)](s, depth)

    # Expressions

    def show(self, e: expr.Expr) -> Text:
        return self._expressions[type(e)](e)

    def show_all(self, expressions: Sequence[expr.Expr]) -> list[Text]:
        return [self.show(e) for e in expressions]

    def _op(self, e: expr.Op) -> Text:
        if e.op == "lower_bound":
            keys, value = e.args
            assert isinstance(keys, expr.Var)
            name = self.library.function("lower_bound", value.type)
            count = Text(self.shapes[keys.name][0])
            return call(name, [Text(self.name(keys.name)), count, self.show(value)])
        return CUDA_OPS[e.op](self, self.show_all(e.args), e)

    def _cast(self, e: expr.Cast) -> Text:
        value, source, target = self.show(e.value), computed(e.value.type), computed(e.type)
        if source == target:
            return value
        if target == BOOL:
            return binary("!=", Prec.EQUAL, value, Text(number(0, source)))
        return Text(f"({name_of(target)}){at_least(value, Prec.UNARY)}", Prec.UNARY)

    def index(self, array: expr.Var, indices: Sequence[expr.Expr]) -> Text:
        """``a[i * w + j]``."""
        shape = self.shapes[array.name]
        flat = self.show(indices[0])
        for extent, index in zip(shape[1:], indices[1:], strict=True):
            size = Text(extent, Prec.ADD if "+" in extent else Prec.POSTFIX)
            flat = binary("+", Prec.ADD, binary("*", Prec.MUL, flat, size), self.show(index))
        return item(Text(self.name(array.name)), [flat])

    def _load(self, e: expr.Load) -> Text:
        return self.widened(self.index(e.array, e.indices), e.type)

    def widened(self, stored: Text, type_: Type) -> Text:
        """A value as it is computed with: float16 becomes float."""
        if isinstance(type_, Struct) or computed(type_) == type_:
            return stored
        if isinstance(type_, Scalar):
            return call("__half2float", [stored])
        return call(
            _converter(self.library, "widen", type_, computed(type_), "__half2float"), [stored]
        )

    def narrowed(self, value: Text, type_: Type) -> Text:
        """A value as memory holds it."""
        if isinstance(type_, Struct) or computed(type_) == type_:
            return value
        if isinstance(type_, Scalar):
            return call("__float2half", [value])
        return call(
            _converter(self.library, "narrow", computed(type_), type_, "__float2half"), [value]
        )

    def _component(self, e: expr.Component) -> Text:
        value, type_ = self.show(e.value), computed(e.value.type)
        return self._place(value, type_, e.indices)

    def _place(self, value: Text, type_: Type, indices: Sequence[expr.Expr]) -> Text:
        if all(isinstance(i, expr.Const) for i in indices):
            return Text(at_least(value, Prec.POSTFIX) + parts(type_)[_flat(type_, indices)])
        if is_builtin_vector(type_) or not hasattr(type_, "shape") or _is_lettered(type_):
            return call(_picker(self.library, type_), [value, self.show(indices[0])])
        inner = "m" if len(indices) == 2 else "v"
        return item(member(value, inner), self.show_all(indices))

    def _field(self, e: expr.Field) -> Text:
        return self.widened(member(self.show(e.value), self.name(e.name)), e.type)

    def _construct(self, e: expr.Construct) -> Text:
        type_ = e.type
        args = self.show_all(e.args)
        if isinstance(type_, Struct):
            pairs = zip(args, type_.fields, strict=True)
            values = ", ".join(self.narrowed(a, t).text for a, (_, t) in pairs)
            return Text(f"{type_.name}{{{values}}}")
        held = computed(type_)
        if isinstance(held, Transform):
            return Text(f"{self.library.type(held)}{{{', '.join(a.text for a in args)}}}")
        texts = [a.text for a in args]
        places = len(parts(held))
        if len(texts) == 1 and places > 1:
            if isinstance(e.args[0], expr.Const | expr.Var):
                texts = texts * places
            else:
                return call(_filler(self.library, held), args)
        return Text(built(self.library, held, texts))

    # Statements

    def _typed(self, name: str) -> str:
        """What stands before a variable that an assignment declares."""
        const = "" if name in self.declared.changed else "const "
        return f"{const}{self.library.type(self.types[name])} "

    def _assign(self, s: ir.Assign, depth: int) -> None:
        head = self._typed(s.name) if id(s) in self.declared.at else ""
        self.put(depth, f"{head}{self.name(s.name)} = {self.show(s.value).text};")

    def _sample(self, s: ir.Sample, depth: int) -> None:
        head = self._typed(s.name) if id(s) in self.declared.at else ""
        function = self.library.function(s.sampler, *(a.type for a in s.args))
        drawn = call(function, self.show_all((s.state, *s.args)))
        self.put(depth, f"{head}{self.name(s.name)} = {drawn.text};")

    def updated(self, target: Text, type_: Type, op: str, value: expr.Expr, depth: int) -> None:
        """``target op= value``, or with an empty op ``target = value``."""
        shown, held = self.show(value), computed(type_)
        stored = self.narrowed
        if not op:
            self.put(depth, f"{target.text} = {stored(shown, type_).text};")
        elif isinstance(held, Scalar) and held == type_:
            self.put(depth, f"{target.text} {_SIGNS[op]}= {shown.text};")
        else:
            left = self.widened(target, type_)
            if isinstance(held, Scalar):
                prec = Prec.ADD if op in ("add", "sub") else Prec.MUL
                whole = narrow(binary(_SIGNS[op], prec, left, shown), held)
            else:
                node = expr.Op(op, (expr.Var("_", type_), value), type_)
                whole = CUDA_OPS[op](self, [left, shown], node)
            self.put(depth, f"{target.text} = {stored(whole, type_).text};")

    def _augment(self, s: ir.AugAssign, depth: int) -> None:
        self.updated(Text(self.name(s.name)), self.types[s.name], s.op, s.value, depth)

    def _set_component(self, s: ir.SetComponent, depth: int) -> None:
        type_ = self.types[s.name]
        if not all(isinstance(i, expr.Const) for i in s.indices) and _is_lettered(type_):
            place = self.show(s.indices[0])
            value = self.show(s.value)
            if s.op:
                old = self._place(Text(self.name(s.name)), type_, s.indices)
                prec = Prec.ADD if s.op in ("add", "sub") else Prec.MUL
                value = binary(_SIGNS[s.op], prec, old, value)
            setter = call(_setter(self.library, type_), [Text(self.name(s.name)), place, value])
            self.put(depth, f"{setter.text};")
            return
        target = self._place(Text(self.name(s.name)), type_, s.indices)
        self.updated(target, computed(s.value.type), s.op, s.value, depth)

    def _set_field(self, s: ir.SetField, depth: int) -> None:
        target = member(Text(self.name(s.name)), self.name(s.field))
        self.updated(target, s.type.field(s.field), "", s.value, depth)

    def _store(self, s: ir.Store, depth: int) -> None:
        assert isinstance(s.array.type, Array)
        target = self.index(s.array, s.indices)
        self.updated(target, s.array.type.element, s.op, s.value, depth)

    def _atomic(self, s: ir.Atomic, depth: int) -> None:
        assert isinstance(s.array.type, Array)
        place, value = self.index(s.array, s.indices), self.show(s.value)
        element = s.array.type.element
        if isinstance(element, Scalar):
            compare = None if s.compare is None else self.show(s.compare)
            self.put(depth, f"{self._one_atomic(s.op, element, place, value, compare)};")
            return
        if not isinstance(s.value, expr.Var):
            fresh = f"{self.name(s.array.name)}_update"
            self.put(depth, "{")
            self.put(depth + 1, f"const {self.library.type(element)} {fresh} = {value.text};")
            self._part_atomics(s, place, Text(fresh), element, depth + 1)
            self.put(depth, "}")
        else:
            self._part_atomics(s, place, value, element, depth)

    def _part_atomics(
        self, s: ir.Atomic, place: Text, value: Text, element: Type, depth: int
    ) -> None:
        for p in parts(element):
            at, new = Text(place.text + p), Text(value.text + p)
            self.put(depth, f"{self._one_atomic(s.op, scalar_of(element), at, new, None)};")

    def _one_atomic(
        self, op: str, scalar: Scalar, place: Text, value: Text, compare: Text | None
    ) -> str:
        address = f"&{place.text}"
        wide = scalar.name == "int64"
        if wide and op in ("add", "sub", "exch", "cas", "and", "or", "xor"):
            address = f"(unsigned long long*){address}"
            word = "(unsigned long long)"
            value = Text(f"{word}{at_least(value, Prec.UNARY)}", Prec.UNARY)
            if compare is not None:
                compare = Text(f"{word}{at_least(compare, Prec.UNARY)}", Prec.UNARY)
        if op == "cas":
            assert compare is not None
            return f"atomicCAS({address}, {compare.text}, {value.text})"
        if op == "sub":
            if scalar.bits == 32 and scalar.is_int:
                return f"atomicSub({address}, {value.text})"
            negated = f"-{at_least(value, Prec.POSTFIX)}"
            return f"atomicAdd({address}, {negated})"
        if op in ("min", "max") and scalar.is_float:
            return f"{self.library.function(f'atomic_{op}', scalar)}({address}, {value.text})"
        name = {"add": "Add", "exch": "Exch"}.get(op) or _INT_ATOMICS[op]
        return f"atomic{name}({address}, {value.text})"

    def _if(self, s: ir.If, depth: int) -> None:
        word = "if"
        for condition, body in s.branches:
            self.put(depth, f"{word} ({self.show(condition).text}) {{")
            self.block(body, depth + 1)
            word = "} else if"
        if s.orelse:
            self.put(depth, "} else {")
            self.block(s.orelse, depth + 1)
        self.put(depth, "}")

    def _for(self, s: ir.For, depth: int) -> None:
        name, stop = self.name(s.name), self.show(s.stop)
        if not isinstance(s.stop, expr.Const | expr.Var | expr.Extent):
            bound = f"{name}_end"
            self.put(depth, f"const int {bound} = {stop.text};")
            stop = Text(bound)
        step = {1: f"++{name}", -1: f"--{name}"}.get(s.step)
        if step is None:
            step = f"{name} += {s.step}" if s.step > 0 else f"{name} -= {-s.step}"
        sign = "<" if s.step > 0 else ">"
        start = self.show(s.start).text
        self.put(depth, f"for (int {name} = {start}; {name} {sign} {stop.text}; {step}) {{")
        self.block(s.body, depth + 1)
        self.put(depth, "}")

    def _while(self, s: ir.While, depth: int) -> None:
        self.put(depth, f"while ({self.show(s.condition).text}) {{")
        self.block(s.body, depth + 1)
        self.put(depth, "}")

    def _return(self, s: ir.Return, depth: int) -> None:
        text = self.leave if s.value is None else f"return {self.show(s.value).text};"
        self.put(depth, text)

    def _comment(self, s: ir.Comment, depth: int) -> None:
        room = WIDTH - depth * TAB - 3
        self.lines += [f"{' ' * (depth * TAB)}// {line}" for line in textwrap.wrap(s.text, room)]


def _literal(e: expr.Const) -> Text:
    text = literal(e.value, e.type)
    return Text(text, Prec.UNARY if text.startswith("-") else Prec.POSTFIX)


def _is_lettered(type_: Type) -> bool:
    """Whether the parts of a type have names of their own and cannot be indexed."""
    return is_builtin_vector(type_) or not (parts(type_)[0].startswith((".v[", ".m[")))


def _flat(type_: Type, indices: Sequence[expr.Expr]) -> int:
    shape, flat = getattr(type_, "shape", ()), 0
    for extent, index in zip(shape, indices, strict=True):
        assert isinstance(index, expr.Const)
        flat = flat * extent + int(index.value)
    return flat


def _made(library: Library, key: str, type_: Type, make: Callable[[str], str]) -> str:
    if (key, (type_,)) not in library.functions:
        library.functions[(key, (type_,))] = make(key)
    return library.spelled(key)


def _picker(library: Library, type_: Type) -> str:
    """A function that reads a component by its number."""
    *others, last = [f"v{p}" for p in parts(type_)]
    value = "".join(f"i == {k} ? {text} : " for k, text in enumerate(others)) + last
    i = INT32
    return _made(
        library,
        "component",
        type_,
        lambda name: written(
            library, name, scalar_of(type_), (("v", type_), ("i", i)), f"return {value};"
        ),
    )


def _setter(library: Library, type_: Type) -> str:
    """A function that writes a component by its number."""

    def make(name: str) -> str:
        kind, scalar = library.type(type_), library.type(scalar_of(type_))
        lines = []
        for k, p in enumerate(parts(type_)):
            word = "if" if k == 0 else "} else if"
            last = k == len(parts(type_)) - 1
            lines += [
                f"    {'} else {' if last else f'{word} (i == {k}) {{'}",
                f"        v{p} = x;",
            ]
        body = "\n".join([*lines, "    }"])
        head = f"__device__ __forceinline__ void {library.spelled(name)}"
        return f"{head}({kind}& v, int i, {scalar} x)\n{{\n{body}\n}}\n"

    return _made(library, "set_component", type_, make)


def _filler(library: Library, type_: Type) -> str:
    """A function that fills a composite with one value."""
    name = f"fill_{name_of(type_).lower()}"
    scalar = scalar_of(type_)
    value = built(library, type_, ["x"] * len(parts(type_)))
    return _made(
        library,
        name,
        type_,
        lambda n: written(library, n, type_, (("x", scalar),), f"return {value};"),
    )


def _converter(library: Library, name: str, source: Type, target: Type, one: str) -> str:
    """A function between composites of float16 and of float."""
    values = [f"{one}(v{p})" for p in parts(source)]
    value = built(library, target, values)
    return _made(
        library,
        name,
        source,
        lambda n: written(library, n, target, (("v", source),), f"return {value};"),
    )
