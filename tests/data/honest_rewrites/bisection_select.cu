// row: 6b16cd0fa7b8c977
// launch: {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0}
// Branch-free halving.
extern "C" __global__ void cube_root(const float* __restrict__ rhs, float* __restrict__ root, int iters, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float target = rhs[i];
    float2 span = make_float2(0.f, 3.f);
    for (int k = iters; k > 0; --k) {
        const float m = (span.x + span.y) * 0.5f;
        const bool high = m * m * m + m - target > 0.f;
        span.y = high ? m : span.y;
        span.x = high ? span.x : m;
    }
    root[i] = (span.x + span.y) * 0.5f;
}
