// row: 290b2e17968bb4f1
// launch: {"grid": ["(n + 1023) / 1024"], "block": [1024], "shared_bytes": 0}
// The largest block; a helper that returns early.
__device__ int length_of(int c)
{
    int k = 0;
    for (; k < 20; ++k) {
        if (c < 14) return k;
        c = (4 * c + 14) % 163;
    }
    return k;
}

extern "C" __global__ void window(const int* __restrict__ v, int* __restrict__ out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int x = v[i];
    int sum = 0;
    if (x >= 21 && x % 7 != 0) {
        for (int s = 0; s < 4; ++s)
            if ((x + s) % 3) sum += length_of(x + s);
    } else {
        sum = 100;
    }
    out[i] = sum;
}
