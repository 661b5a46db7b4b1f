"""Where the kernels are in a CUDA module text, and the clean text of each.

Pure text work on the standard library: nothing here knows Warp, files or GPUs.
"""

from extract.errors import ExtractError
from extract.module import Kernel, ModuleText, extract_module

__all__ = ["ExtractError", "Kernel", "ModuleText", "extract_module"]
