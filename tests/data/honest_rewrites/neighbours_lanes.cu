// row: 92cd6b1c42347034
// launch: {"grid": ["(b * n + 15) / 16"], "block": [8, 16], "shared_bytes": 0}
// Eight lanes for each particle, five of which have a neighbour; sums by shuffles inside the eight.
extern "C" __global__ void repel(const float2* pos, const int* nbr, float2* force, float* power, int n, int b)
{
    const int id = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    const bool real = id < n * b;
    float fx = 0.f, fy = 0.f, cnt = 0.f, px = 0.f, py = 0.f;
    if (real) {
        px = pos[id].x;
        py = pos[id].y;
        if (lane < 5) {
            const float2 q = pos[id / n * n + nbr[id * 5 + lane]];
            const float dx = px - q.x, dy = py - q.y, d2 = dx * dx + dy * dy;
            if (d2 < 1.35f) {
                const float s = d2 + 0.56f, k = 0.835f / (s * sqrtf(s));
                fx = k * dx;
                fy = k * dy;
                cnt = 1.f;
            }
        }
    }
    for (int step = 4; step; step /= 2) {
        fx += __shfl_xor_sync(0xffffffff, fx, step, 8);
        fy += __shfl_xor_sync(0xffffffff, fy, step, 8);
        cnt += __shfl_xor_sync(0xffffffff, cnt, step, 8);
    }
    if (real && lane == 0) {
        fx /= 1.f + cnt;
        fy /= 1.f + cnt;
        force[id] = make_float2(fx, fy);
        power[id] = fx * px + fy * py;
    }
}
