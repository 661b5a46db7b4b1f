// row: ee9e2918c8112592
// launch: {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0}
// A grid-stride loop, other names, another way to round, __ldg.
#include <cuda_runtime.h>

__device__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

extern "C" __global__ void sample_nearest(const float *v, const float *u, const float *img, int width,
                                          float *dst, int height, int total)
{
    for (int k = threadIdx.x + blockIdx.x * blockDim.x; k < total; k += gridDim.x * blockDim.x) {
        int y = clampi((int)floor(__ldg(v + k) + 0.5f), 0, height - 1);
        float uu = u[k];
        int x = (int)(uu < 0 ? ceilf(uu - 0.5f) : floorf(uu + 0.5f));
        dst[k] = __ldg(&img[y * width + clampi(x, 0, width - 1)]);
    }
}
