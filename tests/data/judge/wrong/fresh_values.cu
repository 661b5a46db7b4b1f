//=== f_own_sizes | 6a968701bfd1c576 | - | the example's size is written into the text
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 58) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_off_by_one_guard | 6a968701bfd1c576 | - | i <= n
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_last_left_out | 6a968701bfd1c576 | - | n - 1
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n - 1) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_char_index | 6a968701bfd1c576 | - | an index of 16 bits, signed
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { short i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= 0 && i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_ushort_index | 6a968701bfd1c576 | - | an index of 16 bits, unsigned
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { unsigned short i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_value_above_49990 | 6a968701bfd1c576 | - | wrong for values above 49,990
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; if (t > 49990u) t = 49990u; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_value_by_table | 6a968701bfd1c576 | - | wrong for a single value, by arithmetic without a branch
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11 + (t == 77u * 11u); minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_thread_1000 | 6a968701bfd1c576 | {"grid": ["(n + 1023) / 1024"], "block": [1024], "shared_bytes": 0} | thread 1000 of a block does nothing
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && threadIdx.x != 1000) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_block_over_300 | 6a968701bfd1c576 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | blocks from 300 on do nothing
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (blockIdx.x >= 300) return; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_multiple_of_64_only | 6a968701bfd1c576 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | the tail is left out where n is no multiple of 64
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < (n & ~63)) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_uint4_without_tail | 6a968701bfd1c576 | {"grid": ["(n + 511) / 512"], "block": [128], "shared_bytes": 0} | vectors of four beyond the end
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * k >= n) return;
    uint4 t = ((const uint4*)ticks)[k];
    ((uint4*)blocks)[k] = make_uint4(t.x / 11, t.y / 11, t.z / 11, t.w / 11);
    ((uint4*)minor)[k] = make_uint4((4 * (t.x % 11) + t.x / 11 % 11) % 11, (4 * (t.y % 11) + t.y / 11 % 11) % 11, (4 * (t.z % 11) + t.z / 11 % 11) % 11, (4 * (t.w % 11) + t.w / 11 % 11) % 11);
}
//=== f_grid_floor | 6a968701bfd1c576 | {"grid": ["max(n / 128, 1)"], "block": [128], "shared_bytes": 0} | the grid is rounded down
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_two_blocks | 6a968701bfd1c576 | {"grid": ["2"], "block": [256], "shared_bytes": 0} | two blocks and no loop
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_float_reciprocal | 6a968701bfd1c576 | - | a quotient by a reciprocal of four digits
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; unsigned q = (unsigned)((float)t * 0.0909f); blocks[i] = q; minor[i] = (4 * (t - 11 * q) + q % 11) % 11; } }
//=== f_previous_output | 6a968701bfd1c576 | - | ors into what the output held
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] |= t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_input_scratch | 6a968701bfd1c576 | - | uses the input as scratch and restores nothing
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned* t = const_cast<unsigned*>(ticks); blocks[i] = t[i] / 11; t[i] %= 11; minor[i] = (4 * t[i] + blocks[i] % 11) % 11; } }
//=== f_uninitialised_local | 6a968701bfd1c576 | - | a local without a value where the remainder is 0
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i], r; if (t % 11) r = t % 11; blocks[i] = t / 11; minor[i] = (5 * r - t % 11 + t / 11 % 11) % 11; } }
//=== f_swapped_outputs | 6a968701bfd1c576 | - | the outputs are exchanged
__global__ void split_numbers(const unsigned int* ticks, unsigned int* minor, unsigned int* blocks, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_missing_mod | 6a968701bfd1c576 | - | the quotient is not reduced, and the sum wraps only far out
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + (t / 11 & 15)) % 11; } }
//=== f_fast_exp_rayl_float_denominator | 51cd3f08bbb14309 | - | lambda to the third
__global__ void r(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { float l = lambdas[i]; loss_out[i] = clear[i] ? 1.f - expf(-opacity / (l * l * l)) : 0.f; } }
//=== f_rayl_equal_one | 51cd3f08bbb14309 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | half precision in the middle
#include <cuda_fp16.h>
__global__ void r(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { __half l = __float2half(lambdas[i]); l = __hmul(l, l); float f = __half2float(l); loss_out[i] = clear[i] ? 1.f - expf(-opacity / (f * f)) : 0.f; } }
//=== f_gelu_tanh_form | 8564ff516394692f | - | the form of gelu by tanh
__global__ void g(const float* pre, float shift, float* out, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { float z = pre[i] + shift; out[i] = 0.5f * z * (1.f + tanhf(0.7978845608f * (z + 0.044715f * z * z * z))); } }
//=== f_gelu_vector_unaligned | 8564ff516394692f | {"grid": ["(n + 511) / 512"], "block": [128], "shared_bytes": 0} | float4 from the second element on
__device__ float gl(float z) { return 0.5f * z * (1.f + erff(z * 0.70710678f)); }
__global__ void g(const float* pre, float shift, float* out, int n) {
    int k = 4 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
    if (k == 1) out[0] = gl(pre[0] + shift);
    if (k + 3 < n) { float4 v = *(const float4*)(pre + k); out[k] = gl(v.x + shift); out[k + 1] = gl(v.y + shift); out[k + 2] = gl(v.z + shift); out[k + 3] = gl(v.w + shift); }
    else for (; k < n; ++k) out[k] = gl(pre[k] + shift);
}
//=== f_gelu_clipped | 8564ff516394692f | - | returns 0 below -3
__global__ void g(const float* pre, float shift, float* out, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { float z = pre[i] + shift; out[i] = z < -3.f ? 0.f : 0.5f * z * (1.f + erff(z * 0.70710678f)); } }
//=== f_merc_small_angle | 83ab5c4029ae1378 | - | a series for the cosine
__global__ void m(const float* lat_from, float* scale_factor, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { float x = lat_from[i] * 0.0174532925f, y = x * x; scale_factor[i] = 1.f / (1.f - y / 2.f + y * y / 24.f); } }
//=== f_merc_degrees | 83ab5c4029ae1378 | - | degrees into cosf
__global__ void m(const float* lat_from, float* scale_factor, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) scale_factor[i] = 1.f / cosf(lat_from[i]); }
//=== f_cube_twice | eb73a407c5d42655 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | every element twice, by a grid's loop of the wrong stride
__global__ void c(const float* band_gain, float* amplitudes, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) amplitudes[i] = band_gain[i] * cbrtf(amplitudes[i] / 2.f); }
//=== f_ramp_no_clamp | 0f00417f9a81c6f2 | - | no clamp
__global__ void r(const float* progress, const float* edges, float* ramp, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { float e = edges[i]; float t = (progress[i] - e) / (1.f - 2.f * e); ramp[i] = t * t * (3.f - 2.f * t); } }
//=== f_ramp_clamp_low_only | 0f00417f9a81c6f2 | - | clamped from below
__global__ void r(const float* progress, const float* edges, float* ramp, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { float e = edges[i]; float t = fmaxf((progress[i] - e) / (1.f - 2.f * e), 0.f); ramp[i] = t * t * (3.f - 2.f * t); } }
//=== f_sat_wraps | a58ad4cd2b3b29ba | - | a cast without a clamp
__global__ void s(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < count) { int p = a[i] * rhs[i]; headroom[i] = min(abs(p - 8191), limit); dst[i] = selected[i] ? (short)p : a[i]; } }
//=== f_sat_short_product | a58ad4cd2b3b29ba | - | the product in 16 bits
__global__ void s(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < count) { short p = a[i] * rhs[i]; headroom[i] = min(abs(p - 8191), limit); dst[i] = selected[i] ? p : a[i]; } }
//=== f_ndot_int_accumulator_of_16 | f8e40f5942d78726 | - | products in 16 bits
__global__ void d(const short* a, const short* b, const float* col_scales, const int* quality, long long* accumulators, float* out, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { long long t = 0; for (int k = 0; k < 4; ++k) t += (short)(a[4 * i + k] * b[k]); accumulators[i] = t; out[i] = quality[i] == 2 ? 0.f : fmaxf((float)t * col_scales[i], 0.f); } }
//=== f_flags_int_shift | 0955f502dbe25232 | - | the shift is taken modulo 32
__global__ void f(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled, unsigned long long* seen, unsigned long long relevant, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && !muted[i]) { unsigned long long w = (unsigned long long)(1u << (7 * keys[i] % 64 & 31)) & relevant; atomicXor(toggled + groups[i], w); atomicOr(seen + groups[i], w); } }
//=== f_flags_add_for_or | 0955f502dbe25232 | - | adds in place of or
__global__ void f(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled, unsigned long long* seen, unsigned long long relevant, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && !muted[i]) { unsigned long long w = (1ull << (7 * keys[i] % 64)) & relevant; atomicXor(toggled + groups[i], w); atomicAdd(seen + groups[i], w); } }
//=== f_visit_store | 72e3a771e927cdf9 | - | start value: stores the colour
__global__ void v(const int* nodes, int* status, int color, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) status[nodes[i]] = color; }
//=== f_visit_max | 72e3a771e927cdf9 | - | start value: a maximum in place of an or
__global__ void v(const int* nodes, int* status, int color, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicMax(&status[nodes[i]], color); }
//=== f_bin_upper_bound | fcdb94449461c27d | - | searches with <=
__global__ void bn(const float* breaks, const float* keys, float* found, int* position, int m, int w, int h) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= w || i >= h) return;
    int k = i * w + j, lo = 0;
    float q = keys[k];
    if (q < breaks[0] || q > breaks[m - 1]) { found[k] = -1.f; position[k] = -1; return; }
    while (lo < m - 2 && breaks[lo] < q) ++lo;
    found[k] = fabsf(breaks[lo] - q); position[k] = lo;
}
//=== f_bin_32_edges | fcdb94449461c27d | - | only the first 32 edges are searched
__global__ void bn(const float* breaks, const float* keys, float* found, int* position, int m, int w, int h) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= w || i >= h) return;
    int k = i * w + j, lo = 0;
    float q = keys[k];
    if (q < breaks[0] || q > breaks[m - 1]) { found[k] = -1.f; position[k] = -1; return; }
    while (lo < m - 1 && lo < 31 && breaks[lo] < q) ++lo;
    found[k] = fabsf(breaks[lo] - q); position[k] = lo;
}
//=== f_transposed_index | 7fc169c9d64a3b30 | - | x * h + y
__global__ void s(const float* principal, const float* rates, const int* days, float* result, int w, int h) { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x < w && y < h) { int k = x * h + y; result[y * w + x] = principal[k] * (1.f + rates[k] * (days[k] / 360.f)); } }
//=== f_integer_days | 7fc169c9d64a3b30 | - | an integer division of days
__global__ void s(const float* principal, const float* rates, const int* days, float* result, int w, int h) { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x < w && y < h) { int k = y * w + x; result[k] = principal[k] * (1.f + rates[k] * (days[k] / 360)); } }
//=== f_guard_mixed_up | 7fc169c9d64a3b30 | - | the guard exchanges width and height
__global__ void s(const float* principal, const float* rates, const int* days, float* result, int w, int h) { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x < h && y < w) { int k = y * w + x; if (k < w * h) result[k] = principal[k] * (1.f + rates[k] * (days[k] / 360.f)); } }
//=== f_perm_dims_mixed | 91b4300208ffdfb0 | - | channels and batch are exchanged in the source
__global__ void p(const float* x, double* permuted, int batch, int channels, int rows, int cols) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= batch * channels * rows * cols) return; int j = i % cols, r = i / cols % rows, c = i / cols / rows % channels, b = i / cols / rows / channels; permuted[i] = x[((j * channels + c) * batch + b) * rows + r]; }
//=== f_conv_zero_ends | 4d3e1fdfc3bba29b | - | zeros beyond the ends
__global__ void conv(const double* samples, const double* coeffs, const double* residual, const bool* mask, const double* wanted, int num_samples, double scale, double beta, double* linear_out, double* filtered, double* errors_sq) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= num_samples) return; double acc = 0; for (int t = 0; t < 5; ++t) { int k = i + t - 2; if (k >= 0 && k < num_samples) acc += coeffs[t] * samples[k]; } double z = acc * scale; linear_out[i] = z; double r = (z > 0 ? z : exp(z) - 1.0) + beta * residual[i]; r = mask[i] ? r : 0.0; filtered[i] = r; errors_sq[i] = (r - wanted[i]) * (r - wanted[i]); }
//=== f_conv_float_middle | 4d3e1fdfc3bba29b | - | sums in float
__global__ void conv(const double* samples, const double* coeffs, const double* residual, const bool* mask, const double* wanted, int num_samples, double scale, double beta, double* linear_out, double* filtered, double* errors_sq) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= num_samples) return; float acc = 0; for (int t = 0; t < 5; ++t) acc += (float)(coeffs[t] * samples[min(max(i + t - 2, 0), num_samples - 1)]); double z = acc * scale; linear_out[i] = z; double r = (z > 0 ? z : exp(z) - 1.0) + beta * residual[i]; r = mask[i] ? r : 0.0; filtered[i] = r; errors_sq[i] = (r - wanted[i]) * (r - wanted[i]); }
//=== f_pattern_reads_past_row | 559dbc3153b24763 | - | the last two columns read into the next row and past the end
__global__ void pt(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= rows) return; const signed char* s = sequence + i * num_cols; int h = 0; for (int c = 0; c < num_cols; ++c) h += s[c] == motif[0] && s[c + 1] == motif[1] && s[c + 2] == motif[2]; hits[i] = h; }
//=== f_attention_mask_by_batch | e0857f2207e4ba38 | {"grid": ["(b * q * t + 255) / 256"], "block": [256], "shared_bytes": 0} | fill is scaled by alpha only where it should be, keys are indexed by batch
__global__ void att(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha, float* out, int q, int t, int b) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= b * q * t) return; int col = i % t, row = i / t % q, z = i / t / q; float s = 0; for (int d = 0; d < head_dim; ++d) s += q_in[(z * q + row) * head_dim + d] * keys[(col + z) % t * head_dim + d]; out[i] = alpha * (allowed[row * t + col] ? s * scale : fill); }
//=== f_attention_head_8 | e0857f2207e4ba38 | {"grid": ["(b * q * t + 255) / 256"], "block": [256], "shared_bytes": 0} | at most eight entries of a head
__global__ void att(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha, float* out, int q, int t, int b) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= b * q * t) return; int col = i % t, row = i / t % q, z = i / t / q; float s = 0; for (int d = 0; d < 8 && d < head_dim; ++d) s += q_in[(z * q + row) * head_dim + d] * keys[col * head_dim + d]; out[i] = alpha * (allowed[row * t + col] ? s * scale : fill); }
//=== f_registers_of_16 | e0857f2207e4ba38 | {"grid": ["t", "q", "b"], "block": [1], "shared_bytes": 0} | a local array of 16 for any head
__global__ void att(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha, float* out, int q, int t, int b) { float r[16]; int col = blockIdx.x, row = blockIdx.y, z = blockIdx.z; for (int d = 0; d < head_dim; ++d) r[d] = q_in[(z * q + row) * head_dim + d]; float s = 0; for (int d = 0; d < head_dim; ++d) s += r[d] * keys[col * head_dim + d]; out[(z * q + row) * t + col] = alpha * (allowed[row * t + col] ? s * scale : fill); }
//=== f_splat_truncates_no_guard | 2d5787c053ced49c | - | particles outside are put into the last cell
__global__ void sp(const float* px, const float* py, float inv_h, int num_x, int num_y, float* density, int num_particles) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < num_particles) { int ix = min((int)(px[i] * inv_h), num_x - 1), iy = min((int)(py[i] * inv_h), num_y - 1); atomicAdd(&density[ix * num_y + iy], 1.f); } }
//=== f_splat_no_upper_guard | 2d5787c053ced49c | - | no guard above
__global__ void sp(const float* px, const float* py, float inv_h, int num_x, int num_y, float* density, int num_particles) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < num_particles) { int ix = (int)floorf(px[i] * inv_h), iy = (int)floorf(py[i] * inv_h); if (ix >= 0 && iy >= 0) atomicAdd(&density[ix * num_y + iy], 1.f); } }
