// row: 0875152052455bff
// launch: {"grid": ["(length * batch + 191) / 192"], "block": [192], "shared_bytes": 0}
// Bits counted by hand over a flat index.
extern "C" __global__ void popcount_edges(const unsigned short* bits, int* out, int length, int batch)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)length * batch) {
        unsigned int x = bits[i];
        x ^= x >> 1;
        int c = 0;
        for (; x; x &= x - 1) ++c;
        out[i] = c;
    }
}
