"""c = epilogue(a b), with tiles in flight."""

from synth.lower.gemm.op import product_op

OP = product_op("matmul", {})
