// row: 04ade7c4af84d80d
// launch: {"grid": ["(n + 95) / 96"], "block": [96], "shared_bytes": 0}
// Components written out, no operators.
extern "C" __global__ void stick(const float3* vel, float3 nrm, float3* out, int n)
{
    int i = threadIdx.x + 96 * blockIdx.x;
    if (i >= n) return;
    float vx = vel[i].x, vy = vel[i].y, vz = vel[i].z;
    float along = fmaf(vx, nrm.x, fmaf(vy, nrm.y, vz * nrm.z));
    float tx = vx - along * nrm.x, ty = vy - along * nrm.y, tz = vz - along * nrm.z;
    float inv = rsqrtf(tx * tx + ty * ty + tz * tz + 1e-4f);
    float scale = 1.0f - 0.3f * fabsf(along) * inv;
    if (scale < 0.0f) scale = 0.0f;
    float3 r = out[i];
    out[i] = make_float3(r.x + scale * tx, r.y + scale * ty, r.z + scale * tz);
}
