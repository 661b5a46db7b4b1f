"""Names that the texts of `synth.lower.text` and `synth.lower.matmul` share."""

from __future__ import annotations

from collections.abc import Sequence

from synth.lower.spec import Schedule, Spec

LANES = "xyzw"
_REAL = {"float32": "float", "float64": "double"}


class Words:
    """Names that the text of a spec uses again and again."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.schedule: Schedule = spec.schedule
        self.real = _REAL[spec.dtype]
        self.zero = "0.0f" if self.real == "float" else "0.0"
        self.unroll = "#pragma unroll" + (f" {s}" if (s := spec.schedule.unroll) else "")

    def vector(self, width: int) -> str:
        """The type of a vector of that many elements."""
        return f"{self.real}{width}"

    def relu(self, value: str) -> str:
        """The larger of a value and zero."""
        return f"{'fmaxf' if self.real == 'float' else 'fmax'}({value}, {self.zero})"

    def made(self, parts: Sequence[str]) -> str:
        """A vector of given elements."""
        return f"make_{self.vector(len(parts))}({', '.join(parts)})"
