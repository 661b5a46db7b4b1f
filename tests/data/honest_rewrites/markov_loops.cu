// row: fcad8fc8bf36066f
// launch: {"grid": ["(n * b + 255) / 256"], "block": [256], "shared_bytes": 0}
// One flat index; the transposed product as loops over components.
struct V4 { double c[4]; };
struct M4 { double c[16]; };

extern "C" __global__ void step(const V4* p, M4 T, V4* q, double* q0, int n, int b)
{
    int flat = blockIdx.x * blockDim.x + threadIdx.x;
    if (flat >= n * b) return;
    V4 in = p[flat], out;
    for (int col = 0; col < 4; ++col) {
        double s = 0.0;
        for (int row = 0; row < 4; ++row) s = fma(T.c[4 * row + col], in.c[row], s);
        out.c[col] = s;
    }
    q[flat] = out;
    q0[flat] = out.c[0];
}
