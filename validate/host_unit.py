"""The C++ text that runs the forward kernels of several rows on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=1)
def shim() -> str:
    """The text of `host_shim.h`."""
    return files("validate").joinpath("host_shim.h").read_text(encoding="utf-8")


def translation_unit(rows: Sequence[Mapping[str, Any]]) -> str:
    """One translation unit for rows that share a `cuda_prologue`.

    Position i gives the C functions `pairsmith_call_<i>(void** values)`, which launches the
    kernel, and `pairsmith_signature_<i>(signature_t*)`. Several rows get a namespace each, so that
    their helpers may share names; a row alone is compiled as it stands. `#line` names the columns,
    so that the compiler's log speaks of the row's own texts.
    """
    parts = [
        '#line 1 "cuda_prologue"\n',
        rows[0]["cuda_prologue"],
        '\n#line 1 "host_shim.h"\n',
        shim(),
    ]
    for position, row in enumerate(rows):
        parts.append(_section(position, row, alone=len(rows) == 1))
    return "".join(parts)


def _section(position: int, row: Mapping[str, Any], *, alone: bool) -> str:
    # extern "C" functions of one name are one function whatever their namespace: rename the kernel.
    symbol = f"{row['kernel_name']}_cuda_kernel_forward"
    kernel = f"pairsmith_kernel_{position}"
    space = "" if alone else f"pairsmith_row_{position}"
    return (
        f"\n#define {symbol} {kernel}\n"
        + (f"namespace {space} {{\n" if space else "")
        + f'#line 1 "cuda_helpers"\n{row["cuda_helpers"]}\n'
        + f'#line 1 "cuda_forward"\n{row["cuda_forward"]}\n'
        + ("}\n" if space else "")
        + f'#line 1 "host_calls"\n#undef {symbol}\n'
        + f'extern "C" void pairsmith_call_{position}(void** values)\n'
        + f"{{ pairsmith::call({space}::{kernel}, values); }}\n"
        + f'extern "C" void pairsmith_signature_{position}(pairsmith::signature_t* signature)\n'
        + f"{{ pairsmith::describe({space}::{kernel}, signature); }}\n"
    )
