"""The host headers know what CUDA's own headers declare and NVRTC takes, but for a short table."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from cuda_declarations import Declaration, declared_in, read

from validate.nvrtc import program as nvrtc_program
from validate.row.archs import DEFAULT_ARCH
from validate.text import plain, plain_host
from validate.text.headers import cuda_include_dir
from validate.text.prelude import HEADERS, prelude

DATA = Path(__file__).resolve().parents[2] / "data" / "judge"
FILE = "called.cu"
# Of CUDA's wheel for its compiler, which nobody needs to run the judge: kept as a list, made once
# from version 13.5 of it. What NVRTC does not take of it is left out here too.
LISTED = DATA / "cuda_functions.txt"

NOT_SUPPORTED = {
    r"__cluster\w*|__isClusterShared|__isCtaShared|__threadfence_cluster": "clusters of blocks",
    r"__cvta_\w+|__is(?:Constant|Global|GridConstant|Local|Shared)": "addresses as numbers",
    r"__nv_(?:memcpy_async|associate_access|aligned_device_malloc)\w*": "CUDA's own, inside",
    r"__pm[0-3]": "counters of the machine's",
    r"__u128Atomic\w+": "128 bits at a time",
    r"__assertfail": "CUDA's own, inside assert",
    r"malloc|free": "memory from the system",
    r"__barrier_sync(?:_count)?|__uni_sync|syncthreads_(?:and|count|or)": "barriers by number",
}


@cache
def declared() -> tuple[Declaration, ...]:
    """All functions, without long double and without what names macros of CUDA's headers."""
    listed = {read(line) for line in LISTED.read_text().splitlines()}
    found = listed | declared_in(cuda_include_dir())
    return tuple(
        sorted(
            d
            for d in found
            if not any("long double" in kind for kind in (d.result, *d.arguments))
            and "explicit" not in d.result
            and "..." not in d.arguments
        )
    )


def calls(functions: Sequence[Declaration]) -> list[str]:
    """A line for each function that calls it with arguments of its types."""
    return [_call(position, function) for position, function in enumerate(functions)]


def _call(position: int, function: Declaration) -> str:
    names = [f"a{n}" for n in range(len(function.arguments))]
    taken = ", ".join(
        f"{kind} {name}" for kind, name in zip(function.arguments, names, strict=True)
    )
    given = "" if function.result == "void" else "return "
    call = f"{function.name}({', '.join(names)})"
    return f"__device__ {function.result} call_{position}({taken}) {{ {given}{call}; }}"


def _nvrtc_log(text: str) -> str:
    folder = cuda_include_dir()
    options = nvrtc_program.plain_options(f"compute_{DEFAULT_ARCH.removeprefix('sm_')}", folder)
    built = nvrtc_program._compiled(text, "program", options, "check", folder)
    return "" if built.text else built.log


def refused_by_nvrtc(lines: Sequence[str], head: str) -> dict[int, str]:
    """Lines that NVRTC refuses, and why: it stops after a hundred, and is asked again."""
    found: dict[int, str] = {}
    while True:
        kept = ["" if number in found else line for number, line in enumerate(lines)]
        log = _nvrtc_log(f'{head}\n#line 1 "{FILE}"\n' + "\n".join(kept) + "\n")
        if not log:
            return found
        errors = re.findall(rf"^{FILE}\((\d+)\): error: (.*)", log, re.MULTILINE)
        new = {int(number) - 1: why for number, why in errors} if errors else {}
        assert new.keys() - found.keys(), log
        found |= new


def refused_by_host(lines: Sequence[str], tmp_path: Path) -> dict[int, str]:
    """Lines that Clang refuses behind the host headers, and why; in a process for its log."""
    text = (
        f'{plain_host.header_text()}namespace own {{ namespace {{\n#line 1 "{FILE}"\n'
        + "\n".join(lines)
    )
    source = tmp_path / "unit.txt"
    source.write_text(text + "\n} }\n")
    script = (
        "import sys; from pathlib import Path; from validate.host import clang\n"
        "try: clang.build_bare(Path(sys.argv[1]).read_text(), Path(sys.argv[1]).with_suffix('.o'),"
        " ('-ferror-limit', '0'))\n"
        "except clang.CompileError: sys.exit(3)\n"
    )
    path = os.pathsep.join(map(str, (Path(__file__).resolve().parents[3], *sys.path)))
    ended = subprocess.run(
        [sys.executable, "-c", script, str(source)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    errors = re.findall(rf"^{FILE}:(\d+):\d+: error: (.*)", ended.stderr, re.MULTILINE)
    assert ended.returncode == (3 if errors else 0), ended.stderr
    return {int(number) - 1: why for number, why in errors}


def reason(function: Declaration) -> str:
    """Why a function is not supported; empty when it should be."""
    matches = (why for names, why in NOT_SUPPORTED.items() if re.fullmatch(names, function.name))
    return next(matches, "")


def test_what_nvrtc_takes_the_host_takes(tmp_path: Path) -> None:
    functions = declared()
    assert len({function.name for function in functions}) > 900
    lines = calls(functions)
    head = prelude({"cuda_fp16.h", "cuda_bf16.h"})
    taken = sorted(set(range(len(lines))) - refused_by_nvrtc(lines, head).keys())
    assert len(taken) > 0.95 * len(lines)
    refused = refused_by_host([lines[n] for n in taken], tmp_path)
    missing = {str(functions[taken[n]]): why for n, why in refused.items()}
    unknown = {name: why for name, why in missing.items() if not reason(read(name))}
    assert not unknown
    # A name of the table that is there by now must leave it.
    gone = {read(name).name for name in missing}
    assert [names for names in NOT_SUPPORTED if not any(re.fullmatch(names, n) for n in gone)] == []


def test_functions_that_a_text_may_overload_are_cuda_s_own() -> None:
    names = sorted(plain.cuda_functions())
    assert {"erff", "atomicMax", "atomicAdd_block", "__fmaf_rn", "max", "__vadd4"} <= {*names}
    lines = [f"using ::{name};" for name in names]
    assert refused_by_nvrtc(["namespace own {", *lines, "}"], "") == {}


# Texts that stand in a kernel, and the headers without which nvcc refuses them.
NEEDED = {
    "uint32_t x = 3; out[0] = x;": ("stdint.h", "cstdint", "iostream", "cuda.h"),
    "out[0] = INT32_MAX;": ("stdint.h", "cstdint"),
    "out[0] = FLT_MAX;": ("float.h", "cfloat", "cooperative_groups.h"),
    "__half x = __float2half(1.5f); out[0] = __half2float(x + x);": ("cuda_fp16.h", "cuda_bf16.h"),
    "__nv_bfloat162 x = __float2bfloat162_rn(2.0f); out[0] = __low2float(x);": ("cuda_bf16.h",),
    "out[0] = CUDART_PI_F;": ("math_constants.h",),
    "out[0] = cuCabsf(make_cuFloatComplex(3.0f, 4.0f));": ("cuComplex.h",),
    "cooperative_groups::this_thread_block().sync();": (
        "cooperative_groups.h",
        "cooperative_groups/reduce.h",
    ),
    "out[0] = std::max(1, 2) + std::min(2.0f, 3.0f);": ("torch/extension.h",),
}
GIVEN = (
    "out[0] = INT_MAX + UINT_MAX + LLONG_MIN + CHAR_BIT;",
    "out[0] = M_PI * M_SQRT2 + INFINITY + NAN;",
    "float *p = NULL; size_t n = sizeof p; int64_t m = 3; ushort u = 1; out[0] = n + m + u;",
    "out[0] = std::sqrt(2.0f) + std::pow(2.0f, 3) + std::abs(-1) + std::isnan(out[0]);",
    'static_assert(std::is_same<int, int>::value && std::is_integral_v<long>, "");',
    "constexpr float x = std::numeric_limits<float>::lowest(); out[0] = x;",
    "std::conditional_t<true, int, float> x = 1; out[0] = std::move(x);",
    'printf("%d %f\\n", 3, out[0]); assert(out[0] == out[0]); memset(out, 0, 4);',
    "int x; memcpy(&x, out, sizeof x); out[1] = pow(x, 2) + clock() + clock64();",
)
REFUSED = (
    "out[0] = std::max(1, 2);",
    "out[0] = sqrt(3);",
    'out[0] = strlen("abc");',
    "out[0] = drand48();",
    "std::vector<int> x;",
    "memmove(out, out + 1, 4);",
)


def _kernel(body: str) -> str:
    return f"__global__ void kernel(float* out) {{ {body} }}"


@pytest.mark.parametrize("body", NEEDED)
def test_a_header_gives_what_it_gives_under_nvcc(body: str) -> None:
    for header in NEEDED[body]:
        assert header in HEADERS
        assert refused_by_nvrtc([_kernel(body)], prelude({header})) == {}, header
    others = {"vector_types.h", "cuda_runtime.h", "stdio.h", "cmath", "type_traits"}
    assert refused_by_nvrtc([_kernel(body)], prelude(others))


def test_what_nvcc_gives_without_a_header(tmp_path: Path) -> None:
    lines = [_kernel(body).replace("kernel", f"k{n}") for n, body in enumerate(GIVEN)]
    assert refused_by_nvrtc(lines, prelude(())) == {}
    assert refused_by_host(lines, tmp_path) == {}


@pytest.mark.parametrize("body", REFUSED)
def test_what_nvcc_refuses(body: str) -> None:
    assert refused_by_nvrtc([_kernel(body)], prelude({"math.h", "algorithm", "vector"}))


def test_every_header_s_prelude_compiles() -> None:
    assert refused_by_nvrtc([_kernel("out[0] = 1;")], prelude(HEADERS)) == {}


GROUPS = """
namespace cg = cooperative_groups;
__global__ void kernel(float* out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<8>(warp);
    float x = out[block.thread_rank()] + block.group_index().x + block.dim_threads().y;
    for (int by = tile.size() / 2; by > 0; by /= 2) x += tile.shfl_down(x, by);
    x = tile.shfl_xor(x, 1) + tile.shfl_up(x, 1) + tile.shfl(x, 0) + tile.meta_group_rank();
    x = cg::reduce(warp, x, cg::plus<float>()) + cg::reduce(tile, n, cg::less<int>());
    x += cg::inclusive_scan(tile, x) + cg::exclusive_scan(tile, n, cg::plus<int>());
    if (warp.any(x > 0) && warp.all(n > 1)) x += warp.ballot(n > 3) + tile.match_any(n);
    cg::sync(block); warp.sync();
    cg::thread_group group = cg::tiled_partition(block, 16);
    group.sync();
    if (group.thread_rank() == 0 && cg::this_grid().thread_rank() < n) out[0] = x;
}
"""


def test_groups_compile_on_both(tmp_path: Path) -> None:
    lines = [GROUPS.replace("\n", " ")]
    assert refused_by_nvrtc(lines, prelude({"cooperative_groups/reduce.h"})) == {}
    assert refused_by_host(lines, tmp_path) == {}
