// row: 8623083a12269498
// launch: {"grid": ["(rows + 63) / 64"], "block": [64], "shared_bytes": 0}
// The pattern in static shared memory; goto-free matching with a flag.
extern "C" __global__ void motif(const signed char* text, const signed char* pat, int cols, int* out, int rows)
{
    __shared__ signed char p[3];
    if (threadIdx.x < 3) p[threadIdx.x] = pat[threadIdx.x];
    __syncthreads();
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        const signed char* line = text + r * cols;
        int count = 0;
        for (int at = 0; at <= cols - 3;) {
            bool ok = true;
            for (int j = 0; j < 3 && ok; ++j) ok = p[j] == 0 || line[at + j] == p[j];
            count += ok;
            at += ok ? 3 : 1;
        }
        out[r] = count;
    }
}
