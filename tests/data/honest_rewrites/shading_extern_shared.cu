// row: 30df2ef82d1ca4a4
// launch: {"grid": ["(w + 15) / 16", "(h + 3) / 4"], "block": [16, 4], "shared_bytes": 72}
// The lamps in dynamic shared memory of exactly the size asked for.
struct Surf { float3 n, x; };
struct Lamp { float3 at, rgb; };

extern "C" __global__ void shade(const Surf* s, const Lamp* lamps, const float* wrap, const unsigned char* on,
                                 float3* out, int w, int h)
{
    extern __shared__ Lamp lit[];
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    if (t < 3) lit[t] = lamps[t];
    __syncthreads();
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= w || row >= h) return;
    const int i = row * w + col;
    float3 sum = make_float3(0.f, 0.f, 0.f);
    if (on[i]) {
        const Surf f = s[i];
        const float soft = wrap[i];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            const float dx = lit[k].at.x - f.x.x, dy = lit[k].at.y - f.x.y, dz = lit[k].at.z - f.x.z;
            const float d2 = dx * dx + dy * dy + dz * dz;
            if (d2 >= 2.2f * 2.2f) continue;
            const float inv = rsqrtf(d2 + 0.01f);
            const float cosine = (f.n.x * dx + f.n.y * dy + f.n.z * dz) * inv;
            const float fall = 1.0f - d2 / (2.2f * 2.2f);
            const float amount = fall * fall * fmaxf((cosine + soft) / (1.0f + soft), 0.0f);
            sum.x += amount * lit[k].rgb.x;
            sum.y += amount * lit[k].rgb.y;
            sum.z += amount * lit[k].rgb.z;
        }
    }
    out[i] = sum;
}
