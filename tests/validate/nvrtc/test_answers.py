"""Texts of strangers compiled for a device: neighbours change nothing of what is said of one."""

from __future__ import annotations

from validate.nvrtc.answers import AnswerCompiler, DeviceText

BOTH_KINDS = DeviceText(
    code="__global__ void k(float* out) {\n"
    "    __shared__ float fixed[10000];\n    extern __shared__ float asked[];\n"
    "    fixed[threadIdx.x] = 1.0f;\n    asked[threadIdx.x] = 2.0f;\n    __syncthreads();\n"
    "    out[threadIdx.x] = fixed[threadIdx.x] + asked[threadIdx.x];\n}\n",
    headers=(),
    kernel="k",
    block_threads=32,
)
PLAIN = DeviceText("__global__ void k(float* out) { out[0] = 1.0f; }\n", (), "k", 32)


def test_static_shared_memory_is_known_beside_others_as_alone() -> None:
    compiler = AnswerCompiler()
    try:
        (alone,) = compiler.compile([BOTH_KINDS])
        beside = compiler.compile([PLAIN, BOTH_KINDS, PLAIN])[1]
    finally:
        compiler.close()
    assert alone.shared_bytes == 40000
    assert beside == alone
