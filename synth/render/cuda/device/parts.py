"""Device functions that reach, fill and convert the parts of composites by number."""

from __future__ import annotations

from collections.abc import Callable

from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, scalar_of
from synth.render.cuda.device.functions import Library, built, named, written
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.types import name_of, parts


def made(library: Library, key: str, type_: Type, make: Callable[[str], str]) -> str:
    if (key, (type_,)) not in library.functions:
        library.functions[(key, (type_,))] = make(key)
    return library.spelled(key, type_)


def picker(library: Library, type_: Type) -> str:
    """A function that reads a component by its number."""
    *others, value = [f"v{p}" for p in parts(type_)]
    for k, text in reversed(list(enumerate(others))):
        value = f"i == {k} ? {text} : {value if value == f'v{parts(type_)[-1]}' else f'({value})'}"
    i = INT32
    return made(
        library,
        "component",
        type_,
        lambda name: written(
            library, name, scalar_of(type_), (("v", type_), ("i", i)), f"return {value};"
        ),
    )


def by_reference(kind: str, name: str) -> tuple[str, str]:
    """A parameter through which a function changes a variable, and how its text has that."""
    return (f"{kind}& {name}", name) if spoken().overloads else (f"{kind}* {name}", f"(*{name})")


def reference_to(place: str) -> str:
    """What such a parameter is given."""
    return place if spoken().overloads else f"&{place}"


def setter(library: Library, type_: Type) -> str:
    """A function that writes a component by its number."""

    def make(name: str) -> str:
        kind, scalar = library.type(type_), library.type(scalar_of(type_))
        target, v = by_reference(kind, "v")
        lines = []
        for k, p in enumerate(parts(type_)):
            word = "if" if k == 0 else "} else if"
            last = k == len(parts(type_)) - 1
            lines += [
                f"    {'} else {' if last else f'{word} (i == {k}) {{'}",
                f"        {v}{p} = x;",
            ]
        body = "\n".join([*lines, "    }"])
        head = f"{spoken().function}void {library.spelled(name, type_)}"
        return f"{head}({target}, int i, {scalar} x)\n{{\n{body}\n}}\n"

    return made(library, "set_component", type_, make)


def filler(library: Library, type_: Type) -> str:
    """A function that fills a composite with one value."""
    name = f"fill_{name_of(type_).lower()}"
    scalar = scalar_of(type_)
    value = built(library, type_, ["x"] * len(parts(type_)))
    return made(
        library,
        name,
        type_,
        lambda n: named(
            library, library.spelled(n, type_), type_, (("x", scalar),), f"return {value};"
        ),
    )


def converter(library: Library, name: str, source: Type, target: Type, one: str) -> str:
    """A function between composites of float16 and of float."""
    values = [f"{one}(v{p})" for p in parts(source)]
    value = built(library, target, values)
    return made(
        library,
        name,
        source,
        lambda n: written(library, n, target, (("v", source),), f"return {value};"),
    )


def from_half(library: Library) -> str:
    """The function that makes a float of what memory holds of a float16; its name."""
    if spoken().overloads:
        return "__half2float"
    return _half_function(library, "half_to_float", FLOAT32, "vload_half(0, (const half*)&x)")


def to_half(library: Library) -> str:
    """The function that makes what memory holds of a float16 of a float; its name."""
    if spoken().overloads:
        return "__float2half"
    return _half_function(library, "float_to_half", Scalar("float16"), "")


def _half_function(library: Library, name: str, result: Scalar, value: str) -> str:
    """Written out: a dialect may load and store float16 without having it as a type."""
    key = (name, (result,))
    source = Scalar("float16") if value else FLOAT32
    lines = [f"return {value};"]
    if not value:
        kind = name_of(result)
        lines = [f"{kind} bits;", "vstore_half(x, 0, (half*)&bits);", "return bits;"]
    if key not in library.functions:
        library.functions[key] = named(library, name, result, (("x", source),), *lines)
    return name
