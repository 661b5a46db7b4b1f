"""The whole text of a matrix product."""

from __future__ import annotations

from synth.lower.gemm import mma, parts, simt, wgmma
from synth.lower.gemm.plan import Gemm


def text(g: Gemm) -> str:
    """CUDA C++ that needs nothing but CUDA."""
    body = {"simt": simt, "mma": mma, "wgmma": wgmma}[g.core].text(g)
    lines = [
        *parts.heading(g),
        "",
        *parts.includes(g),
        *parts.constants(g),
        *parts.device_functions(g),
        *body,
        *parts.add_kernel(g),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"
