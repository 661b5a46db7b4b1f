// row: a9a79c5c90f58eae
// launch: {"grid": ["(walkers + 127) / 128"], "block": [128], "shared_bytes": 0}
// Moves from tables in constant memory instead of branches.
__constant__ int d_row[4] = {0, 1, 0, -1};
__constant__ int d_col[4] = {1, 0, -1, 0};

extern "C" __global__ void wander(const int* cmd, const int* cell, int H, int W, int moves, int* ro, int* co,
                                  int* bump, int walkers)
{
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= walkers) return;
    int r = H / 2, c = W / 2, b = 0;
    for (const int* m = cmd + w * moves; m != cmd + (w + 1) * moves && *m != 4; ++m) {
        const int k = *m >= 0 && *m < 3 ? *m : 3;
        const int r2 = (r + d_row[k] + H) % H, c2 = (c + d_col[k] + W) % W;
        if (cell[r2 * W + c2] == 3) ++b;
        else r = r2, c = c2;
    }
    ro[w] = r;
    co[w] = c;
    bump[w] = b;
}
