"""Our own backward kernel of a row on the current GPU.

On the host it was compared with central differences. Here it has to give what its own reference
gives, at the same shapes, and to keep within its memory at a large one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validate.gpu.result import Spent, TextResult, told
from validate.gpu.text import PlainText, Ran, Shape, run_text
from validate.host.adjoint import draw_cotangents
from validate.host.gradient import backward_inputs, least_of, unlike_reference
from validate.row.edges import EDGES, settings
from validate.row.gradient import backward_row
from validate.row.inputs import draw_inputs
from validate.row.sizes import describe, evaluate_all
from validate.statuses import GpuStatus

Row = Mapping[str, Any]


class GradientCase:
    """The backward kernel of one row."""

    def __init__(self, row: Row, text: PlainText, result: TextResult, spent: Spent) -> None:
        self.row, self.text, self.result, self.spent = row, text, result, spent
        self.backward = backward_row(row)
        self.least: dict[str, float] = {}

    def run(self) -> None:
        """At every shape of the row but its edges, whose derivatives are not promised."""
        result = self.result
        for setting in settings({**self.row, EDGES: []}):
            result.shapes.append(setting.name)
            with told(result, where=f" at {setting.name}"):
                shape = self._shape(setting.sizes)
                ran = self._ran(shape)
                result.time_us = ran.time_us if result.time_us is None else result.time_us
                if ran.trouble is not None:
                    result.fail(ran.trouble[0], f"{ran.trouble[1]} at {setting.name}")
                elif wrong := unlike_reference(
                    self.backward, shape.dim, shape.inputs, ran.outputs, least=self.least
                ):
                    result.fail(GpuStatus.WRONG_VALUE, f"{wrong} at {setting.name}")
                self.least = self.least or least_of(ran.outputs)
            if result.status != GpuStatus.PASSED:
                return

    def run_large(self, sizes: Mapping[str, int]) -> None:
        """At a shape where no reference ends soon: which memory it touches."""
        result = self.result
        result.large_sizes = describe(sizes)
        with told(result, where=f" at {result.large_sizes}"):
            ran = self._ran(self._shape(sizes))
            result.large_time_us = ran.time_us
            if ran.trouble is not None:
                result.fail(ran.trouble[0], f"{ran.trouble[1]} at {result.large_sizes}")

    def _shape(self, sizes: Mapping[str, int]) -> Shape:
        inputs = draw_inputs(self.row["args"], sizes, self.row["input_seed"])
        cotangents = draw_cotangents(self.row, inputs)
        passed = backward_inputs(self.row, self.backward, inputs, cotangents)
        return Shape(sizes, evaluate_all(self.row["launch"]["dim"], sizes), passed)

    def _ran(self, shape: Shape) -> Ran:
        ran = run_text(self.text, self.backward, shape)
        self.spent.gpu_s += ran.time_us * 1e-6
        return ran
