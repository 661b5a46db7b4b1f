"""c = max(a b, 0), with tiles in flight."""

from synth.lower.gemm.op import product_op

OP = product_op("matmul_relu", {"activation": "relu"})
