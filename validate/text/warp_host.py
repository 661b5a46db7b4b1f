"""The C++ text that runs the kernels of several rows on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from validate.row.adjoint import has_adjoint

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
    parts = ['#line 1 "cuda_prologue"\n', rows[0]["cuda_prologue"], shim()]
    for position, row in enumerate(rows):
        parts.append(_section(position, row, alone=len(rows) == 1))
    return "".join(parts)


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
        + ("}\n" if space else "")
        + '#line 1 "host_calls"\n'
        + "".join(f"#undef {symbol}\n" for symbol in symbols)
        + "".join(_calls(position, direction, space) for direction in directions(row))
    )


def _calls(position: int, direction: str, space: str) -> str:
    kernel = f"{space}::pairsmith_{direction}_kernel_{position}"
    return (
        f'extern "C" int pairsmith_{direction}_{position}'
        "(void** values, unsigned long long threads, pairsmith::watch_t* watch)\n"
        f"{{ pairsmith::watch = watch; return pairsmith::call({kernel}, values, threads); }}\n"
        f'extern "C" void pairsmith_{direction}_signature_{position}'
        "(pairsmith::signature_t* signature)\n"
        f"{{ pairsmith::describe({kernel}, signature); }}\n"
    )
