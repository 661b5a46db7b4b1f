// row: 0ba7901511bff9b6
// launch: {"grid": ["(n + 31) / 32", "b"], "block": [32], "shared_bytes": 0}
// De Casteljau's steps; one row of blocks for each curve, its points in shared memory.
struct Arc { float3 p[3]; };

__device__ inline float3 mix(float3 a, float3 b, float t)
{
    return make_float3(fmaf(t, b.x - a.x, a.x), fmaf(t, b.y - a.y, a.y), fmaf(t, b.z - a.z, a.z));
}

extern "C" __global__ void bezier(const Arc* arcs, const float* ts, const long long* on, float3* out, int n, int b)
{
    __shared__ float3 ctrl[3];
    const int env = blockIdx.y;
    if (threadIdx.x < 3) ctrl[threadIdx.x] = arcs[env].p[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int at = env * n + i;
        const float t = ts[at];
        float3 r = make_float3(0, 0, 0);
        if (on[at]) r = mix(mix(ctrl[0], ctrl[1], t), mix(ctrl[1], ctrl[2], t), t);
        out[at] = r;
    }
}
