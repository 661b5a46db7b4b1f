"""Errors that are not a row's fault."""


class HostRunUnavailable(RuntimeError):  # noqa: N818
    """Warp's compiler is not there, is not one known here, or cannot read the headers given."""


class CompileUnavailable(RuntimeError):  # noqa: N818
    """NVRTC, its Python bindings or Warp's headers are missing; it says what to install."""


class GpuUnavailable(RuntimeError):  # noqa: N818
    """No GPU, no CuPy, or no headers to compile rows with; it says what to do."""


class MachineFault(RuntimeError):  # noqa: N818
    """The machine gives too little of what work needs, or takes it away; it says what to do."""


class OpenclUnavailable(RuntimeError):  # noqa: N818
    """PyOpenCL or a runtime for the CPU is missing; it says what to install."""
