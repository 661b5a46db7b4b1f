// row: 972782c226875e26
// launch: {"grid": ["(batch * rows * cols + 127) / 128"], "block": [128], "shared_bytes": 0}
// Three dimensions in one.
extern "C" __global__ void cdf(const double* s, const double* mid, double width, double* p, int R, int C, int B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * R * C) {
        double z = 0.5 * (s[i] - mid[i % C]) / width;
        z = z > 1.0 ? 1.0 : z < -1.0 ? -1.0 : z;
        p[i] = 0.5 + 0.5 * (z + 0.31830989 * sin(3.1415927 * z));
    }
}
