"""The small compiler of matmul and relu: specs to CUDA."""
