//=== f_ballot_of_those_left | 72e3a771e927cdf9 | - | a full mask after some lanes ended: those that have ended need not vote
__global__ void mark_visited(const int* nodes, int* status, int color, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned any = __ballot_sync(0xffffffffu, color != 0);
    if (any != 0u) atomicOr(&status[nodes[i]], color);
}
