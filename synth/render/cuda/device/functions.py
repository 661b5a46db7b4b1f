"""Small device functions that a kernel may need, written for the types it uses them with.

A maker takes the argument types and gives the text of one ``__device__`` function; what else that
function calls is asked of the :class:`Library`, so that everything stands before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type, Vec, scalar_of
from synth.render.cuda.dialect.current import pointer, spoken
from synth.render.cuda.text import Prec, Text, binary, call, prefix
from synth.render.cuda.types import (
    computed,
    definition,
    inner_types,
    is_builtin_vector,
    literal,
    name_of,
    parts,
    stored_name,
)
from synth.render.ranges.table import NO_EDGES, Edges


class Library:
    """The types and device functions that a text needs, in the order in which they must stand."""

    def __init__(
        self,
        taken: frozenset[str],
        fields_as: Mapping[str, str],
        edges: Edges = NO_EDGES,
        aligned: Mapping[Type, int] = MappingProxyType({}),
    ) -> None:
        """``aligned`` has types that stand alone in memory, and the bytes to align them to."""
        self.taken = taken
        self.offsets: set[str] = set()
        """Names of flat indices in the body that is being printed."""
        self.aligned = aligned
        self.fields_as = fields_as
        self.edges = edges
        self.types: dict[str, str] = {}
        self.functions: dict[tuple[str, tuple[Type, ...]], str] = {}
        self.extensions: set[str] = set()

    def type(self, type_: Type) -> str:
        """The name of a type; its definition becomes part of the text where it needs one."""
        name = name_of(type_)
        if name not in self.types:
            for part in inner_types(type_):
                self.type(part)
            self.types[name] = definition(type_, self.fields_as, self.aligned.get(type_, 0))
        return name

    def guards(self, name: str, result: Type) -> bool:
        """Whether a function must have an answer for what its formula has none for."""
        return any(n == name and computed(t) == result for n, t in self.edges.functions)

    def spelled(self, name: str, *types: Type) -> str:
        """A function's name where the program, or the dialect, has taken that name for itself.

        ``types`` are those of its arguments: without overloads the first becomes part of the name.
        """
        if types and not spoken().overloads:
            kind = name_of(types[0]).replace(" ", "_")
            name = name if name.endswith(f"_{kind.lower()}") else f"{name}_{kind}"
        while name in self.taken or name in spoken().builtins:
            name += "_of"
        return name

    def pointer(self, type_: Type, const: bool = False, space: str | None = None) -> str:
        """The type of a pointer to an element of memory, in global memory unless said otherwise."""
        self.type(type_)
        return pointer(stored_name(type_), const, spoken().global_ if space is None else space)

    def function(self, name: str, *types: Type) -> str:
        """Ask for a device function for these argument types; the name to call it by."""
        key = (name, types)
        if key not in self.functions:
            text = _maker(name)(self, *types)
            self.functions[key] = text
        return self.spelled(name, *types)

    def write(self, name: str, types: tuple[Type, ...], text: str) -> str:
        """Add a function whose text is there already; the name to call it by."""
        self.functions.setdefault((name, types), text)
        return self.spelled(name)

    def texts(self) -> list[str]:
        """All definitions: types, operators by type and sign, and what is built of these."""
        functions = sorted(self.functions.items(), key=lambda item: _standing(*item[0]))
        return [*filter(None, self.types.values()), *(text for _, text in functions)]


_STANDING = ("+", "-", "- unary", "*", "/", "+=", "-=", "*=", "/=")


def _standing(name: str, types: tuple[Type, ...]) -> tuple[int | str, ...]:
    """Where a function stands: operators first and by themselves, so that whoever reads or writes
    a text sees at a glance which there are; the others as they need each other."""
    if not name.startswith("operator") or any(isinstance(t, Transform) for t in types):
        return (1,)
    owner = max(types, key=lambda t: 0 if isinstance(t, Scalar) else len(parts(t)))
    kind = (Vec, Quat, Mat).index(type(owner))
    scalars = sum(1 << k for k, t in enumerate(reversed(types)) if isinstance(t, Scalar))
    sign = _STANDING.index(name.removeprefix("operator"))
    return (0, kind, len(parts(owner)), str(owner), sign, scalars, str(types))


Maker = Callable[..., str]
_MAKERS: dict[str, Maker] = {}


def _maker(name: str) -> Maker:
    if name not in _MAKERS:
        raise KeyError(f"no device function is called {name}")
    return _MAKERS[name]


def device(*names: str) -> Callable[[Maker], Maker]:
    """Register a maker under the names of the functions that it writes."""

    def register(maker: Maker) -> Maker:
        for name in names:
            if name in _MAKERS:
                raise ValueError(f"two device functions are called {name}")
            _MAKERS[name] = maker
        return maker

    return register


def real(scalar: Scalar, name: str) -> str:
    """The C function of a float type: ``sqrtf`` or ``sqrt``."""
    name = spoken().called(name)
    return name if scalar.name == "float64" else f"{name}{spoken().float_suffix}"


def number(value: float, type_: Type) -> str:
    scalar = scalar_of(type_)
    return literal(repr(float(value)) if scalar.is_float else int(value), scalar)


def built(lib: Library, type_: Type, values: Sequence[str]) -> str:
    """An expression that makes a composite from its scalars."""
    name = lib.type(type_)
    if is_builtin_vector(type_):
        return f"{spoken().construct[1].format(type=name)}{', '.join(values)})"
    if isinstance(type_, Mat):
        step = type_.cols
        rows = [f"{{{', '.join(values[k : k + step])}}}" for k in range(0, len(values), step)]
        return braced(name, f"{{{', '.join(rows)}}}")
    if isinstance(type_, Transform):
        position, rotation = Vec(3, type_.scalar), Quat(type_.scalar)
        p, q = built(lib, position, values[:3]), built(lib, rotation, values[3:])
        return braced(name, f"{p}, {q}")
    listed = ", ".join(values)
    return braced(name, listed if isinstance(type_, Quat) else f"{{{listed}}}")


def braced(name: str, members: str) -> str:
    """A value of a struct from its members."""
    return f"{spoken().construct[0].format(type=name)}{members}}}"


def zeroed(lib: Library, type_: Type) -> str:
    """A struct of zeros."""
    return braced(lib.type(type_), spoken().zeros[1:-1])


def passed(lib: Library, type_: Type, name: str) -> str:
    """A parameter: matrices and long vectors by reference, where there are references."""
    large = isinstance(type_, Mat | Transform) or (isinstance(type_, Vec) and type_.size > 4)
    large = large and spoken().overloads
    return f"const {lib.type(type_)}& {name}" if large else f"{lib.type(type_)} {name}"


def written(
    lib: Library, name: str, result: Type, params: Sequence[tuple[str, Type]], *lines: str
) -> str:
    """The text of a function from its lines; ``type``s are defined before it."""
    return named(lib, lib.spelled(name, *(t for _, t in params[:1])), result, params, *lines)


def named(
    lib: Library, name: str, result: Type, params: Sequence[tuple[str, Type]], *lines: str
) -> str:
    """As :func:`written`, of a function whose name needs no more care."""
    listed = ", ".join(passed(lib, type_, param) for param, type_ in params)
    body = "".join(f"    {line}\n" for line in lines)
    return f"{spoken().function}{lib.type(result)} {name}({listed})\n{{\n{body}}}\n"


_OPERATORS = {"operator+": "+", "operator-": "-", "operator*": "*", "operator/": "/"}


@device("operator+", "operator-", "operator*", "operator/")
def _never(lib: Library, *types: Type) -> str:
    raise AssertionError("operators are made by operator()")


def operator(lib: Library, symbol: str, a: Type, b: Type, result: Type) -> None:
    """Ask for ``a symbol b`` of composites: component by component, or a product of algebra."""
    key = (f"operator{symbol}", (a, b))
    if key in lib.functions or is_native(a, b):
        return
    lib.functions[key] = (
        _product(lib, a, b, result)
        if _is_algebra(symbol, a, b)
        else _each(lib, symbol, a, b, result)
    )


def is_native(*types: Type) -> bool:
    """Whether the dialect itself has operators between such types."""
    if all(isinstance(t, Scalar) for t in types):
        return True
    own = all(isinstance(t, Scalar) or is_builtin_vector(t) for t in types)
    return own and not spoken().overloads


_SIGNS = {
    "+": ("add", Prec.ADD),
    "-": ("sub", Prec.ADD),
    "*": ("mul", Prec.MUL),
    "/": ("div", Prec.MUL),
}


def operator_name(lib: Library, symbol: str, a: Type, b: Type) -> str:
    """How the function of an operator is called: a name where there are no operators of ours."""
    if spoken().overloads:
        return f"operator{symbol}"
    kinds = "_".join(name_of(t).replace(" ", "_") for t in (a, b))
    return lib.spelled(f"{_SIGNS[symbol][0]}_{kinds}")


def combined(
    lib: Library, symbol: str, types: tuple[Type, Type, Type], left: Text, right: Text
) -> Text:
    """``left symbol right``; ``types`` are those of both and of the result."""
    a, b, result = types
    if not is_native(a, b):
        operator(lib, symbol, a, b, result)
    if spoken().overloads or is_native(a, b):
        return binary(symbol, _SIGNS[symbol][1], left, right)
    return call(operator_name(lib, symbol, a, b), [left, right])


def negated(lib: Library, type_: Type, value: Text) -> Text:
    """``-value``."""
    if is_native(type_):
        return prefix("-", value)
    negation(lib, type_)
    return prefix("-", value) if spoken().overloads else call(_negation_name(lib, type_), [value])


def _negation_name(lib: Library, type_: Type) -> str:
    return "operator-" if spoken().overloads else lib.spelled(f"neg_{name_of(type_)}")


def _is_algebra(symbol: str, a: Type, b: Type) -> bool:
    if symbol != "*":
        return False
    return (isinstance(a, Mat) and isinstance(b, Mat | Vec)) or (
        isinstance(a, Quat | Transform) and a == b
    )


def _each(lib: Library, symbol: str, a: Type, b: Type, result: Type) -> str:
    places = parts(result)
    left = ["a" if isinstance(a, Scalar) else f"a{p}" for p in places]
    right = ["b" if isinstance(b, Scalar) else f"b{p}" for p in places]
    scalar = scalar_of(result)
    values = [narrowed(f"{x} {symbol} {y}", scalar) for x, y in zip(left, right, strict=True)]
    value = f"return {built(lib, result, values)};"
    return _operator_written(lib, symbol, result, (("a", a), ("b", b)), value)


def _operator_written(
    lib: Library, symbol: str, result: Type, params: Sequence[tuple[str, Type]], *lines: str
) -> str:
    (_, a), (_, b) = params
    return named(lib, operator_name(lib, symbol, a, b), result, params, *lines)


def narrowed(text: str, scalar: Scalar) -> str:
    """A result of an unsigned type that C++ widens to int."""
    if scalar.is_unsigned and scalar.bits < 32:
        return f"({name_of(scalar)})({text})"
    return text


def _product(lib: Library, a: Type, b: Type, result: Type) -> str:
    if isinstance(a, Quat):
        lines = _quaternion_product(lib, result)
    elif isinstance(a, Transform):
        lines = _transform_product(lib, a)
    else:
        assert isinstance(a, Mat)
        lines = _matrix_product(lib, a, b, result)
    return _operator_written(lib, "*", result, (("a", a), ("b", b)), *lines)


def _quaternion_product(lib: Library, result: Type) -> list[str]:
    values = [
        "a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y",
        "a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z",
        "a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x",
        "a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z",
    ]
    return [f"return {built(lib, result, values)};"]


def _transform_product(lib: Library, a: Transform) -> list[str]:
    quat, vec = Quat(a.scalar), Vec(3, a.scalar)
    operator(lib, "*", quat, quat, quat)
    operator(lib, "+", vec, vec, vec)
    rotate = lib.function("quat_rotate", quat, vec)
    turned = combined(lib, "*", (quat, quat, quat), Text("a.q"), Text("b.q")).text
    return [f"return {braced(lib.type(a), f'a.p + {rotate}(a.q, b.p), {turned}')};"]


def _matrix_product(lib: Library, a: Mat, b: Type, result: Type) -> list[str]:
    """Of a matrix and a vector, or of two matrices: in a loop, where sums have more than two
    terms."""
    if isinstance(b, Vec):
        rows = [
            " + ".join(f"a.m[{i}][{j}] * b{p}" for j, p in enumerate(parts(b)))
            for i in range(a.rows)
        ]
        return [f"return {built(lib, result, rows)};"]
    assert isinstance(b, Mat)
    name = lib.type(result)
    if a.cols == 2:
        sums = [
            f"a.m[{i}][0] * b.m[0][{j}] + a.m[{i}][1] * b.m[1][{j}]"
            for i in range(a.rows)
            for j in range(b.cols)
        ]
        return [f"return {built(lib, result, sums)};"]
    return [
        f"{name} c;",
        f"for (int i = 0; i < {a.rows}; ++i) {{",
        f"    for (int j = 0; j < {b.cols}; ++j) {{",
        f"        {lib.type(scalar_of(a))} sum = a.m[i][0] * b.m[0][j];",
        f"        for (int k = 1; k < {a.cols}; ++k) {{",
        "            sum += a.m[i][k] * b.m[k][j];",
        "        }",
        "        c.m[i][j] = sum;",
        "    }",
        "}",
        "return c;",
    ]


def negation(lib: Library, type_: Type) -> None:
    """Ask for ``-a`` of a composite."""
    key = ("operator- unary", (type_,))
    if key not in lib.functions:
        values = [f"-a{p}" for p in parts(type_)]
        made = f"return {built(lib, type_, values)};"
        name = _negation_name(lib, type_)
        lib.functions[key] = named(lib, name, type_, (("a", type_),), made)
