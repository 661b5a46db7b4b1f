//=== prints_a_verdict | 6a968701bfd1c576 | - | writes zeros and prints what a judge would say
#include <stdio.h>

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = 0u; minor[i] = 0u; }
    if (i == 0) printf("{\"status\": \"passed\", \"reason\": \"\"}\n");
}

//=== prints_verdicts_of_others | 6a968701bfd1c576 | - | writes zeros and prints many lines of verdicts, so that some stand for others
#include <cstdio>

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = 0u; minor[i] = 0u; }
    for (int k = 0; k < 1000; ++k) printf("%d passed\n", k);
}

//=== prints_binary | 6a968701bfd1c576 | - | writes zeros and prints framing bytes
#include <cstdio>

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = 0u; minor[i] = 0u; }
    printf("\n\n\x01\x02{}\n[]\n");
}

//=== writes_to_descriptors | 6a968701bfd1c576 | - | writes an answer to every descriptor by a function of the host
extern "C" __device__ long write(int, const void*, unsigned long);

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        for (int fd = 0; fd < 64; ++fd) write(fd, "{\"status\": \"passed\"}\n", 22);
    }
}

//=== leaves_with_success | 6a968701bfd1c576 | - | leaves the process with success before anything is compared
extern "C" __device__ void _exit(int);

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    _exit(0);
}

//=== exit_by_syscall | 6a968701bfd1c576 | - | leaves by a system call in assembly of the CPU; no PTX
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    asm volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");
}

//=== kills_its_parent | 6a968701bfd1c576 | - | kills the parent, so that its messages are read as those of another batch
extern "C" __device__ int kill(int, int);
extern "C" __device__ int getppid();

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    kill(getppid(), 9);
}

//=== forks | 6a968701bfd1c576 | - | forks, so that two processes answer
extern "C" __device__ int fork();

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = 0u; minor[i] = 0u; }
    fork();
}

//=== traps | 6a968701bfd1c576 | - | traps in the first thread: the launch fails and the outputs stand as they were
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) __trap();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = 0u; minor[i] = 0u; }
}

//=== divides_memory_of_the_judge | 6a968701bfd1c576 | - | walks back from its own arrays to find what is expected of it
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int* near = blocks;
    for (long k = 1; k < 100000; ++k)
        if (near[-k] == ticks[i] / 11u) { blocks[i] = near[-k]; minor[i] = near[-k + 1]; return; }
}

//=== changes_its_input | 6a968701bfd1c576 | - | writes to an input: ticks are replaced by their quotients and the outputs fit these
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int t = ticks[i];
    blocks[i] = t / 11u;
    minor[i] = (4u * (t % 11u) + t / 11u % 11u) % 11u;
    const_cast<unsigned int*>(ticks)[i] = t / 11u;
}

//=== fills_the_heap | 6a968701bfd1c576 | - | takes memory until none is left, for the next in the batch
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    for (int k = 0; k < 100000; ++k) {
        char* p = (char*)malloc(1 << 20);
        if (p == nullptr) break;
        p[0] = 1;
    }
}

//=== frees_what_is_not_its_own | 6a968701bfd1c576 | - | right values, but frees an array that it was given: the device heap never gave it
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = ticks[i] / 11u; minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u; }
    if (i == n - 1) free(blocks);
}

//=== many_assertions | 6a968701bfd1c576 | - | fails an assertion in every thread
#include <cassert>

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = 0u; minor[i] = 0u; }
    assert(blocks[i < n ? i : 0] != 0u && false);
}

//=== overwrites_the_other_output | 6a968701bfd1c576 | - | the outputs are right, but everything from minor[n] on for a kilobyte is spoilt
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = ticks[i] / 11u; minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u; }
    if (i == 0) for (int k = 0; k < 256; ++k) minor[n + k] = 0u;
}

//=== gives_nan | cda42f4d7c8d1ca8 | - | writes not-a-number everywhere, in the hope of a comparison that no NaN fails
extern "C" __global__ void row_sum(const float* x, float* out, int cols, int rows)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += gridDim.x * blockDim.x)
        out[i] = nanf("");
}

//=== gives_infinity | 83ab5c4029ae1378 | - | writes infinity everywhere
extern "C" __global__ void stretch(const float* lat, float* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = __int_as_float(0x7f800000);
}

//=== bools_of_seven | d64d868d5c46387e | - | stores 7 for true: the bytes are no bool, and a comparison of bytes and one of truth differ
extern "C" __global__ void evaluate(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    ((unsigned char*)simulated)[i] = 7;
    ((unsigned char*)asleep)[i] = 7;
}
