// row: 2c4a27cf2533cc91
// launch: {"grid": ["batch"], "block": [64], "shared_bytes": 8192}
// Each block counts one batch in dynamic shared memory, then adds its counts to the result.
extern "C" __global__ void count(const int* truth, const int* guess, unsigned* table, unsigned* hit,
                                 unsigned* miss, int items, int classes, int batch)
{
    extern __shared__ unsigned local[];
    for (int k = threadIdx.x; k < classes * classes; k += blockDim.x) local[k] = 0u;
    __syncthreads();
    const int* t = truth + blockIdx.x * items;
    const int* g = guess + blockIdx.x * items;
    for (int k = threadIdx.x; k < items; k += blockDim.x) atomicAdd(&local[t[k] * classes + g[k]], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < classes * classes; k += blockDim.x) {
        unsigned c = local[k];
        if (c == 0u) continue;
        atomicAdd(&table[k], c);
        if (k / classes == k % classes) atomicAdd(&hit[k / classes], c);
        else atomicAdd(&miss[k / classes], c);
    }
}
