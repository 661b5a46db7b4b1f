"""Where the headers are that texts are compiled with: Warp's and CUDA's, neither imported."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from validate.errors import CompileUnavailable

_HEADERS = frozenset({".h", ".cuh", ".hpp"})
_REMEDY = "pip install 'nvidia-cuda-runtime>=13,<14'"


def warp_include_dir() -> Path:
    """The folder of the installed Warp's headers. Raises CompileUnavailable without Warp."""
    spec = find_spec("warp")
    if spec is None or spec.origin is None:
        raise CompileUnavailable("Warp's headers are missing: pip install warp-lang")
    return Path(spec.origin).parent / "native"


def headers_below(folder: Path) -> list[Path]:
    """All headers below a folder, as paths from there, in their order."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.suffix in _HEADERS)
    return sorted(found)


@lru_cache(maxsize=1)
def cuda_include_dir() -> Path:
    """The folder of CUDA's headers that NVIDIA's own finder knows, from a wheel or a toolkit.

    Of them `cuda_fp16.h` is needed. Raises CompileUnavailable.
    """
    return _with_headers(_found_by_nvidia(), _REMEDY)


@lru_cache(maxsize=1)
def toolkit_include_dir() -> Path:
    """The same where a GPU is: what CUDA_PATH names comes first, /usr/local/cuda last."""
    named = [Path(os.environ["CUDA_PATH"]) / "include"] if "CUDA_PATH" in os.environ else []
    usual = Path("/usr/local/cuda/include")
    return _with_headers([*named, *_found_by_nvidia(), usual], f"{_REMEDY}, or set CUDA_PATH")


def _found_by_nvidia() -> list[Path]:
    if find_spec("cuda") is None or find_spec("cuda.pathfinder") is None:
        return []
    pathfinder: Any = import_module("cuda.pathfinder")
    found = pathfinder.find_nvidia_header_directory("cudart")
    return [Path(found)] if found else []


def _with_headers(folders: list[Path], remedy: str) -> Path:
    for folder in folders:
        if (folder / "cuda_fp16.h").is_file():
            return folder
    raise CompileUnavailable(f"cuda_fp16.h is missing: {remedy}")
