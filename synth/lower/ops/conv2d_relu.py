"""y = max(conv(x, weight), 0), of NCHW arrays."""

from synth.lower.conv.forward import conv_op

OP = conv_op("conv2d_relu", {"activation": "relu"})
