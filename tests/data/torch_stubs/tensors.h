// What launchers use of PyTorch, declared: for compilers that check them where there is no PyTorch.
#pragma once
#include <cstdint>
#include <vector>

typedef struct CUstream_st* cudaStream_t;

namespace c10 {
struct Device {};
}  // namespace c10

namespace at {
enum ScalarType {
    kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBool, kUInt16, kUInt32, kUInt64
};
struct TensorOptions {
    TensorOptions dtype(ScalarType type) const;
};
struct IntArrayRef {
    IntArrayRef(std::initializer_list<int64_t> sizes);
};
struct Tensor {
    bool is_cuda() const;
    bool is_contiguous() const;
    ScalarType scalar_type() const;
    c10::Device device() const;
    TensorOptions options() const;
    void* data_ptr() const;
};
Tensor empty(IntArrayRef sizes, TensorOptions options);
Tensor zeros(IntArrayRef sizes, TensorOptions options);
}  // namespace at

namespace c10::cuda {
struct CUDAGuard {
    explicit CUDAGuard(Device device);
};
struct CUDAStream {
    operator cudaStream_t() const;
};
CUDAStream getCurrentCUDAStream();
}  // namespace c10::cuda

template <typename... Parts>
void torch_check(bool holds, Parts... parts);
void launch_check();
#define TORCH_CHECK(...) torch_check(__VA_ARGS__)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() launch_check()
