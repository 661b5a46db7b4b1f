"""What idioms are written with: a builder of kernels, seeded choice, and the mark of an idiom."""

from generators.build.body import BodyBuilder as BodyBuilder
from generators.build.body import cast as cast
from generators.build.body import extent as extent
from generators.build.body import field as field
from generators.build.body import fn as fn
from generators.build.body import identity as identity
from generators.build.body import make as make
from generators.build.kernel import MOST_COPIES as MOST_COPIES
from generators.build.kernel import KernelBuilder as KernelBuilder
