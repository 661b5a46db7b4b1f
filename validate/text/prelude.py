"""What an answer may include, and what nvcc's own headers would give it, for NVRTC."""

from __future__ import annotations

from collections.abc import Collection

from validate.text.plain import HEADERS as HEADERS


def prelude(headers: Collection[str]) -> str:
    """CUDA text that stands before an answer's, of the headers that it includes."""
    return "".join(f"#include <{name}>\n" for name in sorted(headers) if name == "cuda_fp16.h")
