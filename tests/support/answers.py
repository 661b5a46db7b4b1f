"""Texts and completions for the reading of answers: one kernel, written in many ways."""

from __future__ import annotations

from typing import Any

ROW: dict[str, Any] = {
    "id": "0" * 16,
    "kernel_name": "scale",
    "args": [
        {"name": "x", "kind": "array", "shape": ["rows", "cols"], "init": "uniform"},
        {"name": "a", "kind": "scalar", "shape": [], "init": "uniform"},
        {"name": "y", "kind": "array", "shape": ["rows", "cols"], "init": "none"},
    ],
    "sizes": [
        {"symbol": "rows", "value": 10, "min": 1, "multiple_of": 1},
        {"symbol": "cols", "value": 33, "min": 1, "multiple_of": 1},
    ],
    "plain_args": [
        {"name": "x", "type": "const float*", "size": None},
        {"name": "a", "type": "float", "size": None},
        {"name": "y", "type": "float*", "size": None},
        {"name": "cols", "type": "int", "size": "cols"},
        {"name": "rows", "type": "int", "size": "rows"},
    ],
    "plain_launch": {"grid": ["cols", "rows"], "block": [1], "shared_bytes": 0},
}
"""`y[i] = a * x[i]` over 10 rows of 33 columns."""

HEAD = "__global__ void scale(const float* x, float a, float* y, int w, int h)"
KERNEL = (
    HEAD
    + """
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < w && r < h) y[r * w + c] = a * x[r * w + c];
}
"""
)
_WIDE = "(w * h + 63) / 64"


def body(text: str) -> str:
    """A kernel with this body."""
    return f"{HEAD}\n{{ {text} }}\n"


def host(text: str) -> str:
    """The kernel and a host function that does this before and with a launch."""
    return f"{KERNEL}void go(float* x, float* y, int w, int h)\n{{ {text} }}\n"


def fence(text: str, language: str = "cuda") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


_CHECKED = (
    KERNEL
    + r"""
#include <cuda_runtime.h>
#include <cstdio>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \
    fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)
inline int cdiv(int a, int b) { return (a + b - 1) / b; }
void run(const float* hx, float a, float* hy, int width, int height)
{
    float *dx, *dy;
    const size_t bytes = sizeof(float) * width * height;
    CHECK(cudaMalloc(&dx, bytes)); CHECK(cudaMalloc(&dy, bytes));
    cudaMemcpy(dx, hx, bytes, cudaMemcpyHostToDevice);
    const int T = 16;
    dim3 block(T, T);
    dim3 grid(cdiv(width, T), cdiv(height, block.y));
    scale<<<grid, block>>>(dx, a, dy, width, height);
    CHECK(cudaDeviceSynchronize());
}
int main() { float* p = new float[100]; run(p, 1.f, p, 10, 10); delete[] p; return 0; }
"""
)
_TORCH = (
    "#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n"
    "template <typename scalar_t>\n"
    + KERNEL.replace("float", "scalar_t")
    + """
torch::Tensor forward(torch::Tensor x, double a) {
    TORCH_CHECK(x.is_cuda(), "x isn't on CUDA");
    auto xc = x.contiguous();
    auto y = torch::empty_like(xc);
    const int h = xc.size(0), w = xc.size(-1);
    const dim3 threads(32, 8);
    const dim3 blocks((w + threads.x - 1) / threads.x, (h + threads.y - 1) / threads.y);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", ([&] {
        scale<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
            xc.data_ptr<scalar_t>(), static_cast<scalar_t>(a), y.data_ptr<scalar_t>(), w, h);
    }));
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "scale"); }
"""
)
_NUMEL = (
    KERNEL
    + """
torch::Tensor forward(torch::Tensor x, float a) {
    auto y = torch::zeros_like(x);
    int64_t n = x.numel();
    int threads = 256;
    int blocks = std::min((int)((n + threads - 1) / threads), 65535);
    scale<<<blocks, threads>>>(
        x.data_ptr<float>(), a, y.data_ptr<float>(), x.sizes()[1], x.sizes()[0]);
    return y;
}
"""
)
_HELPER = "__device__ float twice(float v) { return 2.0f * v; }\n"
_LAUNCHING = (
    "int threads = 128;\nint blocks = (w * h + threads - 1) / threads;\n"
    "scale<<<blocks, threads>>>(d_x, a, d_y, w, h);\n"
)

Expected = tuple[list[int], list[int], int] | None

LAUNCHES: dict[str, tuple[str, Expected]] = {
    "nothing said": (KERNEL, None),
    "a comment": ("// launch: <<<(w * h + 255) / 256, 256>>>\n" + KERNEL, ([2], [256], 0)),
    "a comment in general": ("// usage: scale<<<grid, block>>>(...)\n" + KERNEL, None),
    "a comment with JSON": (
        '// launch: {"grid": ["cols", "rows"], "block": [8], "shared_bytes": 72}\n' + KERNEL,
        ([33, 10], [8], 72),
    ),
    "prose": (
        f"Here it is:\n\n{fence(KERNEL)}Run `scale<<<dim3((w+15)/16,(h+15)/16), dim3(16,16), "
        "256*sizeof(float)>>>(x, a, y, w, h)`; it's fast.",
        ([3], [16, 16], 1024),
    ),
    "the sentence of sft": (
        f"{fence(KERNEL)}\nLaunch it with the grid ((w + 15) / 16, (h + 15) / 16) and the block "
        "(16, 16), 64 bytes of dynamic shared memory.",
        ([3], [16, 16], 64),
    ),
    "the sentence without a fence": (
        f"{KERNEL}\nLaunch it with the grid (w, h) and the block (16).\n",
        ([33, 10], [16], 0),
    ),
    "a block of JSON": (
        fence(KERNEL) + fence('{"grid": ["(cols + 31) / 32", "rows"], "block": [32]}\n', "json"),
        ([2, 10], [32], 0),
    ),
    "JSON behind the text": (
        KERNEL
        + '\n{"grid": ["(w + 31) / 32", "rows"], "block": [32, 1, 1], "shared_bytes": "128"}',
        ([2, 10], [32], 128),
    ),
    "JSON with axes": (
        fence(KERNEL) + 'So {"block": {"x": 32, "y": 2}, "grid": {"x": "cols", "y": 5}}.',
        ([33, 5], [32, 2], 0),
    ),
    "JSON before host code": (
        host("scale<<<1, 64>>>(x, 1, y, w, h);") + '// {"grid": ["rows"], "block": [64]}\n',
        ([10], [64], 0),
    ),
    "a program": (_CHECKED, ([3], [16, 16], 0)),
    "an extension": (_TORCH, ([2, 2], [32, 8], 0)),
    "numel": (_NUMEL, ([2], [256], 0)),
    "other blocks": (
        f"First:\n{fence(_HELPER)}then\n{fence(KERNEL.replace('a * x', 'twice(a) * x'))}and "
        f"launch it:\n{fence(_LAUNCHING, 'cpp')}",
        ([3], [128], 0),
    ),
    "sizes by what is passed": (
        KERNEL + "int main() { const int W = 1 << 10, H = 64; const int N = W * H; float *x, *y; "
        "cudaMalloc(&x, N * 4); dim3 block(32, 8); dim3 grid; grid.x = (W + 31) / 32; "
        "grid.y = (H + 8 - 1) >> 3; "
        "scale<<<grid, block, block.x * sizeof(float), 0>>>(x, 2.0f, y, W, H); }",
        ([2, 2], [32, 8], 128),
    ),
    "macros": (
        "#define BLOCK 64\n#define DIV_UP(a, b) (((a) + (b) - 1) / (b))\n"
        + host("scale<<<DIV_UP(w * h, BLOCK), BLOCK>>>(x, 1.0f, y, w, h);"),
        ([6], [64], 0),
    ),
    "conditions": (
        host(
            f"int b = {_WIDE}; if (b > 4) b = 4; if (w > 3) {{ b = b * 2; }} "
            "scale<<<b, 64>>>(x, 1.0f, y, w, h);"
        ),
        ([8], [64], 0),
    ),
    "either": (
        host(
            "int t; if (w > 64) t = 128; else t = 32; "
            "scale<<<(w * h + t - 1) / t, t>>>(x, 1.0f, y, w, h);"
        ),
        ([11], [32], 0),
    ),
    "either in braces": (
        host(
            "int t = 1; if (w < 64) { t = 128; } else { t = 32; } "
            "scale<<<(w * h + t - 1) / t, t>>>(x, 1.0f, y, w, h);"
        ),
        ([3], [128], 0),
    ),
    "rounded up by a real quotient": (
        host(
            "int b = ceil(w * h / 256.0); float f = (float)w / 16; "
            "scale<<<dim3(b, (int)ceilf(f)), 256>>>(x, 1.0f, y, w, h);"
        ),
        ([2, 3], [256], 0),
    ),
    "a real number cut off": (
        host("int b = w / 10.0; scale<<<b, 256>>>(x, 1.0f, y, w, h);"),
        ([3], [256], 0),
    ),
    "a closure": (
        host(
            "auto up = [](int a, int b) { return (a + b - 1) / b; }; "
            "scale<<<up(w, 16), {16, 2}>>>(x, 1.0f, y, w, h);"
        ),
        ([3], [16, 2], 0),
    ),
    "braces": (
        host(
            "const unsigned int kBlock = 32u; int n{3}; cudaStream_t s; cudaStreamCreate(&s); "
            "const auto grid = dim3{(w + kBlock - 1) / kBlock, static_cast<unsigned int>(h), 1}; "
            "scale<<<grid, dim3{kBlock}, 0, s>>>(x, 2, y, w, h);"
        ),
        ([2, 10], [32], 0),
    ),
    "the launch under a condition": (
        host(f"int t = 64; if (w > 0) {{ t = 32; scale<<<{_WIDE}, t>>>(x, 1, y, w, h); }}"),
        ([6], [32], 0),
    ),
    "a template": (
        "template <int N, typename T = float>\n" + KERNEL + "constexpr int kT = 128;\n"
        "void go(float* x, float* y, int w, int h) "
        "{ scale<kT><<<(w * h + kT - 1) / kT, kT>>>(x, 1.0f, y, w, h); }",
        ([3], [128], 0),
    ),
    "a wrapper with C linkage": (
        f'extern "C" {{\n{KERNEL}void launch_scale(float* x, float a, float* y, int w, int h) '
        "{ scale<<<h, 32>>>(x, a, y, w, h); }\n}",
        ([10], [32], 0),
    ),
    "a namespace": (
        f"namespace ops {{ namespace {{\n{KERNEL}}} }}\n"
        "void go(const float* x, float a, float* y, int w, int h) "
        "{ ops::scale<<<h, 32>>>(x, a, y, w, h); }",
        ([10], [32], 0),
    ),
    "members": (
        KERNEL + "struct P { int w, h; };\nvoid go(float* x, float* y, P p) "
        "{ scale<<<(p.w * p.h + 31) / 32, 32>>>(x, 1, y, p.w, p.h); }",
        ([11], [32], 0),
    ),
    "a class": (
        KERNEL + "class Scaler { public: void run(float* x, float* y, int w, int h) "
        "{ dim3 b(32); scale<<<(w * h + 31) / 32, b>>>(x, 1.f, y, w, h); } };",
        ([11], [32], 0),
    ),
    "functions that clamp": (
        KERNEL + "int blocks(const int n) { return std::min((n + 31) / 32, 4); }\n"
        "void go(float* x, float* y, int w, int h) "
        "{ const int n = w * h; if (n == 0) return; scale<<<blocks(n), 32>>>(x, 1, y, w, h); }",
        ([4], [32], 0),
    ),
    "a string of Python": (
        fence(
            "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
            f'source = """\n{host("scale<<<h, 32>>>(x, 1, y, w, h);")}"""\ncpp = "void go();"\n',
            "python",
        ),
        ([10], [32], 0),
    ),
    "a macro with the kernel": (
        "#define KERNEL(name, op) __global__ void name(const float* x, float a, float* y, int w, "
        "int h) { y[threadIdx.x] = a op x[threadIdx.x]; }\nKERNEL(scale, *)\nKERNEL(other, +)\n"
        "void go(float* x, float* y, int w, int h) { scale<<<h, w>>>(x, 1, y, w, h); }",
        ([10], [33], 0),
    ),
    "what else hosts have": (
        KERNEL + "#include <vector>\n#include <iostream>\nusing namespace std;\n"
        "static std::vector<float> buf;\nstruct Timer { cudaEvent_t a, b; void start() {} };\n"
        "int main() { vector<float> h(3); cout << h[0]; int n = 5, m = 6; int threads{64}; "
        "scale<<<(n * m + threads - 1) / threads, threads>>>(0, 1.f, 0, n, m); }",
        ([6], [64], 0),
    ),
}
"""Completions, and grid, block and shared bytes at the row's own sizes."""

UNCLEAR = {
    "a loop": host("int t = 1; while (t < w) t *= 2; scale<<<1, t>>>(x, 1.0f, y, w, h);"),
    "a function that is not there": host("scale<<<sms(), 64>>>(x, 1.0f, y, w, h);"),
    "one condition": host("int t; if (w > 4) t = 3; scale<<<t, 64>>>(x, 1.0f, y, w, h);"),
    "a circle": host("int t = u; scale<<<A, 64>>>(x, 1, y, w, h);").replace(
        "__global__", "#define A B\n#define B A\n__global__", 1
    ),
    "too much": host(
        "int a = w + w; int b = a + a; int c = b + b + b + b + b + b + b + b + b + b; "
        "int d = c + c + c + c + c + c + c; int e = d + d; scale<<<e, 64>>>(x, 1, y, w, h);"
    ),
    "JSON with a name": KERNEL + '// {"grid": ["blocks"], "block": [64]}\n',
    "division by zero": host("scale<<<w / 0, 64>>>(x, 1.0f, y, w, h);"),
}
"""Launches that are said and cannot be known."""
