"""Run the texts of one row on the current GPU and judge what they wrote."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from validate.gpu.cubins import CubinStore
from validate.gpu.gradient import GradientCase
from validate.gpu.large import disagreement, first_step, next_step, scaled_sizes
from validate.gpu.launch import Kernel, load_kernel
from validate.gpu.result import COLUMN_OF, TEXTS, Spent, TextResult, counted, told
from validate.gpu.text import (
    PlainText,
    Ran,
    Row,
    Shape,
    Text,
    Values,
    WarpText,
    plain_text_of,
    run_text,
    shape_of,
    warp_launcher,
)
from validate.host.adjoint import check_adjoint, draw_cotangents, run_backward
from validate.host.plain_launch import fits_small_blocks
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import run_reference
from validate.row.adjoint import status_without_run
from validate.row.edges import Setting, settings
from validate.row.gradient import backward_row
from validate.row.sizes import awkward_sizes, describe
from validate.statuses import AdjointStatus, GpuStatus


@dataclass
class Loaded:
    """The texts of a row that compile and load."""

    warp: WarpText | None = None
    backward: Kernel | None = None
    plain: PlainText | None = None
    gradient: PlainText | None = None


def load_texts(
    row: Row,
    texts: Sequence[str],
    store: CubinStore,
    results: Mapping[str, TextResult],
    spent: Spent,
) -> Loaded:
    """Those of `texts` that can be loaded; `results` say why the others cannot."""
    loaded, symbol = Loaded(), f"{row['kernel_name']}_cuda_kernel_"
    if {"forward", "backward"} & set(texts):
        with told(results["forward"], results["backward"]):
            binary = _compiled(store.warp, row, spent)
            loaded.warp = WarpText(_kernel(binary, f"{symbol}forward", spent))
            if "backward" in texts:
                loaded.backward = _kernel(binary, f"{symbol}backward", spent)
    if "plain" in texts:
        with told(results["plain"]):
            plain = _compiled(store.plain, row, spent)
            loaded.plain = plain_text_of(row, lambda name: _kernel(plain, name, spent))
    if "gradient" in texts:
        with told(results["gradient"]):
            other = backward_row(row)
            made = _compiled(store.plain, other, spent)
            loaded.gradient = plain_text_of(other, lambda name: _kernel(made, name, spent))
    return loaded


def _compiled(make: Callable[[Row], tuple[bytes, bool]], row: Row, spent: Spent) -> bytes:
    began = time.perf_counter()
    binary, fresh = make(row)
    if fresh:
        spent.nvrtc_s += time.perf_counter() - began
        spent.compiled += 1
    return binary


def _kernel(binary: bytes, symbol: str, spent: Spent) -> Kernel:
    began = time.perf_counter()
    kernel = load_kernel(binary, symbol)
    spent.load_s += time.perf_counter() - began
    return kernel


class Case:
    """One row on the current GPU.

    `large_elements` is about how many threads the large launch has, 0 for none. Of `texts` other
    than all, plain CUDA is not launched at the large shape: Warp's text is its measure there.
    """

    def __init__(
        self, row: Row, store: CubinStore, large_elements: int, texts: Sequence[str] = TEXTS
    ) -> None:
        self.row, self.store, self.large_elements = row, store, large_elements
        self.texts = tuple(text for text in texts if row[COLUMN_OF[text]] is not None)
        self.spent = Spent()
        self._shapes: list[Shape] = []
        self._wanted: list[Values | None] = []

    def run(self, loaded: Callable[[], None] = lambda: None) -> list[TextResult]:
        """A result for each of the texts; `loaded` is called before the first launch.

        Raises LaunchFailed after a sticky error.
        """
        results = {text: TextResult(text) for text in TEXTS}
        with counted(self.spent):
            texts = load_texts(self.row, self.texts, self.store, results, self.spent)
            loaded()
            self._run(texts, results)
        return [results[text] for text in self.texts]

    def _run(self, loaded: Loaded, results: Mapping[str, TextResult]) -> None:
        first = None
        if loaded.warp is not None:
            first = self._run_shapes(loaded.warp, results["forward"])
        if first is None:
            forward = results["forward"]
            results["backward"].fail(forward.status, "not run: the forward kernel fails")
        elif loaded.backward is not None:
            with told(results["backward"]):
                self._run_backward(loaded.backward, first, results["backward"])
        if loaded.plain is not None:
            self._run_shapes(loaded.plain, results["plain"])
            self._run_small_blocks(loaded.plain, results["plain"])
        if loaded.gradient is not None:
            self._gradient(loaded.gradient, results).run()
        if self.large_elements and first is not None:
            self._run_large(loaded, results)

    def _gradient(self, text: PlainText, results: Mapping[str, TextResult]) -> GradientCase:
        return GradientCase(self.row, text, results["gradient"], self.spent)

    def _run_shapes(self, text: Text, result: TextResult) -> Ran | None:
        """The launch at the row's own sizes when all went well."""
        first = None
        for number, setting in enumerate(settings(self.row)):
            result.shapes.append(setting.name)
            with told(result):
                ran = self._ran(text, self._shape(number, setting), result)
                first = first or ran
                result.time_us = first.time_us
                if result.status == GpuStatus.PASSED:
                    self._compare(ran, self._reference(number), result)
            if result.status != GpuStatus.PASSED:
                result.reason += f" at {result.shapes[-1]}"
                return None
        return first

    def _run_small_blocks(self, text: PlainText, result: TextResult) -> None:
        """Texts of ours ask for the size of their block: at the last shape in another, too."""
        if result.status != GpuStatus.PASSED or not fits_small_blocks(self.row):
            return
        number = len(awkward_sizes(self.row["sizes"])) - 1
        with told(result):
            ran = self._ran(replace(text, small_blocks=True), self._shapes[number], result)
            if result.status == GpuStatus.PASSED:
                self._compare(ran, self._reference(number), result)
        if result.status != GpuStatus.PASSED:
            result.reason += f" in small blocks at {result.shapes[number]}"

    def _ran(self, text: Text, shape: Shape, result: TextResult) -> Ran:
        began = time.perf_counter()
        ran = run_text(text, self.row, shape)
        self.spent.device_s += time.perf_counter() - began
        self.spent.gpu_s += ran.time_us * 1e-6
        if ran.trouble is not None:
            result.fail(*ran.trouble)
        return ran

    def _shape(self, number: int, setting: Setting) -> Shape:
        if number == len(self._shapes):
            self._shapes.append(shape_of(self.row, setting.sizes, setting.args))
            self._wanted.append(None)
        return self._shapes[number]

    def _reference(self, number: int) -> Values | None:
        """The reference's outputs at a shape, computed once for all texts; None without one."""
        row, shape = self.row, self._shapes[number]
        if row["reference"] is not None and self._wanted[number] is None:
            self._wanted[number] = run_reference(
                row["reference"], row["kernel_name"], row["args"], shape.dim, shape.inputs
            )
        return self._wanted[number]

    def _compare(self, ran: Ran, wanted: Values | None, result: TextResult) -> None:
        if wanted is None:
            result.reason = "no reference: memory was checked, values were not"
            return
        for name, value in wanted.items():
            if ran.outputs[name].shape != value.shape:
                shapes = f"{ran.outputs[name].shape}, not {value.shape}"
                result.fail(GpuStatus.WRONG_SHAPE, f"{name} has the shape {shapes}")
                return
        finding = Finding()
        if not compare_outputs(self.row["args"], ran.outputs, wanted, finding):
            result.fail(finding.status, finding.reason)
        result.tolerance_used = max(result.tolerance_used, finding.tolerance_used)

    def _run_backward(self, kernel: Kernel, first: Ran, result: TextResult) -> None:
        shape = self._shapes[0]
        result.shapes.append(describe(shape.sizes))
        launcher = warp_launcher(self.row, kernel)
        if (without := status_without_run(self.row)) is not None:
            result.reason = f"not checked: {without}"
            return
        found = check_adjoint(self.row, shape.dim, shape.inputs, first.outputs, launcher)
        result.time_us = launcher.time_us
        self.spent.gpu_s += launcher.time_us * 1e-6
        result.tolerance_used = found.tolerance_used
        if found.status != AdjointStatus.AGREES:
            result.fail(GpuStatus.WRONG_VALUE, f"{found.status}: {found.reason}")

    def _run_large(self, loaded: Loaded, results: Mapping[str, TextResult]) -> None:
        """Texts that passed so far, at a large shape; sooner at a smaller one that takes long."""
        step = first_step(self.large_elements)
        while True:
            shape = shape_of(self.row, scaled_sizes(self.row, step))
            first = self._ran_large(loaded.warp, shape, results["forward"])
            if first is None:
                return
            other = self._ran_large(loaded.plain, shape, results["plain"])
            slowest = max(first.time_us, other.time_us if other is not None else 0.0)
            following = next_step(step, self.large_elements, slowest)
            if following is None:
                self._finish_large(loaded, shape, (first, other), results)
                return
            step = following

    def _finish_large(
        self,
        loaded: Loaded,
        shape: Shape,
        ran: tuple[Ran, Ran | None],
        results: Mapping[str, TextResult],
    ) -> None:
        first, other = ran
        if other is not None:
            with told(results["plain"]):
                self._judge_large(loaded, shape, (first, other), results["plain"])
        if loaded.backward is not None and results["backward"].status == GpuStatus.PASSED:
            with told(results["backward"]):
                self._run_backward_large(loaded.backward, shape, first, results["backward"])
        if loaded.gradient is not None and results["gradient"].status == GpuStatus.PASSED:
            self._gradient(loaded.gradient, results).run_large(shape.sizes)

    def _ran_large(self, text: Text | None, shape: Shape, result: TextResult) -> Ran | None:
        if text is None or result.status != GpuStatus.PASSED:
            return None
        result.large_sizes = describe(shape.sizes)
        with told(result, where=f" at {result.large_sizes}"):
            ran = self._ran(text, shape, result)
            result.large_time_us = ran.time_us
            return ran if result.status == GpuStatus.PASSED else None
        return None

    def _judge_large(
        self, loaded: Loaded, shape: Shape, ran: tuple[Ran, Ran], result: TextResult
    ) -> None:
        found = disagreement(self.row, lambda: self._variants(loaded), shape, *ran)
        if found is not None:
            mismatch, name = found
            where = f"at {describe(shape.sizes)}"
            result.fail(GpuStatus.WRONG_VALUE, f"against Warp's text: {name}{mismatch} {where}")

    def _variants(self, loaded: Loaded) -> list[Text]:
        """Warp's forward text, as compiled always and without fused multiply-adds."""
        assert loaded.warp is not None
        binary = self.store.warp_uncontracted(self.row)
        symbol = f"{self.row['kernel_name']}_cuda_kernel_forward"
        return [loaded.warp, WarpText(load_kernel(binary, symbol))]

    def _run_backward_large(
        self, kernel: Kernel, shape: Shape, first: Ran, result: TextResult
    ) -> None:
        """No reference is quick enough here: what is looked at is which memory it touches."""
        row, launcher = self.row, warp_launcher(self.row, kernel)
        result.large_sizes = describe(shape.sizes)
        cotangents = draw_cotangents(row, shape.inputs)
        after = {**shape.inputs, **first.outputs}
        _, trouble = run_backward(row, shape.dim, after, cotangents, launcher)
        result.large_time_us = launcher.time_us
        self.spent.gpu_s += launcher.time_us * 1e-6
        if trouble:
            status = (
                GpuStatus.WROTE_OUT_OF_BOUNDS
                if trouble.startswith("wrote")
                else GpuStatus.INPUT_CHANGED
            )
            result.fail(status, f"{trouble} at {result.large_sizes}")
