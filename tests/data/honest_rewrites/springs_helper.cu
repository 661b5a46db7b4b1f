// row: d6be492bc68818d5
// launch: {"grid": ["(num_edges + 511) / 512"], "block": [128], "shared_bytes": 0}
// Grid-stride; a template helper adds with either sign.
template <int SIGN> __device__ void add3(double3* p, double a, double b, double c)
{
    atomicAdd(&p->x, SIGN * a);
    atomicAdd(&p->y, SIGN * b);
    atomicAdd(&p->z, SIGN * c);
}

extern "C" __global__ __launch_bounds__(128) void springs(const int* src, const int* dst, const double3* pos,
    const double* k, const double* l0, double3* f, int m)
{
    const int step = gridDim.x * blockDim.x;
    for (int e = blockDim.x * blockIdx.x + threadIdx.x; e < m; e += step) {
        const int a = src[e], b = dst[e];
        if (a != b) {
            double dx = pos[b].x - pos[a].x, dy = pos[b].y - pos[a].y, dz = pos[b].z - pos[a].z;
            double len = norm3d(dx, dy, dz);
            double s = k[e] * (len - l0[e]) / len;
            add3<1>(&f[a], s * dx, s * dy, s * dz);
            add3<-1>(&f[b], s * dx, s * dy, s * dz);
        }
    }
}
