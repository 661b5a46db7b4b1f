"""Warp Python to CUDA module text, on a host with or without a GPU.

This file, ``synth.codegen.overloads`` and ``synth.codegen.shortcuts`` hold all that depends on
Warp's private modules for translation. Warp is imported by the first ``Translator``, not by
importing this file.
"""

import importlib.metadata
import inspect
import io
import linecache
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from types import ModuleType
from typing import Any

from synth.codegen.overloads import OverloadMemo
from synth.codegen.shortcuts import TypeShortcuts
from synth.errors import UnsupportedWarpError

_OLDEST, _TOO_NEW = (1, 17), (1, 20)
# One name for all rows: `inspect` spends longer on each module name that it has not met.
_MODULE_NAME = "pairsmith_row"
_FILE_NAME = "<pairsmith row>"
# Warp's plain import defines functions in these two; a later import of `warp.fem` or of a user's
# module adds more, which must not reach the numbers in a row's text.
_LIBRARY_MODULES = ("warp.math", "warp.utils")
# Module options as a row's source finds them, whatever `warp.config` says; it may set its own.
_OPTIONS: dict[str, Any] = {
    "strip_hash": True,
    "max_unroll": 16,
    "fast_math": False,
    "fuse_fp": True,
    "lineinfo": False,
    "mode": "release",
    "optimization_level": None,
    "block_dim": 256,
    "default_grid_stride": True,
}
# Resolved options that come from `warp.config` alone. An architecture would start link-time
# compilation inside the builder.
_RESOLVED: dict[str, Any] = {
    "output_arch": None,
    "enable_vector_component_overwrites": False,
    "verify_autograd_array_access": False,
}


class CodegenError(RuntimeError):
    """Warp refused a source that pairsmith made.

    Attributes:
        kernel_name: the kernel asked for.
        source: the Warp Python text that was refused.
    """

    def __init__(self, message: str, kernel_name: str, source: str) -> None:
        super().__init__(f"kernel {kernel_name}: {message}\n{source}")
        self.message = message
        self.kernel_name = kernel_name
        self.source = source

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.kernel_name, self.source)


def check_warp_version(version: str | None = None) -> None:
    """Check that Warp is one of the versions supported, without importing it.

    Args:
        version: the version to judge; None asks for the one installed.

    Raises:
        UnsupportedWarpError: one line that says what was found and what to install.
    """
    need = 'install one with: pip install "warp-lang>=1.17,<1.20"'
    if version is None:
        try:
            version = importlib.metadata.version("warp-lang")
        except importlib.metadata.PackageNotFoundError:
            raise UnsupportedWarpError(f"warp-lang is not installed; {need}") from None
    match = re.match(r"(\d+)\.(\d+)(?!\d)", version)
    if not match or not _OLDEST <= (int(match[1]), int(match[2])) < _TOO_NEW:
        raise UnsupportedWarpError(f"warp-lang {version} is not supported; {need}")


def bundled_nvrtc() -> str:
    """Version of the NVRTC that Warp brings along, such as ``13.4``; "" when it does not say."""
    import warp
    import warp._src.context

    warp.config.log_level = max(warp.config.log_level, warp.LOG_ERROR)
    warp.init()
    found = getattr(warp._src.context.runtime, "toolkit_version", None)
    return ".".join(map(str, found)) if found else ""


class Translator:
    """Turns Warp Python of one kernel into the text of a CUDA module.

    The text of a source depends on that source and the Warp version alone: not on what was
    translated before it, nor on how sources are grouped. Not for use from several threads, since
    Warp's code generation is not; use processes.

    Args:
        backward: also generate the adjoint kernel.
        memoise: keep the overloads that Warp chose; the text is the same, made faster.

    Attributes:
        memo_active: whether overloads are kept: False when ``memoise`` is, or when this Warp does
            not resolve overloads in the way known here.

    Raises:
        UnsupportedWarpError: see ``check_warp_version``.
    """

    def __init__(self, *, backward: bool = True, memoise: bool = True) -> None:
        check_warp_version()
        import warp
        import warp._src.codegen
        import warp._src.context
        import warp._src.types

        # Warp's runtime, which float16 structs start, greets on stdout and warns that there is no
        # driver, which is the normal case here
        warp.config.log_level = max(warp.config.log_level, warp.LOG_ERROR)
        self._warp = warp
        self._context = warp._src.context
        self._options = _OPTIONS | {"enable_backward": backward}
        self._memo = OverloadMemo(
            warp._src.codegen, warp._src.types, self._context.builtin_functions
        )
        self._shortcuts = TypeShortcuts(warp._src.codegen, warp._src.types)
        self.memo_active = memoise and self._memo.active
        builder = inspect.signature(self._context.ModuleBuilder.__init__).parameters
        self._builder_options = {"target": "cuda"} if "target" in builder else {}
        self._counts = _library_counts(self._context)

    def translate(self, source: str, kernel_name: str) -> str:
        """Return the CUDA module text of ``source``.

        Args:
            source: a complete Warp module with one kernel.
            kernel_name: the name of that kernel.

        Raises:
            CodegenError: Warp refused the source, or it holds another kernel or several.
        """
        return self.translate_batch([(source, kernel_name)])[0]

    def translate_batch(self, items: Sequence[tuple[str, str]]) -> list[str]:
        """Return the CUDA module text of each (source, kernel name), in order.

        Raises:
            CodegenError: see ``translate``; the whole batch fails.
        """
        with ExitStack() as patches:
            if self.memo_active:
                patches.enter_context(self._memo.installed())
                patches.enter_context(self._shortcuts.installed())
            return [self._translate_one(source, kernel_name) for source, kernel_name in items]

    def _translate_one(self, source: str, kernel_name: str) -> str:
        # Names of functions carry a number that counts their namesakes in the whole process.
        counts = self._context.function_key_counts
        outer_counts = dict(counts)
        _replace(counts, self._counts)
        # Python's own idea of a line, not that of `str.splitlines`
        lines = io.StringIO(source).readlines()
        linecache.cache[_FILE_NAME] = (len(source), None, lines, _FILE_NAME)
        sys.modules[_MODULE_NAME] = ModuleType(_MODULE_NAME)
        try:
            return self._generate(source, kernel_name)
        except Exception as error:
            # whatever Warp or Python raises on the source is a fault of the source
            message = f"{type(error).__name__}: {error}"
            raise CodegenError(message, kernel_name, source) from error
        finally:
            self._release()
            _replace(counts, outer_counts)

    def _generate(self, source: str, kernel_name: str) -> str:
        module = self._context.Module(_MODULE_NAME, None)
        self._context.user_modules[_MODULE_NAME] = module
        module.options.update({k: v for k, v in self._options.items() if k in module.options})
        namespace: dict[str, Any] = {"__name__": _MODULE_NAME}
        exec(compile(source, _FILE_NAME, "exec", dont_inherit=True), namespace)
        # Warp holds its kernels weakly: this list keeps them until the text is made.
        kernels = [value for value in namespace.values() if isinstance(value, self._warp.Kernel)]
        _check_alone(kernels, kernel_name)
        options = module.resolve_options(self._warp.config) | _RESOLVED
        hasher = self._context.ModuleHasher(kernels, options)
        builder = self._context.ModuleBuilder(module, options, hasher, **self._builder_options)
        _check_alone(builder.kernels, kernel_name)
        text: str = builder.codegen("cuda")
        return text

    def _release(self) -> None:
        """Let go of all that Warp and Python keep about the row."""
        linecache.cache.pop(_FILE_NAME, None)
        sys.modules.pop(_MODULE_NAME, None)
        module = self._context.user_modules.pop(_MODULE_NAME, None)
        if module is not None:
            module._detach_references()


def _check_alone(kernels: Sequence[Any], kernel_name: str) -> None:
    found = [kernel.key for kernel in kernels]
    if found != [kernel_name]:
        raise ValueError(f"expected this kernel and no other, found: {', '.join(found) or 'none'}")


def _replace(target: dict[str, int], content: dict[str, int]) -> None:
    target.clear()
    target.update(content)


def _library_counts(context: ModuleType) -> dict[str, int]:
    """Return what Warp's function counters are right after ``import warp``.

    They are worked out from the library's own functions, because the counters themselves may have
    moved on before the first ``Translator`` was made.
    """
    counts: dict[str, int] = {}
    for name in _LIBRARY_MODULES:
        for function in context.user_modules[name].functions.values():
            overloads = (*function.user_overloads.values(), *function.user_templates.values())
            for overload in (function, *overloads):
                key, _, number = overload.native_func.rpartition("_")
                counts[key] = max(counts.get(key, 0), int(number) + 1)
    return counts
