//=== float4_head_and_tail | 8564ff516394692f | {"grid": ["(n + 511) / 512"], "block": [128], "shared_bytes": 0} | float4 body, head and tail by the pointers' alignment
#include <cstdint>

__device__ float gelu1(float z) { return 0.5f * z * (1.0f + erff(0.70710678f * z)); }

__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    const int head = min(n, (int)((16 - (reinterpret_cast<uintptr_t>(pre) & 15)) & 15) / 4);
    const bool both = ((reinterpret_cast<uintptr_t>(pre) ^ reinterpret_cast<uintptr_t>(out)) & 15) == 0;
    const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    if (!both) {
        for (int i = t; i < n; i += threads) out[i] = gelu1(pre[i] + shift);
        return;
    }
    if (t < head) out[t] = gelu1(pre[t] + shift);
    const int quads = (n - head) / 4;
    for (int k = t; k < quads; k += threads) {
        float4 v = reinterpret_cast<const float4*>(pre + head)[k];
        v = make_float4(gelu1(v.x + shift), gelu1(v.y + shift), gelu1(v.z + shift), gelu1(v.w + shift));
        reinterpret_cast<float4*>(out + head)[k] = v;
    }
    for (int i = head + 4 * quads + t; i < n; i += threads) out[i] = gelu1(pre[i] + shift);
}
//=== float2_pairs | 1e6d9d8c735c5148 | {"grid": ["(count + 255) / 256"], "block": [128], "shared_bytes": 0} | float2 where count is even, else one by one
__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs, float gamma, float* result, int count)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const float c0 = coeffs[0], c1 = coeffs[1];
    if (count % 2 == 0) {
        const float2 a = *(const float2*)(x + i), b = *(const float2*)(y + i), o = *(const float2*)(omegas + i);
        const float2 p = *(const float2*)(basis + i), q = *(const float2*)(basis + count + i);
        *(float2*)(result + i) = make_float2(gamma * b.x + o.x * a.x + c0 * p.x + c1 * q.x, gamma * b.y + o.y * a.y + c0 * p.y + c1 * q.y);
    } else {
        for (int k = i; k < min(i + 2, count); ++k) result[k] = gamma * y[k] + omegas[k] * x[k] + c0 * basis[k] + c1 * basis[count + k];
    }
}
//=== double2_grid_stride | 94ffef8fb470a4bc | {"grid": [7], "block": [96], "shared_bytes": 0} | double2 in a grid-stride loop, the last by one thread
__device__ double sign_of(double gap, double speed, double band)
{
    return gap + 0.5 * speed * fabs(speed) / band < 0.0 ? -1.0 : 1.0;
}

__global__ void control(const double* gaps, const double* speeds, double band, double* command, int n)
{
    const double2* g2 = reinterpret_cast<const double2*>(gaps);
    const double2* s2 = reinterpret_cast<const double2*>(speeds);
    double2* c2 = reinterpret_cast<double2*>(command);
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = t; k < n / 2; k += blockDim.x * gridDim.x) {
        const double2 g = g2[k], s = s2[k];
        c2[k] = make_double2(band * sign_of(g.x, s.x, band), band * sign_of(g.y, s.y, band));
    }
    if (t == 0 && n % 2 == 1) command[n - 1] = band * sign_of(gaps[n - 1], speeds[n - 1], band);
}
//=== uchar4_bytes | 769ab82e8084a488 | {"grid": ["(nx * ny + 511) / 512"], "block": [128], "shared_bytes": 0} | uchar4 loads and stores, a tail of bytes
__device__ unsigned char one(unsigned int s, unsigned int d, unsigned int strength)
{
    const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
    return (unsigned char)((u + (u >> 8)) >> 8);
}

__global__ void screen(const unsigned char* top, const unsigned char* dst, unsigned int strength, unsigned char* blended, int nx, int ny)
{
    const int total = nx * ny, i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= total) {
        const uchar4 s = *reinterpret_cast<const uchar4*>(top + i), d = *reinterpret_cast<const uchar4*>(dst + i);
        *reinterpret_cast<uchar4*>(blended + i) = make_uchar4(one(s.x, d.x, strength), one(s.y, d.y, strength), one(s.z, d.z, strength), one(s.w, d.w, strength));
        return;
    }
    for (int k = i; k < total; ++k) blended[k] = one(top[k], dst[k], strength);
}
//=== short4_dot | f8e40f5942d78726 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | short4 loads of rows of four
__global__ void dots(const short* a, const short* b, const float* col_scales, const int* quality, long long* accumulators, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const short4 p = reinterpret_cast<const short4*>(a)[i];
    const short4 q = *reinterpret_cast<const short4*>(b);
    // At most 4 * 25,000,000, which an int holds.
    const int total = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    accumulators[i] = total;
    out[i] = quality[i] == 2 ? 0.0f : fmaxf(__int2float_rn(total) * col_scales[i], 0.0f);
}
//=== float4_matrix_rows | 37617ffd154abe29 | {"grid": ["(cols + 63) / 64", "min(rows, 65535)"], "block": [64], "shared_bytes": 0} | a row of four coefficients as one float4
__global__ void series(const float* cos_theta, const float* modes, float amplitude, float* sums, int cols, int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = blockIdx.y; i < rows; i += gridDim.y) {
        const float4 m = reinterpret_cast<const float4*>(modes)[i];
        if (j < cols) {
            const float s = cos_theta[i * cols + j];
            // m0 + m1 s + m2 (s^2 + 1) + m3 (s^3 + 2 s)
            sums[i * cols + j] = amplitude * fmaf(s, fmaf(s, fmaf(s, m.w, m.z), m.y + 2.0f * m.w), m.x + m.z);
        }
    }
}
//=== float3_as_floats | 4b8caef9e82408d5 | {"grid": ["(9 * n + 255) / 256"], "block": [256], "shared_bytes": 0} | a thread for each entry of the matrices
__global__ void deviator(const float (*stresses)[9], float (*deviators)[9], int n)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= 9 * n) return;
    const float* s = stresses[k / 9];
    const int r = k % 9 / 3, c = k % 3;
    float v = 0.5f * (s[3 * r + c] + s[3 * c + r]);
    if (r == c) v -= (s[0] + s[4] + s[8]) / 3.0f;
    deviators[k / 9][k % 9] = v;
}
//=== matrix_class | 4b8caef9e82408d5 | - | a matrix class with an index operator and loops
struct Mat3 {
    float e[9];
    __device__ float& operator()(int r, int c) { return e[3 * r + c]; }
    __device__ float operator()(int r, int c) const { return e[3 * r + c]; }
    __device__ float trace() const { return e[0] + e[4] + e[8]; }
};

__global__ void deviators_kernel(const Mat3* stresses, Mat3* deviators, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Mat3 m = stresses[i];
    const float p = m.trace() / 3.0f;
    Mat3 d;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) d(r, c) = 0.5f * (m(r, c) + m(c, r)) - (r == c ? p : 0.0f);
    deviators[i] = d;
}
//=== flat_floats_particles | 6067142ae7e7a5c7 | {"grid": ["(batch * count + 127) / 128"], "block": [128], "shared_bytes": 0} | all in scalars, the loop unrolled
__global__ void advance(const float3* places, const float3* velocities, float3 g, float h, float3 b_field, float drag, float3 axis_dir,
                        float3* new_positions, float3* vel_out, float* flux_out, int count, int batch)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= batch * count) return;
    const float s = h / 3.0f, damp = expf(-drag * s);
    float x = places[k].x, y = places[k].y, z = places[k].z;
    float u = velocities[k].x, v = velocities[k].y, w = velocities[k].z;
#pragma unroll
    for (int step = 0; step < 3; ++step) {
        x = fmaf(u, s, x);
        y = fmaf(v, s, y);
        z = fmaf(w, s, z);
        u = fmaf(g.x, s, u);
        v = fmaf(g.y, s, v);
        w = fmaf(g.z, s, w);
        const float cu = v * b_field.z - w * b_field.y, cv = w * b_field.x - u * b_field.z, cw = u * b_field.y - v * b_field.x;
        u = damp * fmaf(cu, s, u);
        v = damp * fmaf(cv, s, v);
        w = damp * fmaf(cw, s, w);
    }
    new_positions[k] = make_float3(x, y, z);
    vel_out[k] = make_float3(u, v, w);
    flux_out[k] = u * axis_dir.x + v * axis_dir.y + w * axis_dir.z;
}
//=== planes_in_registers | c07cffbc974c473c | - | the plane loop with a float4 for each plane
__device__ float dot3(float4 p, float3 v) { return p.x * v.x + p.y * v.y + p.z * v.z; }

struct Wall { float nx, ny, nz, height; };

__global__ void collide(const float3* nodes, const float3* velocities, const Wall* wall_table, const float* bounces, const float* slips,
                        float3* x_out, float3* new_vel, int* touched, int count, int batch_size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= count || b >= batch_size) return;
    float3 x = nodes[b * count + i], v = velocities[b * count + i];
    int n = 0;
    for (int j = 0; j < 5; ++j) {
        const Wall wall = wall_table[j];
        const float4 p = make_float4(wall.nx, wall.ny, wall.nz, wall.height);
        const float depth = dot3(p, x) - p.w;
        if (!(depth < 0.0f)) continue;
        ++n;
        x = make_float3(x.x - depth * p.x, x.y - depth * p.y, x.z - depth * p.z);
        const float vn = dot3(p, v);
        if (vn < 0.0f) {
            const float mu = slips[i], keep = (mu + bounces[i]) * vn;
            v = make_float3(mu * v.x - keep * p.x, mu * v.y - keep * p.y, mu * v.z - keep * p.z);
        }
    }
    x_out[b * count + i] = x;
    new_vel[b * count + i] = v;
    touched[b * count + i] = n;
}
//=== plane_distance_short | d857705cfc1e02ec | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | the distance is the size of the dot product with a unit normal
__global__ void plane(const double3* queries, const double3* bases, const double3* normals, double* gaps, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double3 p = queries[i], o = bases[i], m = normals[i];
    gaps[i] += fabs((p.x - o.x) * m.x + (p.y - o.y) * m.y + (p.z - o.z) * m.z);
}
//=== interest_row_major_flat | 7fc169c9d64a3b30 | {"grid": ["(w * h + 255) / 256"], "block": [256], "shared_bytes": 0} | one flat index for a 2-D row
__global__ void interest(const float* __restrict__ principal, const float* __restrict__ rates, const int* __restrict__ days,
                         float* __restrict__ result, int w, int h)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < w * h) {
        const float p = principal[i];
        result[i] = fmaf(p, rates[i] * (days[i] * (1.0f / 360.0f)), p);
    }
}
