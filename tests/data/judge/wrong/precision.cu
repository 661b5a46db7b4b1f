//=== tanh_gelu | 8564ff516394692f | - | gelu by the formula with tanh: off by up to 5e-4 where 2e-5 is allowed
__device__ __forceinline__ void gelu_activation_element(float pre, float shift, float& out)
{
    const float u = pre + shift;
    out = 0.5f * u * (1.0f + tanhf(0.79788456f * (u + 0.044715f * u * u * u)));
}

extern "C" __global__ void __launch_bounds__(128) gelu_activation(
    const float* __restrict__ pre,
    float shift,
    float* __restrict__ out,
    int n)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        const float4 pre4 = *reinterpret_cast<const float4*>(pre + first);
        float4 out4;
        gelu_activation_element(pre4.x, shift, out4.x);
        gelu_activation_element(pre4.y, shift, out4.y);
        gelu_activation_element(pre4.z, shift, out4.z);
        gelu_activation_element(pre4.w, shift, out4.w);
        *reinterpret_cast<float4*>(out + first) = out4;
    } else {
        for (int idx = first; idx < n; ++idx) {
            gelu_activation_element(pre[idx], shift, out[idx]);
        }
    }
}

//=== sigmoid_gelu | 8564ff516394692f | - | gelu as x * sigmoid(1.702 x): off by up to 2e-2
__device__ __forceinline__ void gelu_activation_element(float pre, float shift, float& out)
{
    const float u = pre + shift;
    out = u / (1.0f + expf(-1.702f * u));
}

extern "C" __global__ void __launch_bounds__(128) gelu_activation(
    const float* __restrict__ pre,
    float shift,
    float* __restrict__ out,
    int n)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        const float4 pre4 = *reinterpret_cast<const float4*>(pre + first);
        float4 out4;
        gelu_activation_element(pre4.x, shift, out4.x);
        gelu_activation_element(pre4.y, shift, out4.y);
        gelu_activation_element(pre4.z, shift, out4.z);
        gelu_activation_element(pre4.w, shift, out4.w);
        *reinterpret_cast<float4*>(out + first) = out4;
    } else {
        for (int idx = first; idx < n; ++idx) {
            gelu_activation_element(pre[idx], shift, out[idx]);
        }
    }
}

//=== float_for_double | fadcac77f891e39e | - | computes in float where 1e-14 is allowed
extern "C" __global__ void central_difference(
    const double* __restrict__ signal,
    const double* __restrict__ mobilities,
    const double* __restrict__ source,
    double* __restrict__ slope,
    int num_i,
    double step_size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_i) {
        return;
    }
    const int next = (i + 1) % num_i;
    const int i_prev = (i - 1 + num_i) % num_i;
    slope[i] = (float)mobilities[i] * (0.5f * ((float)signal[next] - (float)signal[i_prev]) / (float)step_size) - (float)source[i];
}

//=== float_running_sum | ecec05d3cab19f98 | - | keeps the level in float where 1e-13 is allowed
extern "C" __global__ void row_filter(
    const double* __restrict__ samples,
    double* __restrict__ filtered,
    int row_length,
    int rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) {
        return;
    }
    float level = (float)samples[i * row_length];
    double largest = 0.0;
    for (int col = 1; col < row_length; ++col) {
        const double v = samples[i * row_length + col];
        if (level > 0.0) {
            level += v;
        } else {
            level = v;
        }
        largest = fmax(largest, (double)level);
    }
    filtered[i] = largest;
}

//=== float_sine | 8ca59185c94a4f51 | - | a sine of float where 2e-14 is allowed
extern "C" __global__ void eval_thin_film(
    double n_rel,
    double* __restrict__ cos_theta,
    int m,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < n * m; index += stride) {
        const double ndoth = cos_theta[index];
        const double half_phase = 3.0 * n_rel * ndoth;
        const double sine = sinf((float)half_phase);
        cos_theta[index] = 1.0 / (1.0 + 2.0 * sine * sine);
    }
}

//=== float_root | d857705cfc1e02ec | - | a square root of float where 5e-14 is allowed
__device__ __forceinline__ double3 operator-(double3 a, double3 b)
{
    return make_double3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ double dot(double3 a, double3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ double3 operator*(double a, double3 b)
{
    return make_double3(a * b.x, a * b.y, a * b.z);
}

extern "C" __global__ void closest_plane(
    const double3* __restrict__ queries,
    const double3* __restrict__ bases,
    const double3* __restrict__ normals,
    double* __restrict__ gaps,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const double3 x = queries[i];
    const double3 o_i = bases[i];
    const double3 n_i = normals[i];
    const double along = dot(x - o_i, n_i);
    const double3 gap = x - (x - along * n_i);
    const double result = sqrtf((float)dot(gap, gap));
    gaps[i] += result;
}

//=== float_dose | 9386d641f6f9c281 | - | a state of float where 5e-15 is allowed
extern "C" __global__ void dose_steps(
    const double* __restrict__ initial,
    double growth,
    double dose,
    int max_steps,
    double* __restrict__ state_out,
    int* __restrict__ periods,
    double* __restrict__ peak,
    int count)
{
    const int stride = blockDim.x * gridDim.x;
    for (int run = blockIdx.x * blockDim.x + threadIdx.x; run < count; run += stride) {
        float x = (float)initial[run];
        int hits = 0;
        double top = x;
        for (int t = 0; t < max_steps; ++t) {
            x -= growth * x;
            if (x < 0.5) {
                x += dose;
                ++hits;
            }
            if (x > top) {
                top = x;
            }
        }
        state_out[run] = x;
        periods[run] = hits;
        peak[run] = top;
    }
}

//=== float_rotation | e09fc2cf33096214 | - | half of the angle in float where 2e-14 is allowed
struct Quatd {
    double x, y, z, w;
};

__device__ __forceinline__ double length_sq(double3 a)
{
    return a.x * a.x + a.y * a.y + a.z * a.z;
}

__device__ __forceinline__ double length(double3 v)
{
    return sqrt(length_sq(v));
}

__device__ __forceinline__ double3 operator/(double3 a, double b)
{
    return make_double3(a.x / b, a.y / b, a.z / b);
}

__device__ __forceinline__ Quatd quat_from_axis_angle(double3 axis, double angle)
{
    const double sine = sinf(0.5f * (float)angle);
    return Quatd{axis.x * sine, axis.y * sine, axis.z * sine, cos(0.5 * angle)};
}

__device__ __forceinline__ Quatd operator*(Quatd a, Quatd b)
{
    return Quatd{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
        a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

__device__ __forceinline__ double length_sq(Quatd a)
{
    return a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
}

__device__ __forceinline__ Quatd operator*(Quatd a, double b)
{
    return Quatd{a.x * b, a.y * b, a.z * b, a.w * b};
}

__device__ __forceinline__ Quatd normalize(Quatd v)
{
    return v * rsqrt(length_sq(v));
}

extern "C" __global__ void step_orientations(
    const Quatd* __restrict__ orientations,
    const double3* __restrict__ omegas,
    double h,
    Quatd* __restrict__ q_next,
    int n,
    int b)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int batch = blockIdx.y * blockDim.y + threadIdx.y;
    if (batch >= b || idx >= n) {
        return;
    }
    const int cell = batch * n + idx;
    Quatd quat = orientations[cell];
    const double3 w = omegas[cell];
    const double speed = length(w);
    quat = normalize(quat * quat_from_axis_angle(w / speed, speed * h));
    q_next[cell] = quat;
}

//=== float_integer_sum | f8e40f5942d78726 | - | a sum of up to 1e8 kept in float: no exact integer from 16,777,217 on
extern "C" __global__ void __launch_bounds__(256) narrow_dot(
    const short* __restrict__ a,
    const short* __restrict__ b,
    const float* __restrict__ col_scales,
    const int* __restrict__ quality,
    long long* __restrict__ accumulators,
    float* __restrict__ out,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float total = 0.0f;
        for (int s = 0; s < 4; ++s) {
            total += (float)a[i * 4 + s] * (float)b[s];
        }
        const float real = (float)total * col_scales[i];
        const float result = fmaxf(real, 0.0f);
        accumulators[i] = (long long)total;
        if (quality[i] == 2) {
            out[i] = 0.0f;
            continue;
        }
        out[i] = result;
    }
}

//=== float_permute | 91b4300208ffdfb0 | - | rounds the values through half before they are widened
#include <cuda_fp16.h>

extern "C" __global__ void relayout_tensor(
    const float* __restrict__ x,
    double* __restrict__ permuted,
    int batch,
    int channels,
    int rows,
    int cols)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= batch * channels * rows * cols) {
        return;
    }
    const int b = index / (channels * rows * cols);
    const int c = index / (rows * cols) % channels;
    const int i = index / cols % rows;
    const int j = index % cols;
    const double value = (double)__half2float(__float2half(x[((j * batch + b) * channels + c) * rows + i]));
    permuted[index] = value;
}

//=== half_sum | cda42f4d7c8d1ca8 | - | adds up in half: 3e-3 where 1e-5 is allowed
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        __half acc = __float2half(0.0f);
        for (int c = 0; c < 5; ++c) {
            acc = __float2half(__half2float(acc) + x[index * 5 + c]);
        }
        out[index] = __half2float(acc);
    }
}

//=== bfloat_product | 11eba0b176d074f0 | - | rounds the products through bfloat16: 1e-2 where 5e-6 is allowed
#include <cuda_bf16.h>

extern "C" __global__ void dense_vector(
    const float* __restrict__ a,
    const float* __restrict__ x,
    const float* __restrict__ offsets,
    float* __restrict__ c,
    int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) {
        return;
    }
    float s = 0.0f;
    for (int p = 0; p < 5; ++p) {
        s += __bfloat162float(__float2bfloat16(a[p * m + i] * x[p]));
    }
    c[i] = s + offsets[i];
}

//=== half_scores | e0857f2207e4ba38 | - | adds up scores in half: 1e-3 where 1e-5 is allowed
#include <cuda_fp16.h>

extern "C" __global__ void attention_scores(
    const float* __restrict__ q_in,
    const float* __restrict__ keys,
    const bool* __restrict__ allowed,
    float fill,
    int head_dim,
    float scale,
    float alpha,
    float* __restrict__ out,
    int q,
    int t,
    int b)
{
    __shared__ float keys_tile[8][9];
    __shared__ float q_in_tile[8][8];
    const int x = blockIdx.x * 8 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    const int col = min(x, t - 1);
    const int row = min(y, q - 1);
    const int batch = blockIdx.z;
    __half low = __float2half(0.0f);
    for (int base = 0; base < head_dim; base += 8) {
        const int load_x = base + threadIdx.x;
        const int load_row = min((int)(blockIdx.x * 8 + threadIdx.y), t - 1);
        if (load_x < head_dim) {
            keys_tile[threadIdx.y][threadIdx.x] = keys[load_row * head_dim + load_x];
            q_in_tile[threadIdx.y][threadIdx.x] = q_in[(batch * q + row) * head_dim + load_x];
        }
        __syncthreads();
        const int count = min(8, head_dim - base);
        for (int turn = 0; turn < count; ++turn) {
            low = __float2half(__half2float(low) + q_in_tile[threadIdx.y][turn] * keys_tile[threadIdx.x][turn]);
        }
        __syncthreads();
    }
    if (y >= q || x >= t) {
        return;
    }
    float dotted = __half2float(low);
    dotted *= scale;
    if (!allowed[row * t + col]) {
        dotted = fill;
    }
    dotted *= alpha;
    out[(batch * q + row) * t + col] = dotted;
}

//=== third_root_by_power | eb73a407c5d42655 | - | a third as 0.333: 5e-4 of the value
__device__ float cube_loudness(float level, float base_level)
{
    return powf(level / base_level, 0.333f);
}

extern "C" __global__ void cube_loudness_kernel(
    const float* __restrict__ band_gain,
    float* __restrict__ amplitudes,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== sine_of_two_terms | 61b89cb218175b90 | - | sines by two terms of their series: off by up to 2e-2
struct Gimbal {
    float roll;
    float pitch_angle;
    float yaw;
};

struct Quatf {
    float x, y, z, w;
};

__device__ __forceinline__ Quatf quat_rpy(float roll, float pitch, float yaw)
{
    const float sr = 0.5f * roll - 0.125f * roll * roll * roll / 6.0f;
    const float cr = cosf(0.5f * roll);
    const float sp = sinf(0.5f * pitch);
    const float cp = cosf(0.5f * pitch);
    const float sy = 0.5f * yaw - 0.125f * yaw * yaw * yaw / 6.0f;
    const float cy = cosf(0.5f * yaw);
    return Quatf{sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy};
}

extern "C" __global__ void euler_to_rotation(
    const Gimbal* __restrict__ gimbal_list,
    Quatf* __restrict__ quats,
    int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    const Gimbal gimbal = gimbal_list[i];
    const Quatf q = quat_rpy(gimbal.roll, gimbal.pitch_angle, gimbal.yaw);
    quats[i] = q;
}

//=== pi_of_two_digits | f23f4e264fbca565 | - | pi with two digits: 1e-2 of the phase
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
        }
        __syncthreads();
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
        __syncthreads();
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== exponential_of_three_terms | 51cd3f08bbb14309 | - | an exponential by three terms: off by up to 6e-2
__device__ __forceinline__ void eval_rayleigh_loss_element(float lambdas, unsigned char clear,
    float opacity, float& loss_out)
{
    const float wavelength = lambdas;
    const float lambda2 = wavelength * wavelength;
    loss_out = (float)(clear != 0 ? 1 : 0) * (opacity / (lambda2 * lambda2) - 0.5f * (opacity / (lambda2 * lambda2)) * (opacity / (lambda2 * lambda2)));
}

extern "C" __global__ void __launch_bounds__(128) eval_rayleigh_loss(
    const float* __restrict__ lambdas,
    const unsigned char* __restrict__ clear,
    float opacity,
    float* __restrict__ loss_out,
    int n)
{
    const int first = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 1 < n) {
        const float2 lambdas2 = *reinterpret_cast<const float2*>(lambdas + first);
        const uchar2 clear2 = *reinterpret_cast<const uchar2*>(clear + first);
        float2 loss_out2;
        eval_rayleigh_loss_element(lambdas2.x, clear2.x, opacity, loss_out2.x);
        eval_rayleigh_loss_element(lambdas2.y, clear2.y, opacity, loss_out2.y);
        *reinterpret_cast<float2*>(loss_out + first) = loss_out2;
    } else {
        for (int i = first; i < n; ++i) {
            eval_rayleigh_loss_element(lambdas[i], clear[i], opacity, loss_out[i]);
        }
    }
}

//=== days_divided_as_whole | 7fc169c9d64a3b30 | - | days are divided as whole numbers: 0 for all but day 360
extern "C" __global__ void __launch_bounds__(256) simple_interest(
    const float* __restrict__ principal,
    const float* __restrict__ rates,
    const int* __restrict__ days,
    float* __restrict__ result,
    int w,
    int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h || x >= w) {
        return;
    }
    const int idx = y * w + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)(days[idx] / 360)));
    result[idx] = value;
}

//=== year_of_365 | 7fc169c9d64a3b30 | - | a year of 365 days instead of 360
extern "C" __global__ void __launch_bounds__(256) simple_interest(
    const float* __restrict__ principal,
    const float* __restrict__ rates,
    const int* __restrict__ days,
    float* __restrict__ result,
    int w,
    int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h || x >= w) {
        return;
    }
    const int idx = y * w + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)days[idx] / 365.0f));
    result[idx] = value;
}

//=== blend_rounds_down | 769ab82e8084a488 | - | leaves out the rounding: one less for about half of the bytes
extern "C" __global__ void screen_bytes(
    const unsigned char* __restrict__ top,
    const unsigned char* __restrict__ dst,
    unsigned int strength,
    unsigned char* __restrict__ blended,
    int nx,
    int ny)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < ny * nx; index += stride) {
        const unsigned int s = top[index];
        const unsigned int d = dst[index];
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 0u;
        blended[index] = (unsigned char)((u + (u >> 8)) >> 8);
    }
}

//=== blend_divides_by_256 | 769ab82e8084a488 | - | divides by 256 where 255 is meant
extern "C" __global__ void screen_bytes(
    const unsigned char* __restrict__ top,
    const unsigned char* __restrict__ dst,
    unsigned int strength,
    unsigned char* __restrict__ blended,
    int nx,
    int ny)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < ny * nx; index += stride) {
        const unsigned int s = top[index];
        const unsigned int d = dst[index];
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
        blended[index] = (unsigned char)(u >> 8);
    }
}

//=== root_without_weight | 732db1e0a835cd84 | - | divides by the number of parts, not by their weight
__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(128) rms_measure_by_kind(
    const float* __restrict__ red,
    const float* __restrict__ green,
    const float* __restrict__ blue,
    const signed char* __restrict__ feature,
    const float* __restrict__ weights,
    float knee,
    int num_parts,
    float* __restrict__ rms_out,
    float* __restrict__ totals,
    int n)
{
    const int tid = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (tid >= n) {
        return;
    }
    float squares = 0.0f;
    float total = 0.0f;
    float mass = 0.0f;
    for (int s = lane; s < num_parts; s += 32) {
        const int idx = tid * num_parts + s;
        const float r = red[idx];
        const float g = green[idx];
        const float b = blue[idx];
        const signed char mode = feature[idx];
        float result = 0.0f;
        if (mode == 0) {
            const float warm = r - 0.5f * (g + b);
            const float beta = 0.8660254f * (g - b);
            result = atan2f(beta, warm) * 57.2957795f / 360.0f;
        } else if (mode == 1) {
            const float luma = 0.2126f * r + 0.7152f * g + 0.0722f * b;
            result = luma + knee * (r - luma);
        } else {
            const float brightest = fmaxf(r, fmaxf(g, b));
            const float low = fminf(r, fminf(g, b));
            result = (brightest - low) / (brightest + 0.001f);
        }
        const float weight = weights[idx];
        squares += weight * result * result;
        total += weight * result;
        mass += 1.0f;
    }
    squares = warp_sum(squares);
    total = warp_sum(total);
    mass = warp_sum(mass);
    if (lane != 0) {
        return;
    }
    rms_out[tid] = sqrtf(squares / mass);
    totals[tid] = total;
}

//=== fast_reciprocal_of_half | 67885658d547729f | - | the reciprocal through half: 1e-3 where 1e-6 is allowed
#include <cuda_fp16.h>

struct Float3x3 {
    float m[3][3];
};

__device__ __forceinline__ float3 operator*(const Float3x3& a, float3 b)
{
    return make_float3(a.m[0][0] * b.x + a.m[0][1] * b.y + a.m[0][2] * b.z,
        a.m[1][0] * b.x + a.m[1][1] * b.y + a.m[1][2] * b.z,
        a.m[2][0] * b.x + a.m[2][1] * b.y + a.m[2][2] * b.z);
}

__device__ __forceinline__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

extern "C" __global__ void camera_project(
    const float3* __restrict__ points,
    const float3* __restrict__ offsets,
    const Float3x3* __restrict__ extrinsics,
    const Float3x3* __restrict__ k_mats,
    float2* __restrict__ projected,
    float* __restrict__ disparity,
    int n,
    int b_size)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < b_size * n; index += stride) {
        const int b = index / n;
        const int i = index % n;
        const float3 p = points[index];
        const Float3x3 rm = extrinsics[i];
        const float3 q = rm * p + offsets[b] + make_float3(0.0f, 0.0f, 3.0f);
        const Float3x3 cam = k_mats[index];
        const float3 h = cam * q;
        const float iw = 1.0f / h.z;
        const float2 uv = make_float2(h.x * iw, h.y * iw);
        projected[index] = uv;
        disparity[index] = __half2float(hrcp(__float2half(q.z)));
    }
}

//=== decay_applied_once | 6067142ae7e7a5c7 | - | the decay over all three sub-steps is applied once, at the end
__device__ __forceinline__ float3 operator*(float3 a, float b)
{
    return make_float3(a.x * b, a.y * b, a.z * b);
}

__device__ __forceinline__ void operator+=(float3& a, float3 b)
{
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ void operator*=(float3& a, float b)
{
    a.x *= b;
    a.y *= b;
    a.z *= b;
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

extern "C" __global__ void advance_particles(
    const float3* __restrict__ places,
    const float3* __restrict__ velocities,
    float3 g,
    float h,
    float3 b_field,
    float drag,
    float3 axis_dir,
    float3* __restrict__ new_positions,
    float3* __restrict__ vel_out,
    float* __restrict__ flux_out,
    int count,
    int batch)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x;
        index < batch * count;
        index += stride) {
        float3 x = places[index];
        float3 v = velocities[index];
        const float h_sub = h / 3.0f;
        for (int sub = 0; sub < 3; ++sub) {
            x += v * h_sub;
            v += g * h_sub;
            v += cross(v, b_field) * h_sub;
        }
        v *= expf(-drag * h);
        new_positions[index] = x;
        vel_out[index] = v;
        flux_out[index] = dot(v, axis_dir);
    }
}
