// row: 564a6f7f8d61cce1
// launch: {"grid": ["(num_walkers + 127) / 128"], "block": [128], "shared_bytes": 0}
// The generator as a struct with a method; a while loop.
struct Pcg {
    unsigned int s;
    __device__ unsigned int next()
    {
        unsigned int x = s * 747796405u + 2891336453u;
        x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
        s = (x >> 22) ^ x;
        return s;
    }
    __device__ float uniform() { return (float)(next() >> 8) * 5.9604644775390625e-8f; }
};

extern "C" __global__ void walk(const float* start, int seed, float limit, float* stop, int* n_steps, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) {
        Pcg inner{(unsigned int)t};
        Pcg rng{(unsigned int)seed + inner.next()};
        rng.next();
        float x = start[t];
        int k = 0;
        while (k < 7) {
            x += fmaf(2.0f, rng.uniform(), -1.0f);
            ++k;
            if (x > limit || x < -limit) break;
        }
        stop[t] = x;
        n_steps[t] = k;
    }
}
