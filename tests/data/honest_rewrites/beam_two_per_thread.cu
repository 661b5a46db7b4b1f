// row: d7c013e7210fb267
// launch: {"grid": ["(n + 127) / 128"], "block": [64], "shared_bytes": 0}
// Two elements a thread; fmaf; macros.
#include <math.h>
#define PER_THREAD 2
#define ABSORB(m) expf(-0.3f / (m))

extern "C" __global__ void beam_kernel(const float* __restrict__ lambda, const float* __restrict__ w,
                                       float* __restrict__ out, int n)
{
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = base + j;
        if (i >= n) return;
        out[i] = fmaf(w[i], ABSORB(cosf(lambda[i] * 0.12f)), out[i]);
    }
}
