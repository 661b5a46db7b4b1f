"""y = conv(x, weight), of NCHW arrays."""

from synth.lower.conv.forward import conv_op

OP = conv_op("conv2d", {})
