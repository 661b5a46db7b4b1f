"""What an answer may include, and what nvcc's own headers would give it, for NVRTC.

nvcc reads `cuda_runtime.h` before a text, and with it much of the C library; NVRTC reads nothing.
What is here was compared with nvcc 13 over GCC 12: a name that a text has there with its headers
it has here too, and most of what it lacks there it lacks here. Where GCC's versions differ, it is
there. Of two things nvcc is stricter: `std::numeric_limits<T>::max()` and its like outside
constants, and `std::` names that need a header (`cstring`, `cstdio`), are taken without it here.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from importlib.resources import files


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_C = _names(
    """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
    signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn
    string tgmath threads time uchar wchar wctype
    """
)
_CXX = _names(
    """
    algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv
    cfloat charconv chrono cinttypes ciso646 climits clocale cmath codecvt compare
    complex concepts condition_variable coroutine csetjmp csignal cstdalign cstdarg
    cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar cwctype
    deque exception execution filesystem format forward_list fstream functional future
    initializer_list iomanip ios iosfwd iostream istream iterator latch limits list
    locale map memory memory_resource mutex new numbers numeric optional ostream queue
    random ranges ratio regex scoped_allocator semaphore set shared_mutex
    source_location span sstream stack stdexcept stop_token streambuf string string_view
    syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version
    """
)
_POSIX = frozenset({"sys/time.h", "sys/types.h", "unistd.h"})
_CUDA = frozenset(
    {
        *("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda_device_runtime_api.h"),
        *("cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.h", "cuda_bf16.hpp", "cuda_profiler_api.h"),
        *("cuComplex.h", "math_constants.h", "math_functions.h", "device_functions.h"),
        *("device_launch_parameters.h", "device_atomic_functions.h", "vector_types.h"),
        *("vector_functions.h", "sm_20_atomic_functions.h", "sm_20_intrinsics.h"),
        *("sm_30_intrinsics.h", "sm_32_atomic_functions.h", "sm_32_intrinsics.h"),
        *("sm_35_atomic_functions.h", "sm_35_intrinsics.h", "sm_60_atomic_functions.h"),
        *("sm_61_intrinsics.h", "builtin_types.h", "driver_types.h", "host_defines.h"),
        *("common_functions.h", "channel_descriptor.h", "library_types.h", "nvtx3/nvToolsExt.h"),
        *("cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h"),
        *("helper_cuda.h", "helper_functions.h", "cublas_v2.h", "curand.h", "cufft.h"),
        *("cusparse.h", "cudnn.h", "nvToolsExt.h"),
    }
)
_TORCH = frozenset(
    {
        *("torch/extension.h", "torch/torch.h", "torch/types.h", "torch/all.h", "torch/script.h"),
        *("torch/library.h", "ATen/ATen.h", "ATen/cuda/CUDAContext.h", "ATen/cuda/Exceptions.h"),
        *(
            "ATen/Dispatch.h",
            "ATen/AccumulateType.h",
            "ATen/cuda/CUDAUtils.h",
            "ATen/core/Tensor.h",
        ),
        *("ATen/OpMathType.h", "ATen/NumericUtils.h", "ATen/native/cuda/KernelUtils.cuh"),
        *("c10/cuda/CUDAException.h", "c10/cuda/CUDAGuard.h", "c10/cuda/CUDAStream.h"),
        *("c10/cuda/CUDAFunctions.h", "c10/cuda/CUDAMathCompat.h", "c10/macros/Macros.h"),
        *("c10/util/Half.h", "c10/util/BFloat16.h", "c10/util/Exception.h", "c10/util/Optional.h"),
        *("pybind11/pybind11.h", "pybind11/numpy.h", "pybind11/stl.h", "Python.h"),
    }
)

HEADERS: frozenset[str] = frozenset({f"{name}.h" for name in _C} | _CXX | _POSIX | _CUDA | _TORCH)
"""Names of headers that an answer may include. None is read: those of the C++ library and of
PyTorch stand there for host code, which is not compiled."""

# What headers bring with them, by the text of ours or the header of CUDA that stands for it.
_GROUPS = frozenset(name for name in _CUDA if name.startswith("cooperative_groups"))
_STREAMS = _names(
    """
    string iostream istream ostream iomanip ios iosfwd sstream fstream streambuf memory
    random chrono complex atomic regex locale thread mutex condition_variable future
    filesystem functional memory_resource charconv format string_view shared_mutex
    barrier latch semaphore unordered_map unordered_set map set bitset cinttypes cstdint
    cuchar stdexcept system_error syncstream stop_token algorithm numeric execution span
    ranges optional variant vector
    """
)
_STDINT = frozenset({"stdint.h", "inttypes.h", "stdatomic.h", "uchar.h", "cuda.h"})
_STDINT |= _STREAMS | _GROUPS | _TORCH
_FLOAT = frozenset({"float.h", "cfloat", "tgmath.h", "ctgmath"}) | _GROUPS | _TORCH
_BFLOAT = frozenset({"cuda_bf16.h", "cuda_bf16.hpp"}) | _GROUPS | _TORCH
_HALF = frozenset({"cuda_fp16.h", "cuda_fp16.hpp"}) | _BFLOAT


def prelude(headers: Collection[str]) -> str:
    """CUDA text that stands before an answer's, of the headers that it includes.

    What it includes itself lies in the folder of CUDA's wheel for its runtime. Cooperative groups
    are ours: CUDA's own need headers of another wheel.
    """
    named = frozenset(headers)
    # PyTorch compiles its extensions with --expt-relaxed-constexpr.
    found = ["#define PAIRSMITH_RELAXED\n"] if named & _TORCH else []
    found += [_text("words.h"), _text("std.h")]
    found += [
        _text(name) for name, by in (("stdint.h", _STDINT), ("float.h", _FLOAT)) if named & by
    ]
    for name, by in (("cuda_fp16.h", _HALF), ("cuda_bf16.h", _BFLOAT)):
        found += [f"#include <{name}>\n"] if named & by else []
    for name in ("math_constants.h", "cuComplex.h"):
        found += [f"#include <{name}>\n"] if name in named else []
    found += [_text("groups.h")] if named & _GROUPS else []
    return "".join(found)


@lru_cache(maxsize=8)
def _text(name: str) -> str:
    text = (files("validate.host") / "cuda" / name).read_text(encoding="utf-8")
    return f'#line 1 "{name}"\n{text}\n'
