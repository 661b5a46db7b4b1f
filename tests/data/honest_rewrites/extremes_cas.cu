// row: 9f377d511cc2ad03
// launch: {"grid": ["(n + 31) / 32"], "block": [32]}
// Maximum by compare-and-swap, minimum by atomicMin of the warp's own lane; a guard, no early return.
__global__ void minmax(const unsigned* in, const int* grp, unsigned* lo, unsigned* hi, int count)
{
    unsigned id = blockIdx.x * 32u + threadIdx.x;
    if (id < (unsigned)count) {
        unsigned x = in[id] ^ 0xCFu;
        int g = grp[id];
        atomicMin(lo + g, x);
        unsigned seen = atomicCAS(hi + g, 0u, 0u);
        while (x > seen) {
            unsigned before = atomicCAS(hi + g, seen, x);
            if (before == seen) break;
            seen = before;
        }
    }
}
