// row: 2c4a27cf2533cc91
// launch: {"grid": ["batch"], "block": [64], "shared_bytes": 8192}
// Each block counts one batch in dynamic shared memory, then adds its counts to the result;
// a table that does not fit is counted in place.
extern "C" __global__ void count(const int* truth, const int* guess, unsigned* table, unsigned* hit,
                                 unsigned* miss, int items, int classes, int batch)
{
    extern __shared__ unsigned local[];
    const int* t = truth + blockIdx.x * items;
    const int* g = guess + blockIdx.x * items;
    if (classes * classes > 2048) {
        for (int k = threadIdx.x; k < items; k += blockDim.x) {
            atomicAdd(&table[t[k] * classes + g[k]], 1u);
            atomicAdd(t[k] == g[k] ? &hit[t[k]] : &miss[t[k]], 1u);
        }
        return;
    }
    for (int k = threadIdx.x; k < classes * classes; k += blockDim.x) local[k] = 0u;
    __syncthreads();
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
