"""Builds a whole program: parameters with their input contract, helpers, sizes, body."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from generators.build.body import BodyBuilder as BodyBuilder
from generators.build.body import cast as cast
from generators.build.body import extent as extent
from generators.build.body import field as field
from generators.build.body import fn as fn
from generators.build.body import identity as identity
from generators.build.body import lift
from generators.build.body import make as make
from generators.build.docs import clear, first_comment, first_sentence, kernel_doc
from generators.build.draw import Draw
from generators.build.outputs import Draft, reads_of, sizes_in_use, slimmed
from generators.build.phrases import imperative, without_twins
from generators.build.siblings import size_name
from generators.build.threads import Row, is_plain
from generators.build.work import worked
from generators.program import ir
from generators.program.dtypes import INT32, Array, Struct, Type
from generators.program.expr import Call, Const, Expr, Var
from generators.program.prune import pruned
from generators.program.walk import statements

FIXED_TRIP_COUNTS = 0.2
"""Share of the loops over inner sizes whose trip count is a literal."""

MOST_COPIES = 5
"""Largest such literal: Warp writes the body out as often, in the forward and the reverse pass."""


def _idle(param: ir.Param, draft: Draft) -> bool:
    """Whether a parameter holds a size that a kernel does not read, and nobody speaks of."""
    told = re.search(rf"\b{param.name}\b", draft.text)
    return param.init.startswith("size:") and not told and param.name not in reads_of(draft)


class KernelBuilder(BodyBuilder):
    """Builds a whole program: parameters with their input contract, helpers, sizes, body."""

    def __init__(self, draw: Draw, half_inputs: bool = False) -> None:
        super().__init__(draw)
        self.half_inputs = half_inputs
        self.exact: set[str] = set()
        """Inputs that keep float32 where others lie in half precision: sums, logarithms of sums."""
        self.params: list[ir.Param] = []
        self.sizes: dict[str, ir.Size] = {}
        self.fixed: dict[str, int] = {}
        self.functions: list[ir.Function] = []
        self.structs: list[Struct] = []
        self.threads: tuple[str, ...] = ()
        self.launch_dim: tuple[str, ...] = ()
        self.row: Row | None = None
        self.block_dim = 0

    def size(self, symbol: str, low: int, high: int, minimum: int = 1, multiple_of: int = 1) -> str:
        """Declare a size symbol; its value is drawn in [low, high]. Gives the symbol back."""
        value = self.draw.value.integer(low, high) // multiple_of * multiple_of
        self.sizes[symbol] = ir.Size(symbol, max(value, minimum), minimum, multiple_of)
        return symbol

    def array(
        self,
        name: str | Sequence[str],
        element: Type,
        shape: Sequence[str] | str,
        *,
        role: str = "in",
        init: str = "uniform",
        low: object = None,
        high: object = None,
        fields: Sequence[ir.FieldInit] = (),
    ) -> Var:
        """Declare an array parameter of size expressions ``shape``; low and high as printed."""
        dims = tuple(d.replace(" ", "") for d in ((shape,) if isinstance(shape, str) else shape))
        type_ = Array(element, len(dims))
        return self._param(name, type_, role, dims, init, low, high, tuple(fields))

    def out(self, name: str | Sequence[str], element: Type, shape: Sequence[str] | str) -> Var:
        """Declare an output array of which the kernel writes every element."""
        return self.array(name, element, shape, role="out")

    def accumulator(
        self,
        name: str | Sequence[str],
        element: Type,
        shape: Sequence[str] | str,
        start: object = 0,
    ) -> Var:
        """Declare an inout array that starts as ``start`` everywhere, for atomics."""
        return self.array(
            name, element, shape, role="inout", init="reduction_identity", low=start, high=start
        )

    def scalar(
        self,
        name: str | Sequence[str],
        type_: Type,
        low: object = None,
        high: object = None,
        init: str = "uniform",
        fields: Sequence[ir.FieldInit] = (),
    ) -> Var:
        """Declare a by-value parameter: a scalar, a composite or (with ``fields``) a struct."""
        return self._param(name, type_, "in", (), init, low, high, tuple(fields))

    def size_param(self, name: str | Sequence[str], expression: str) -> Var:
        """Declare an int32 parameter whose value is a size, such as the row length."""
        candidates = (name,) if isinstance(name, str) else tuple(name)
        called = [size_name(word) for text in candidates for word in text.split()]
        return self._param(called, INT32, "in", (), f"size:{expression}", None, None, ())

    def trip_count(self, name: str | Sequence[str], symbol: str) -> Expr:
        """How often a loop over the inner size ``symbol`` runs.

        Mostly an int32 parameter. Else a literal, and then the size is that number and no symbol
        any more: Warp unrolls such loops, and its adjoint is right for more of them.
        """
        if not self.draw.shape.chance(FIXED_TRIP_COUNTS):
            return self.size_param(name, symbol)
        self.fixed[symbol] = min(self.sizes.pop(symbol).value, MOST_COPIES)
        return lift(self.fixed[symbol], INT32)

    def struct(self, name: str, *fields: tuple[str, Type]) -> Struct:
        self.used.add(name)
        declared = Struct(name, tuple(fields))
        self.structs.append(declared)
        return declared

    def function(
        self, name: str, params: Sequence[Var], body: BodyBuilder, result: Type, doc: str = ""
    ) -> str:
        """Add a helper function whose body another builder collected. Gives its name back."""
        self.used.add(name)
        self.functions.append(ir.Function(name, tuple(params), result, body.body(), doc))
        return name

    def call(self, name: str, *args: Expr) -> Call:
        function = next(f for f in self.functions if f.name == name)
        assert [a.type for a in args] == [p.type for p in function.params], name
        return Call(name, args, function.result)

    def thread(self, *dims: str, names: Sequence[str] = ("i", "j", "k", "l")) -> tuple[Var, ...]:
        """Launch one thread for each point of ``dims``; gives the thread indices.

        One whose name a parameter has already is called something else.
        """
        taken = {p.name for p in self.params}
        chosen = tuple(
            self.name("i j k l r c") if name in taken else name for name in names[: len(dims)]
        )
        self.used.update(chosen)
        self.threads, self.launch_dim = chosen, dims
        return tuple(Var(name, INT32) for name in chosen)

    def can_run_rows(self) -> bool:
        """Whether a thread can run along the last axis of the launch, as far as it is written."""
        *others, last = self.launch_dim or ("",)
        ends = any(
            isinstance(s, ir.Return) for block in self._blocks for s in statements(tuple(block))
        )
        free = last in self.sizes and last not in others and is_plain(self.params, last)
        return bool(others) and free and not ends and self.row is None and len(self._blocks) == 1

    def along_row(
        self, before: ir.Body = (), after: Callable[[Expr], ir.Body] | None = None
    ) -> None:
        """Launch one thread for each row, which runs along the last axis: :meth:`can_run_rows`.

        ``before`` stands before the loop; ``after``, of how many elements a row has, after it.
        """
        index = Var(self.threads[-1], INT32)
        self.row = Row(index, self.launch_dim[-1], before, after)

    def program(self, idiom: str, level: int, name: str, description: str) -> ir.Program:
        """The finished program; layout and docstring are drawn here.

        ``name`` comes from :meth:`name`, so that no variable is called the same.
        """
        layout = self._layout()
        body, told = (self.body(), "") if self.block_dim else worked(self)
        description = re.sub(r" +(?=[ ,;]|\.(?![\d.]))", "", description + told)
        description = re.sub(r"(?<=\de-)0(?=\d)", "", description)
        written = Draft(
            self.params, self.functions, self.structs, self.sizes, pruned(body), description
        )
        slim = slimmed(written, self.launch_dim, self.draw.shape)
        self.params, self.sizes, description = slim.params, slim.sizes, slim.text
        outputs = [p.name for p in self.params if p.role != "in"]
        summary = first_sentence(imperative(description, outputs))
        description = imperative(clear(description), outputs)
        description = without_twins(description, {p.name for p in self.params} | {*self.threads})
        if description[0].islower() and self.block_dim:
            description = f"For each block: {description}"
        body = self._at_least_two(slim.body)
        self.params = [p for p in self.params if not _idle(p, slim)]
        self.sizes = sizes_in_use(self.sizes, self.params, self.launch_dim)
        params = tuple(self._settled(p) for p in self._ordered())
        doc = kernel_doc(self.draw, summary, params, self.launch_dim, self.block_dim)
        if not doc and not self.block_dim:
            body = (*first_comment(self.draw, params, self.launch_dim), *body)
        kernel = self._kernel(name, params, body, doc)
        return ir.Program(
            self.draw.category,
            idiom,
            level,
            description,
            tuple(slim.structs),
            tuple(slim.functions),
            kernel,
            tuple(self.sizes.values()),
            self.draw.input_seed,
            layout,
        )

    def _kernel(
        self, name: str, params: tuple[ir.Param, ...], body: ir.Body, doc: str
    ) -> ir.Kernel:
        parts = (name, params, self.threads, self.launch_dim, body, doc)
        return ir.TiledKernel(*parts, self.block_dim) if self.block_dim else ir.Kernel(*parts)

    def _layout(self) -> ir.Layout:
        return ir.Layout(
            array_style=self.draw.layout.weighted({"array": 5, "array2d": 2, "bracket": 8}),
            short_scalars=self.draw.layout.chance(0.75),
            letters=self.draw.layout.chance(0.3),
            len_calls=self.draw.layout.chance(0.4),
        )

    def _at_least_two(self, body: ir.Body) -> ir.Body:
        """A body of one statement with what it writes, or where, in a local of its own."""
        if len(body) != 1 or not isinstance(body[0], ir.Store | ir.Atomic):
            return body
        (only,) = body
        assert isinstance(only, ir.Store | ir.Atomic)
        if not isinstance(only.value, Const | Var):
            value = Var(self.name("value", "result", "v", "res"), only.value.type)
            return (ir.Assign(value.name, only.value), replace(only, value=value))
        if not isinstance(only.indices[0], Const | Var):
            index = Var(self.name("at", "slot", "index", "idx"), INT32)
            named = replace(only, indices=(index, *only.indices[1:]))
            return (ir.Assign(index.name, only.indices[0]), named)
        return body

    def _ordered(self) -> list[ir.Param]:
        """Parameters as people order them: arrays, then numbers, then what is written.

        One layout in four has the numbers last.
        """
        numbers_last = self.draw.shape.chance(0.25)

        def rank(param: ir.Param) -> int:
            if isinstance(param.type, Array):
                return 0 if param.role == "in" else 2
            return 3 if numbers_last else 1

        return sorted(self.params, key=rank)

    def _settled(self, param: ir.Param) -> ir.Param:
        """A parameter with numbers in place of the sizes that have become constants."""
        init, _, expression = param.init.partition(":")
        if expression:
            init = f"{init}:{self._with_numbers(expression)}"
        shape = tuple(self._with_numbers(text) for text in param.shape)
        return replace(param, shape=shape, init=init)

    def _with_numbers(self, expression: str) -> str:
        if not self.fixed:
            return expression
        return re.sub(r"[A-Za-z_]\w*", lambda m: str(self.fixed.get(m[0], m[0])), expression)

    def _param(
        self,
        name: str | Sequence[str],
        type_: Type,
        role: str,
        shape: tuple[str, ...],
        init: str,
        low: object,
        high: object,
        fields: tuple[ir.FieldInit, ...],
    ) -> Var:
        chosen = self.name(*((name,) if isinstance(name, str) else name))
        bounds = [None if b is None else str(b) for b in (low, high)]
        self.params.append(ir.Param(chosen, type_, role, shape, init, bounds[0], bounds[1], fields))
        return Var(chosen, type_)
