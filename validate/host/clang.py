"""Warp's bundled Clang and its loader: C++ text to machine code that this process can call.

The only file of this package that touches `warp._src`.
"""

from __future__ import annotations

import ctypes
import re
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from validate.errors import HostRunUnavailable
from validate.host.kept import folder_of_headers, made_once
from validate.text.headers import warp_include_dir

# No FMA contraction and no optimisation: the same bits everywhere, and the fastest build.
_OPTIMISATION_LEVEL = 0
_FLAGS = ("-w",)
_COMPILE_PARAMETERS = 14
_KNOWN = "1.19."


class CompileError(Exception):
    """Clang refused the text. What it said went to the process's standard error."""


class LoadError(Exception):
    """An object file could not be loaded, or a symbol is not in it."""


@lru_cache(maxsize=1)
def _library() -> Any:
    """Warp's library of Clang, with the types of its functions.

    Of a version whose functions are known here it is loaded without Warp, whose start takes a
    second and some hundred MB that a process which only compiles has no use for.
    """
    try:
        version = metadata.version("warp-lang")
    except metadata.PackageNotFoundError:
        raise HostRunUnavailable("Warp is missing: pip install warp-lang") from None
    folder = warp_include_dir().parent / "bin"
    if version.startswith(_KNOWN) and (folder / "warp-clang.so").is_file():
        return _typed(ctypes.CDLL(str(folder / "warp.so")), folder / "warp-clang.so")
    return _library_of_warp(version)


def _typed(core: Any, path: Path) -> Any:
    library: Any = ctypes.CDLL(str(path))
    text, flag, number = ctypes.c_char_p, ctypes.c_bool, ctypes.c_int
    # The loader asks for what Warp's own library gives to kernels.
    core.wp_cpu_block_runtime_get_api.restype = ctypes.c_void_p
    library.wp_llvm_set_cpu_block_runtime.argtypes = [ctypes.c_void_p]
    if not library.wp_llvm_set_cpu_block_runtime(core.wp_cpu_block_runtime_get_api()):
        raise HostRunUnavailable("the two libraries of Warp do not fit each other")
    library.wp_compile_cpp.argtypes = [
        *(text, text, text, text),
        *(flag, flag, flag, flag),
        *(ctypes.POINTER(text), number, flag, flag, text, number),
    ]
    library.wp_compile_cpp.restype = number
    library.wp_load_obj.argtypes, library.wp_load_obj.restype = [text, text, flag], number
    library.wp_lookup.argtypes, library.wp_lookup.restype = [text, text], ctypes.c_uint64
    library.wp_unload_obj.argtypes, library.wp_unload_obj.restype = [text], number
    return library


def _library_of_warp(version: str) -> Any:
    """The same by way of Warp itself, which knows the types."""
    warp: Any = import_module("warp")
    context: Any = import_module("warp._src.context")
    warp.init()
    library = context.runtime.llvm
    if library is None:
        raise HostRunUnavailable("this build of Warp comes without Clang")
    parameters = len(library.wp_compile_cpp.argtypes)
    if parameters != _COMPILE_PARAMETERS:
        # Calling it regardless would corrupt memory.
        raise HostRunUnavailable(
            f"Warp {version}: wp_compile_cpp takes {parameters} parameters, "
            f"only the form with {_COMPILE_PARAMETERS} is known here"
        )
    return library


def start() -> None:
    """Load the library, which `build` otherwise does. Raises HostRunUnavailable."""
    _library()


def make_precompiled_header(include_dir: Path, pch_dir: Path, block_dim: int) -> Path:
    """Precompile `builtin.h` of `include_dir` for one tile block size; returns the file.

    That of the installed Warp is kept in the user's cache, others in `pch_dir`, which must belong
    to one process and one `include_dir`. Takes seconds; an existing file is returned at once.
    Raises HostRunUnavailable when the headers do not compile.
    """
    return precompile(include_dir, folder_of_headers(include_dir) or pch_dir, _FLAGS, block_dim)


def precompile(
    include_dir: Path, pch_dir: Path, flags: tuple[str, ...], block_dim: int = 256
) -> Path:
    """The same for any `builtin.h`, with flags of Clang's front end, kept in `pch_dir`."""

    def make(folder: Path) -> Path:
        _compile("", folder / "empty.o", include_dir, ("-w", *flags), block_dim, folder)
        # Warp goes on without one when its headers do not compile.
        made = list(folder.glob("*.pch"))
        if len(made) != 1:
            raise HostRunUnavailable(f"the headers in {include_dir} do not compile")
        return made[0]

    return made_once(pch_dir / f"builtin_{block_dim}.pch", make)


def build(cpp_text: str, obj_path: Path, include_dir: Path, pch_dir: Path) -> None:
    """Compile C++ text that starts with a row's prologue to an object file.

    The precompiled header for the prologue's block size is made in `pch_dir` when it is missing.
    Raises CompileError; the log is on standard error (file descriptor 2).
    """
    match = re.search(r"^#define WP_TILE_BLOCK_DIM (\d+)", cpp_text, re.MULTILINE)
    block_dim = int(match[1]) if match else 256
    header = make_precompiled_header(include_dir, pch_dir, block_dim)
    # Named by us and not through Warp's own option: after an error Warp would delete the header,
    # compile everything once more without it, and print the log twice.
    _compile(
        cpp_text, obj_path, include_dir, (*_FLAGS, "-include-pch", str(header)), block_dim, None
    )


def build_bare(cpp_text: str, obj_path: Path, flags: tuple[str, ...]) -> None:
    """Compile C++ text that needs no header to an object file, with flags as Clang's front end
    takes them. Raises CompileError, as `build` does."""
    _compile(cpp_text, obj_path, obj_path.parent, (*_FLAGS, *flags), 256, None)


def build_fast(cpp_text: str, obj_path: Path) -> None:
    """Compile C++ text of our own, that needs no header, with optimisation.

    Raises HostRunUnavailable when it does not compile.
    """
    try:
        _compile(cpp_text, obj_path, obj_path.parent, _FLAGS, 256, None, optimisation_level=2)
    except CompileError as error:
        raise HostRunUnavailable(f"the runtime for plain CUDA does not compile: {error}") from None


def load(obj_path: Path, handle: str) -> None:
    """Load an object file under a name of the caller's choice. Raises LoadError."""
    if _library().wp_load_obj(str(obj_path).encode(), handle.encode(), False) != 0:
        raise LoadError(f"{obj_path.name} does not load")


def lookup(handle: str, symbol: str) -> int:
    """The address of an `extern "C"` symbol of a loaded object. Raises LoadError."""
    address = int(_library().wp_lookup(handle.encode(), symbol.encode()))
    if not address:
        raise LoadError(f"no symbol {symbol}")
    return address


def unload(handle: str) -> None:
    """Free a loaded object; its addresses are invalid from here on."""
    _library().wp_unload_obj(handle.encode())


def _compile(
    text: str,
    obj_path: Path,
    include_dir: Path,
    flags: tuple[str, ...],
    block_dim: int,
    pch_dir: Path | None,
    optimisation_level: int = _OPTIMISATION_LEVEL,
) -> None:
    source = obj_path.with_suffix(".cpp")
    arguments = (ctypes.c_char_p * (len(flags) + 1))(*[flag.encode() for flag in flags], None)
    failed = _library().wp_compile_cpp(
        text.encode(),
        source.name.encode(),
        str(include_dir).encode(),
        str(obj_path).encode(),
        False,  # debug
        False,  # verify_fp
        False,  # fuse_fp
        True,  # tiles in stack memory
        arguments,
        optimisation_level,
        False,  # verbose
        pch_dir is not None,
        str(pch_dir).encode() if pch_dir is not None else None,
        block_dim,
    )
    if failed:
        raise CompileError(f"error code {failed}")
