"""Kernels of modules that people wrote: found as they are registered, translated one by one.

With ``synth.codegen.translator`` the only file of this package that touches Warp's private modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from synth.codegen.translator import check_warp_version

# As in `synth.codegen.translator`: an architecture would start link-time compilation inside the
# builder.
_RESOLVED = {"output_arch": None}
# Options that say where and how fast Warp builds, not what a kernel means.
_NO_MEANING = frozenset({"strip_hash", "cuda_output", "compile_time_trace", "extra_build_options"})

# Settings that are this process's and not a module's; Warp fills in the first when it starts.
_OF_PROCESS = frozenset({"kernel_cache_dir", "log_level"})


@dataclass(frozen=True)
class Generated:
    """CUDA of one kernel as it stands in its module.

    Attributes:
        text: the module text, with the kernel alone.
        helpers: (name in ``text``, plain name) of each device function, in order of emission.
    """

    text: str
    helpers: tuple[tuple[str, str], ...]


class WarpModules:
    """What Warp knows about the modules of this process.

    Raises:
        UnsupportedWarpError: see ``synth.codegen.translator.check_warp_version``.
    """

    def __init__(self) -> None:
        check_warp_version()
        import warp
        import warp._src.codegen
        import warp._src.context

        warp.config.log_level = max(warp.config.log_level, warp.LOG_ERROR)
        self.warp = warp
        self._context: ModuleType = warp._src.context
        self._struct = warp._src.codegen.Struct
        self._default_options = dict(self._context.Module("defaults", None).options)

    @contextmanager
    def recorded(self) -> Iterator[list[Any]]:
        """Yield a list that gains every kernel registered inside the block.

        Warp holds kernels weakly, and a closure made in a loop hides those made before it: the
        list keeps them all, in order.
        """
        found: list[Any] = []
        stock = self._context.Module.register_kernel

        def register_kernel(module: Any, kernel: Any) -> None:
            found.append(kernel)
            stock(module, kernel)

        self._context.Module.register_kernel = register_kernel
        try:
            yield found
        finally:
            self._context.Module.register_kernel = stock

    def settings(self) -> dict[str, Any]:
        """The values of ``warp.config`` that a module may change as it is imported."""
        own = vars(self.warp.config)
        return {k: v for k, v in own.items() if not k.startswith("_") and k not in _OF_PROCESS}

    def restore_settings(self, settings: dict[str, Any]) -> None:
        """Give ``warp.config`` these values again."""
        vars(self.warp.config).update(settings)

    def is_struct(self, value: object) -> bool:
        """Whether a value is what ``@wp.struct`` returns."""
        return isinstance(value, self._struct)

    def is_function(self, value: object) -> bool:
        """Whether a value is a Warp function, builtin or a user's."""
        return isinstance(value, self._context.Function)

    def module_options(self, kernel: Any) -> dict[str, Any]:
        """The options of the kernel's module that are not Warp's defaults, but for its build."""
        options = kernel.module.options
        return {
            name: value
            for name, value in options.items()
            if name not in _NO_MEANING and value != self._default_options.get(name)
        }

    def generate(self, kernel: Any, name: str) -> Generated:
        """Translate one concrete kernel where it stands, under another name.

        Whatever Warp raises on the kernel is let through.
        """
        module, key = kernel.module, kernel.key
        stripped = module.options["strip_hash"]
        kernel.key, module.options["strip_hash"] = name, True
        try:
            options = module.resolve_options(self.warp.config) | _RESOLVED
            hasher = self._context.ModuleHasher([kernel], options)
            builder = self._context.ModuleBuilder(module, options, hasher, target="cuda")
            text: str = builder.codegen("cuda")
        finally:
            kernel.key, module.options["strip_hash"] = key, stripped
            kernel.hash = None
        helpers = [
            (f.native_func, f.func.__name__) for f in builder.functions if f.func is not None
        ]
        return Generated(text, tuple(dict.fromkeys(helpers)))

    def launch_alone(self, kernel: Any, dim: tuple[int, ...], inputs: list[Any]) -> None:
        """Launch a kernel on Warp's CPU device, out of a module that holds nothing else.

        Multiplications and additions are not fused, so that a compiler without that freedom
        finds the same bits. The kernel stays in its new module: for a process that ends after it.
        """
        # Warp tells loaded modules apart by name: not that of the one loaded by `prepare_cpu`
        module = self._context.Module(f"harvest_{kernel.key}", None)
        module.options.update(kernel.module.options)
        module.options.update({"fuse_fp": False, "strip_hash": False})
        self._context.user_modules[module.name] = module
        kernel.module, kernel.hash = module, None
        module.register_kernel(kernel)
        self.warp.launch(kernel, dim=dim, inputs=inputs, device="cpu")

    def prepare_cpu(self) -> None:
        """Start Warp and its compiler, so that processes forked from here find both warm."""
        self.warp.init()
        kernel = self.warp.Kernel(
            _nothing, key="nothing", module=self._context.Module("warm", None)
        )
        self.launch_alone(kernel, (1,), [0])


def _nothing(i: int) -> None:
    pass
