//=== ceil_256_minus_1 | fadcac77f891e39e | {"grid": ["(n + 256 - 1) / 256"], "block": [256], "shared_bytes": 0} | (n + 256 - 1) / 256
__global__ void diff(const double* signal, const double* mob, const double* src, double* slope, int n, double h)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        double fwd = signal[i + 1 < n ? i + 1 : 0];
        double bwd = signal[i > 0 ? i - 1 : n - 1];
        slope[i] = mob[i] * (0.5 * (fwd - bwd) / h) - src[i];
    }
}
//=== minus_1_over_plus_1 | 6a968701bfd1c576 | {"grid": ["(n - 1) / 256 + 1"], "block": [256], "shared_bytes": 0} | (n - 1) / 256 + 1
__global__ void split(const unsigned* ticks, unsigned* blocks, unsigned* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned q = ticks[i] / 11, r = ticks[i] % 11;
    blocks[i] = q;
    minor[i] = (r * 4 + q % 11) % 11;
}
//=== shift_right_8 | 51cd3f08bbb14309 | {"grid": ["(n + 255) >> 8"], "block": [256], "shared_bytes": 0} | (n + 255) >> 8
__global__ void loss(const float* lambdas, const unsigned char* clear, float opacity, float* out, int n)
{
    int i = (blockIdx.x << 8) + threadIdx.x;
    if (i < n) {
        float l = lambdas[i];
        float v = 1.0f - expf(-opacity / (l * l * l * l));
        out[i] = clear[i] == 0 ? 0.0f : v;
    }
}
//=== whole_number_grid_2 | 0b26c113ec3f2e8c | {"grid": [2], "block": [128], "shared_bytes": 0} | two blocks, a grid-stride loop
struct Curve {
    float emax, half_max, slope;
};

__global__ void logistic4(Curve c, float* doses, int n)
{
    float lh = log10f(c.half_max);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float e = c.slope * (lh - log10f(doses[i]));
        doses[i] = 0.1f + (c.emax - 0.1f) / (1.0f + exp10f(e));
    }
}
//=== whole_number_grid_64 | 94ffef8fb470a4bc | {"grid": [64], "block": [256], "shared_bytes": 0} | 64 blocks, a grid-stride loop, no division
__global__ void bang_bang(const double* gaps, const double* speeds, double band, double* command, int n)
{
    const int step = gridDim.x * blockDim.x;
    for (int j = threadIdx.x + blockIdx.x * blockDim.x; j < n; j += step) {
        const double v = speeds[j];
        const double s = gaps[j] + 0.5 * v * fabs(v) / band;
        command[j] = s >= 0.0 ? band : -band;
    }
}
//=== whole_number_text | f0b5eba7297d39b9 | {"grid": ["32"], "block": [192], "shared_bytes": 0} | a number in quotes, blocks of 192
__global__ void negative(const float3* pixels, float3* image_out, int cols, int rows)
{
    const float* in = (const float*)pixels;
    float* out = (float*)image_out;
    int total = 3 * cols * rows;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x)
        out[i] = 1.0f - in[i];
}
//=== product_ceil | cda42f4d7c8d1ca8 | {"grid": ["(rows * cols + 127) / 128"], "block": [128], "shared_bytes": 0} | ceil-div of a product
__global__ void row_sum(const float* x, float* out, int cols, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    const float* p = x + 5 * i;
    out[i] = p[0] + p[1] + p[2] + p[3] + p[4];
}
//=== product_ceil_nested | 91b4300208ffdfb0 | {"grid": ["((batch * channels) * (rows * cols) + (64 - 1)) / 64"], "block": [64], "shared_bytes": 0} | parentheses within parentheses
__global__ void permute(const float* x, double* permuted, int batch, int channels, int rows, int cols)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int total = batch * channels * rows * cols;
    if (k < total) {
        int j = k % cols;
        int rest = k / cols;
        permuted[k] = x[j * (batch * channels * rows) + rest];
    }
}
//=== block_as_formula | 1e6d9d8c735c5148 | {"grid": ["(count + 4 * 32 - 1) / (4 * 32)"], "block": ["4 * 32"], "shared_bytes": "0"} | block and shared bytes as text
__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs,
                      float gamma, float* result, int count)
{
    int i = threadIdx.x + blockIdx.x * (4 * 32);
    if (i < count)
        result[i] = gamma * y[i] + omegas[i] * x[i] + coeffs[0] * basis[i] + coeffs[1] * basis[i + count];
}
//=== min_1024 | 83ab5c4029ae1378 | {"grid": ["min((n + 127) / 128, 1024)"], "block": [128], "shared_bytes": 0} | a bounded number of blocks
__global__ void mercator(const float* lat, float* k, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        k[i] = 1.0f / cosf(lat[i] * 0.01745329252f);
}
//=== max_min | a58ad4cd2b3b29ba | {"grid": ["max(1, min((count + 511) / 512, 65535))"], "block": [512], "shared_bytes": 0} | max(1, min(…, 65535))
__global__ void mul_sat(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        int p = a[i] * rhs[i];
        int c = p > 32767 ? 32767 : p < -32768 ? -32768 : p;
        int d = p - 8191;
        if (d < 0) d = -d;
        headroom[i] = d < limit ? d : limit;
        dst[i] = selected[i] ? (short)c : a[i];
    }
}
//=== ternary_grid | eb73a407c5d42655 | {"grid": ["n < 65536 ? (n + 63) / 64 : 1024"], "block": [64], "shared_bytes": 0} | a conditional in a formula
__global__ void loud(const float* gain, float* amp, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        amp[i] = gain[i] * cbrtf(amp[i] / 2.0f);
}
//=== shared_sizeof | f23f4e264fbca565 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": "3 * 128 * sizeof(float)"} | shared bytes with sizeof(float)
__global__ void voices(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n)
{
    extern __shared__ float s[];
    float *p = s, *d = s + blockDim.x, *g = s + 2 * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float t = i < n ? stamps[i] : 0.0f, sum = 0.0f;
    for (int base = 0; base < num_parts; base += blockDim.x) {
        int v = base + threadIdx.x;
        if (v < num_parts) {
            p[threadIdx.x] = 6.283185307f * pitches[v];
            d[threadIdx.x] = 2.0f * depths[v];
            g[threadIdx.x] = gains[v];
        }
        __syncthreads();
        int left = min((int)blockDim.x, num_parts - base);
        for (int k = 0; k < left; ++k) sum += g[k] * tanhf(d[k] * sinf(p[k] * t));
        __syncthreads();
    }
    if (i < n) totals[i] = sum;
}
//=== shared_256_plus_2r | 4d3e1fdfc3bba29b | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": "(256 + 2 * 2) * 8"} | a tile with a halo, its bytes as a formula
__global__ void conv(const double* samples, const double* coeffs, const double* residual, const bool* mask, const double* wanted,
                     int num_samples, double scale, double beta, double* linear_out, double* filtered, double* errors_sq)
{
    extern __shared__ double tile[];
    const int r = 2;
    const int start = blockIdx.x * blockDim.x;
    for (int k = threadIdx.x; k < blockDim.x + 2 * r; k += blockDim.x) {
        int at = start + k - r;
        at = at < 0 ? 0 : (at > num_samples - 1 ? num_samples - 1 : at);
        tile[k] = samples[at];
    }
    __syncthreads();
    const int i = start + threadIdx.x;
    if (i >= num_samples) return;
    double acc = 0.0;
    for (int t = 0; t < 5; ++t) acc += coeffs[t] * tile[threadIdx.x + t];
    const double z = acc * scale;
    linear_out[i] = z;
    double f = 0.0;
    if (mask[i]) f = (z > 0.0 ? z : exp(z) - 1.0) + beta * residual[i];
    filtered[i] = f;
    errors_sq[i] = (f - wanted[i]) * (f - wanted[i]);
}
//=== shared_number_dynamic | d3093430a5d45bc7 | {"grid": ["(n + 95) / 96"], "block": [96], "shared_bytes": 768} | dynamic shared memory in whole bytes, blocks of 96
__global__ void crossings(const float2* points, const float2* outline, int corners, bool* inside, int n)
{
    extern __shared__ float2 edge[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 p = points[min(i, n - 1)];
    float2 a = outline[corners - 1];
    bool in = false;
    for (int base = 0; base < corners; base += blockDim.x) {
        if (base + threadIdx.x < corners) edge[threadIdx.x] = outline[base + threadIdx.x];
        __syncthreads();
        const int m = min(corners - base, (int)blockDim.x);
        for (int k = 0; k < m; ++k) {
            const float2 b = edge[k];
            if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y)) in = !in;
            a = b;
        }
        __syncthreads();
    }
    if (i < n) inside[i] = in;
}
//=== one_block_per_row | ecec05d3cab19f98 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | one block for each row, its first lane works
__global__ void kadane(const double* samples, double* filtered, int row_length, int rows)
{
    const double* row = samples + (long long)blockIdx.x * row_length;
    if (threadIdx.x != 0) return;
    double best = 0.0, run = row[0];
    for (int c = 1; c < row_length; c++) {
        run = (run > 0.0 ? run : 0.0) + row[c];
        if (run > best) best = run;
    }
    filtered[blockIdx.x] = best;
}
//=== no_shared_key | aedfc487908608bc | {"grid": ["(cols + 31) / 32", "(rows + 3) / 4"], "block": [32, 4]} | the launch leaves shared_bytes out
__global__ void days(const long long* years, const long long* mm, long long* out, int cols, int rows)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 4 + threadIdx.y;
    if (c >= cols || r >= rows) return;
    const int k = r * cols + c;
    const unsigned thirty_one = 0x15AAu;  // bit m is set for a month of 31 days
    const long long y = years[k];
    const int m = (int)mm[k];
    out[k] = m == 2 ? 28 + (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)) : 30 + (int)(thirty_one >> m & 1u);
}
//=== three_axes_ones | 0ecfca721711bdd2 | {"grid": ["(d * h * w + 191) / 192", "1", 1], "block": [192, 1, 1], "shared_bytes": 0} | ones as text and number
struct M { float a, b, c, d; };

__global__ void lu2(const M* mats, const float2* loads, float* sol0, float* x1_out, int h, int w, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= d * h * w) return;
    M m = mats[i];
    float2 b = loads[i];
    float l = m.c / m.a;
    float x1 = (b.y - l * b.x) / (m.d - l * m.b);
    x1_out[i] = x1;
    sol0[i] = (b.x - m.b * x1) / m.a;
}
//=== depth_in_z | cc82b68897123073 | {"grid": ["(w + 15) / 16", "(h + 15) / 16", "c"], "block": [16, 16], "shared_bytes": 0} | grid of three axes, block of two
__global__ void grad2(const double* image, double* gradient, int h, int w, int c)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, z = blockIdx.z;
    if (x < w && y < h) {
        const double* p = image + (size_t)z * (h + 2) * (w + 2);
        double gx = (p[(y + 1) * (w + 2) + x + 2] - p[(y + 1) * (w + 2) + x]) / 2;
        double gy = (p[(y + 2) * (w + 2) + x + 1] - p[y * (w + 2) + x + 1]) / 2;
        gradient[((size_t)z * h + y) * w + x] = gx * gx + gy * gy;
    }
}
//=== block_1024 | 8ca59185c94a4f51 | {"grid": ["(n * m + 1023) / 1024"], "block": [1024], "shared_bytes": 0} | the largest block
__global__ void film(double n_rel, double* cos_theta, int m, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n * m) {
        double s = sin(3.0 * n_rel * cos_theta[k]);
        cos_theta[k] = 1.0 / (1.0 + 2.0 * s * s);
    }
}
//=== block_32 | c0fc2e0cd864e8ae | {"grid": ["(n + 31) / 32"], "block": [32], "shared_bytes": 0} | the smallest usual block
struct Q { float x, y, z, w; };

__global__ void error(const Q* estimates, Q goal, Q* deltas, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= n) return;
    Q q = estimates[i], e;
    e.x = -goal.w * q.x + goal.x * q.w - goal.y * q.z + goal.z * q.y;
    e.y = -goal.w * q.y + goal.y * q.w - goal.z * q.x + goal.x * q.z;
    e.z = -goal.w * q.z + goal.z * q.w - goal.x * q.y + goal.y * q.x;
    e.w = goal.w * q.w + goal.x * q.x + goal.y * q.y + goal.z * q.z;
    if (e.w < 0.0f) { e.x = -e.x; e.y = -e.y; e.z = -e.z; e.w = -e.w; }
    deltas[i] = e;
}
//=== block_of_8x4x2 | 0ecfca721711bdd2 | {"grid": ["(w + 7) / 8", "(h + 3) / 4", "(d + 1) / 2"], "block": [8, 4, 2], "shared_bytes": 0} | a small block of three axes
__global__ void gauss(const float4* mats, const float2* loads, float* sol0, float* x1_out, int h, int w, int d)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= w || y >= h || z >= d) return;
    int i = (z * h + y) * w + x;
    float4 m = mats[i];
    float2 b = loads[i];
    float f = m.z / m.x;
    float u = m.w - f * m.y;
    float v = (b.y - f * b.x) / u;
    sol0[i] = (b.x - m.y * v) / m.x;
    x1_out[i] = v;
}
//=== several_per_thread | 0f00417f9a81c6f2 | {"grid": ["(n + 128 * 4 - 1) / (128 * 4)"], "block": [128], "shared_bytes": 0} | four elements a thread, a block apart
#define PER_THREAD 4

__global__ void edges4(const float* progress, const float* edges, float* ramp, int n)
{
    int base = blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        int i = base + k * blockDim.x;
        if (i < n) {
            float e = edges[i];
            float t = __saturatef((progress[i] - e) / ((1.0f - e) - e));
            ramp[i] = t * t * (3.0f - 2.0f * t);
        }
    }
}
//=== swapped_axes | 559dbc3153b24763 | {"grid": [1, "(rows + 7) / 8"], "block": [4, 8], "shared_bytes": 0} | rows along y, four threads share a row by an atomic in shared memory
__global__ void pattern(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows)
{
    __shared__ int found[8];
    int row = blockIdx.y * 8 + threadIdx.y;
    if (threadIdx.x == 0) found[threadIdx.y] = 0;
    __syncthreads();
    if (row < rows) {
        const signed char* s = sequence + row * num_cols;
        for (int c = threadIdx.x; c + 3 <= num_cols; c += 4)
            if (s[c] == motif[0] && s[c + 1] == motif[1] && s[c + 2] == motif[2]) atomicAdd(&found[threadIdx.y], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0 && row < rows) hits[row] = found[threadIdx.y];
}
//=== unsigned_literals | 2f76ea422a113ed2 | {"grid": ["(rows + 63u) / 64u"], "block": [64], "shared_bytes": 0} | literals with a suffix in the formula
__global__ void rank(const short* samples, const short* reference, int width, int* below, int* larger, int rows)
{
    unsigned i = blockIdx.x * 64u + threadIdx.x;
    if (i < (unsigned)rows) {
        int mark = reference[i], lo = 0, hi = 0;
        for (const short *p = samples + i * width, *end = p + width; p != end; ++p) {
            lo += *p + 15 < mark;
            hi += *p - 15 > mark;
        }
        below[i] = lo;
        larger[i] = hi;
    }
}
