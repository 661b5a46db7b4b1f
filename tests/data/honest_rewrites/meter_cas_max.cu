// row: 2474f15b3a1c8cf1
// launch: {"grid": ["(count + 63) / 64"], "block": [64], "shared_bytes": 0}
// Maximum of floats by a compare-and-swap loop.
struct Sample { float v, a, t; };

__device__ void raise_to(float* place, float value)
{
    int* bits = reinterpret_cast<int*>(place);
    int old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __float_as_int(fmaxf(value, __int_as_float(seen))));
    } while (old != seen);
}

extern "C" __global__ void meter(const Sample* s, const int* who, const int* part, const int* quality, float* sum,
                                 float* top, int least, int parts, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && quality[i] >= least) {
        const float joules = s[i].v * s[i].a * s[i].t;
        const int cell = who[i] * parts + part[i];
        atomicAdd(sum + cell, joules);
        raise_to(top + cell, joules);
    }
}
