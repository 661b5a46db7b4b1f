"""NVRTC itself: one program's text to PTX or machine code, with its log as text.

The only file that imports cuda-bindings, and only when a function needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from validate.errors import CompileUnavailable
from validate.text.headers import cuda_include_dir

_MODULE = "cuda.bindings.nvrtc"
_REMEDY = "pip install 'cuda-bindings>=13,<14' 'nvidia-cuda-nvrtc>=13,<14'"
WARP_OPTIONS = (
    "--std=c++17",
    "-DNDEBUG",
    "-DWP_ENABLE_MATHDX=0",
    "--device-as-default-execution-space",
    "--extra-device-vectorization",
    "--restrict",
    "--disable-warnings",
)
# What is asked of NVRTC: how the architecture is written, and further options.
_GOALS = {
    # The least optimisation: whether it compiles is the question, and the front end answers it.
    "check": ("compute", ("--Ofast-compile=max",)),
    # So little is done to a long function that its registers take ten times as long to allot.
    "check_long": ("compute", ()),
    "ptx": ("compute", ()),
    "machine": ("sm", ("--ptxas-options=-v",)),
    # PTX too, and the machine code with lines of the text: neither is another for them.
    "lowered": ("sm", ("--ptxas-options=-v", "-lineinfo")),
}
LONG_CHARS = 80_000
# Plain CUDA needs neither Warp's headers nor what its text asks for, but knows float16.
PLAIN_OPTIONS = ("--std=c++17", "--disable-warnings")

_NO_MEMORY = re.compile(r"^.*error: (?:unable to obtain mapped memory|out of memory)", re.MULTILINE)


@dataclass(frozen=True)
class Built:
    """`text` is PTX (empty for the goal "machine", whose figures are in the log), None: failed;
    `image` is the machine code (a cubin) that the goal "lowered" asks for."""

    text: str | None
    log: str
    out_of_memory: bool = False
    image: bytes = b""


@lru_cache(maxsize=1)
def load() -> Any:
    """The bindings module, its library loaded. Raises CompileUnavailable."""
    try:
        module: Any = import_module(_MODULE)
        # The library itself is loaded by the first call.
        module.nvrtcVersion()
    except (ImportError, OSError, RuntimeError) as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise CompileUnavailable(f"NVRTC is missing: {_REMEDY} ({said})") from error
    return module


def nvrtc_version() -> str:
    """The version of the NVRTC library, as "13.5". Raises CompileUnavailable."""
    nvrtc = load()
    error, major, minor = nvrtc.nvrtcVersion()
    _check(nvrtc, error)
    return f"{major}.{minor}"


def is_long(row: Mapping[str, Any]) -> bool:
    """Whether Warp's text of a row is to be compiled as a long one."""
    return len(row["cuda_forward"]) + len(row["cuda_backward"] or "") > LONG_CHARS


def build(text: str, arch: str, goal: str, include_dir: Path, pch_dir: Path) -> Built:
    """Compile a program for `arch` ("sm_90"); `goal` is "check", "check_long" where a row has more
    than LONG_CHARS, "ptx", "machine" or "lowered".

    `pch_dir` keeps precompiled headers of one process, goal, architecture and prologue. Raises
    RuntimeError when NVRTC fails other than by refusing the text.
    """
    kind, more = _GOALS[goal]
    target = f"{kind}_{arch.removeprefix('sm_')}"
    options = warp_options(target, include_dir, pch_dir, more)
    return _compiled(text, "cuda_prologue", options, goal, include_dir)


def build_plain(text: str, arch: str, goal: str) -> Built:
    """Compile a program that needs nothing but CUDA for `arch` ("sm_90").

    `goal` is "check", "ptx" or "lowered", as for `build`.

    Raises CompileUnavailable without the header of float16, RuntimeError when NVRTC fails other
    than by refusing the text.
    """
    load()
    folder = cuda_include_dir()
    kind, more = _GOALS[goal]
    options = plain_options(f"{kind}_{arch.removeprefix('sm_')}", folder, more)
    return _compiled(text, "cuda_plain", options, goal, folder)


def build_answers(
    text: str,
    arch: str,
    goal: str,
    name_expressions: Sequence[str],
    small: bool = False,
    defines: Sequence[str] = (),
) -> Built:
    """As `build_plain`, for texts of strangers: warnings are kept out, templates named are made.

    The goal "machine" gives the log of ptxas in place of PTX. `small`: without textures and what
    launches kernels from kernels, which takes a third of the time of a short text.
    """
    load()
    folder = cuda_include_dir()
    kind, more = _GOALS[goal]
    target = f"{kind}_{arch.removeprefix('sm_')}"
    options = plain_options(target, folder, (*more, *(["--minimal"] if small else []), *defines))
    return _compiled(text, "answer", options, goal, folder, name_expressions)


def warp_options(
    target: str, include_dir: Path, pch_dir: Path | None, more: Sequence[str] = ()
) -> list[str]:
    """What Warp's text is compiled with for a target such as "compute_90" or "sm_90"."""
    pch = [] if pch_dir is None else ["--pch", f"--pch-dir={pch_dir}", "--pch-messages=false"]
    return [f"--gpu-architecture={target}", f"-I{include_dir}", *WARP_OPTIONS, *more, *pch]


def plain_options(target: str, include_dir: Path, more: Sequence[str] = ()) -> list[str]:
    """What plain CUDA is compiled with; the folder is that of CUDA's own headers."""
    return [f"--gpu-architecture={target}", f"-I{include_dir}", *PLAIN_OPTIONS, *more]


def cubin(
    text: str, name: str, options: Sequence[str], refused: Callable[[str], Exception]
) -> tuple[bytes, str]:
    """Machine code of a text, and its log; raises `refused(log)` when the compiler does not take
    it."""
    nvrtc = load()
    with _program(nvrtc, text, name, options) as (program, error):
        if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise refused(_read(nvrtc, program, "ProgramLog") or error.name)
        return _read_bytes(nvrtc, program, "CUBIN"), _read(nvrtc, program, "ProgramLog")


def _compiled(
    text: str,
    name: str,
    options: list[str],
    goal: str,
    include_dir: Path,
    name_expressions: Sequence[str] = (),
) -> Built:
    nvrtc = load()
    with _program(nvrtc, text, name, options, name_expressions) as (program, error):
        log = _read(nvrtc, program, "ProgramLog").replace(str(include_dir), "include")
        if error == nvrtc.nvrtcResult.NVRTC_SUCCESS:
            image = _read_bytes(nvrtc, program, "CUBIN") if goal == "lowered" else b""
            return Built(
                "" if goal == "machine" else _read(nvrtc, program, "PTX"), log, image=image
            )
        if error == nvrtc.nvrtcResult.NVRTC_ERROR_OUT_OF_MEMORY or _NO_MEMORY.search(log):
            return Built(None, log, out_of_memory=True)
        refused = (
            nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION,
            nvrtc.nvrtcResult.NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
        )
        if error not in refused:
            raise RuntimeError(f"NVRTC: {error.name}: {log}")
        return Built(None, log)


@contextmanager
def _program(
    nvrtc: Any, text: str, name: str, options: Sequence[str], name_expressions: Sequence[str] = ()
) -> Iterator[tuple[Any, Any]]:
    """A program after its compilation, and how that ended."""
    error, program = nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), 0, None, None)
    _check(nvrtc, error)
    try:
        for expression in name_expressions:
            (added,) = nvrtc.nvrtcAddNameExpression(program, expression.encode())
            _check(nvrtc, added)
        encoded = [option.encode() for option in options]
        (error,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        yield program, error
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _read(nvrtc: Any, program: Any, what: str) -> str:
    return _read_bytes(nvrtc, program, what).rstrip(b"\0").decode(errors="replace")


def _read_bytes(nvrtc: Any, program: Any, what: str) -> bytes:
    error, size = getattr(nvrtc, f"nvrtcGet{what}Size")(program)
    _check(nvrtc, error)
    data = bytearray(size)
    (error,) = getattr(nvrtc, f"nvrtcGet{what}")(program, data)
    _check(nvrtc, error)
    return bytes(data)


def _check(nvrtc: Any, error: Any) -> None:
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"NVRTC: {error.name}")
