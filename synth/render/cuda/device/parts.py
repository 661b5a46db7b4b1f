"""Device functions that reach, fill and convert the parts of composites by number."""

from __future__ import annotations

from collections.abc import Callable

from generators.program.dtypes import INT32, Type, scalar_of
from synth.render.cuda.device.functions import Library, built, written
from synth.render.cuda.types import name_of, parts


def made(library: Library, key: str, type_: Type, make: Callable[[str], str]) -> str:
    if (key, (type_,)) not in library.functions:
        library.functions[(key, (type_,))] = make(key)
    return library.spelled(key)


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


def setter(library: Library, type_: Type) -> str:
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
        lambda n: written(library, n, type_, (("x", scalar),), f"return {value};"),
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
