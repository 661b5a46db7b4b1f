"""The C++ text that runs the kernels of several rows on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from validate.row.adjoint import has_adjoint
from validate.row.tiles import is_tiled, with_blocks_of_one
from validate.text.warp_calls import Call, SharedCalls, functions_of, kernel_of

SHIMS = ("shim.h", "watch.h")


@lru_cache(maxsize=1)
def shim() -> str:
    """The texts of the shim headers, one after the other."""
    folder = files("validate.host")
    return "".join(
        f'\n#line 1 "{name}"\n{folder.joinpath(name).read_text(encoding="utf-8")}' for name in SHIMS
    )


def translation_unit(rows: Sequence[Mapping[str, Any]]) -> str:
    """One translation unit for rows that share a `cuda_prologue`.

    Position i gives the C functions that `validate.host.launch.Entry` names, for the forward kernel
    and, where it can be judged, for the backward kernel. Several rows get a namespace each, so that
    their helpers may share names; a row alone is compiled as it stands. `#line` names the columns,
    so that the compiler's log speaks of the row's own texts.
    """
    parts = [_start(_prologue(rows))]
    for position, row in enumerate(rows):
        parts.append(_section(position, row, alone=len(rows) == 1))
    return "".join(parts)


def shared_unit(rows: Sequence[Mapping[str, Any]]) -> tuple[str, list[Call]]:
    """The same for several rows whose calls of Warp's functions are made elsewhere.

    They are made by `functions_unit` for these kinds of call: before a kernel is called,
    `pairsmith_connect` must be handed their addresses, in this order.
    """
    shared = SharedCalls()
    sections = [
        _section(position, shared.rewritten(row), alone=False) for position, row in enumerate(rows)
    ]
    return _start(_prologue(rows)) + shared.table() + "".join(sections), shared.calls


def functions_unit(prologue: str, calls: Sequence[Call]) -> str:
    """The translation unit of functions that make calls of Warp's functions."""
    return _start(prologue) + functions_of(calls)


def _prologue(rows: Sequence[Mapping[str, Any]]) -> str:
    """The prologue that rows share, with blocks of one thread where there are tiles among them."""
    prologue: str = rows[0]["cuda_prologue"]
    return with_blocks_of_one(prologue) if any(map(is_tiled, rows)) else prologue


def _start(prologue: str) -> str:
    return f'#line 1 "cuda_prologue"\n{prologue}{shim()}'


def directions(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The kernels of a row to run: "forward" and, if it can be judged, "backward"."""
    return ("forward", "backward") if has_adjoint(row) else ("forward",)


def _section(position: int, row: Mapping[str, Any], *, alone: bool) -> str:
    # extern "C" functions of one name are one function in all namespaces: rename the kernels.
    symbols = {
        f"{row['kernel_name']}_cuda_kernel_{direction}": f"pairsmith_{direction}_kernel_{position}"
        for direction in directions(row)
    }
    space = "" if alone else f"pairsmith_row_{position}"
    texts = [f'#line 1 "cuda_helpers"\n{row["cuda_helpers"]}\n']
    texts += [f'#line 1 "cuda_{d}"\n{row[f"cuda_{d}"]}\n' for d in directions(row)]
    return (
        "\n"
        + "".join(f"#define {symbol} {kernel}\n" for symbol, kernel in symbols.items())
        + (f"namespace {space} {{\n" if space else "")
        + "".join(texts)
        + '#line 1 "host_calls"\n'
        + "".join(f"#undef {symbol}\n" for symbol in symbols)
        + "".join(_calls(position, way, row[f"cuda_{way}"], space) for way in directions(row))
        + ("}\n" if space else "")
    )


def _calls(position: int, direction: str, text: str, space: str) -> str:
    """What calls a kernel, and what says which parameters it takes.

    In a namespace of its own the text names its types as the kernel does. Where it cannot be read
    so, templates find them out, at three times the compiler's time.
    """
    kernel = f"pairsmith_{direction}_kernel_{position}"
    called = f"pairsmith::call({kernel}, values, threads)"
    described = f"pairsmith::describe({kernel}, signature)"
    named = ""
    if space and (taken := kernel_of(text)):
        types = [f"wp::launch_bounds_t<{taken.dimensions}>", *taken.types]
        values = ", ".join(f"*static_cast<{t}*>(values[{n}])" for n, t in enumerate(types))
        sizes = ", ".join(f"sizeof({name})" for name in taken.types) or "0"
        named = (
            f"static void once_{kernel}(void** values) {{ {kernel}({values}); }}\n"
            f"static const unsigned int sizes_{kernel}[] = {{ {sizes} }};\n"
        )
        called = f"pairsmith::call_each(once_{kernel}, values, threads)"
        described = (
            f"pairsmith::describe_as({taken.dimensions}, {len(taken.types)}, sizes_{kernel}, "
            "signature)"
        )
    return (
        f'{named}extern "C" int pairsmith_{direction}_{position}'
        "(void** values, unsigned long long threads, pairsmith::watch_t* watch)\n"
        f"{{ pairsmith::now->watch = watch; return {called}; }}\n"
        f'extern "C" void pairsmith_{direction}_signature_{position}'
        "(pairsmith::signature_t* signature)\n"
        f"{{ {described}; }}\n"
    )
