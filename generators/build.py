"""Builder: an idiom writes its kernel statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from generators import ir
from generators.draw import Draw
from generators.dtypes import INT32, Array, Scalar, Struct, Type
from generators.expr import Call, Cast, Component, Construct, Expr, Field, Operand, Var, literal
from generators.expr import op as op_node

Index = Operand | tuple[Operand, ...]


class BodyBuilder:
    """Collects the statements of one function or kernel body; blocks nest by ``with``."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.used: set[str] = {*ir.RESERVED, "dim", "thread"}
        self._blocks: list[list[ir.Statement]] = [[]]

    def name(self, *candidates: str) -> str:
        """A name not used yet: one of the candidates, drawn, numbered only when all are taken."""
        free = [c for c in candidates if c not in self.used]
        if free:
            chosen = self.draw.word.choice(free)
        else:
            base = self.draw.word.choice(candidates)
            chosen = next(f"{base}{k}" for k in range(2, 100) if f"{base}{k}" not in self.used)
        self.used.add(chosen)
        return chosen

    def emit(self, statement: ir.Statement) -> None:
        self._blocks[-1].append(statement)

    def let(self, name: str | Sequence[str], value: Expr) -> Var:
        """Declare a local variable; ``name`` is one candidate or several."""
        candidates = (name,) if isinstance(name, str) else tuple(name)
        var = Var(self.name(*candidates), value.type)
        self.emit(ir.Assign(var.name, value))
        return var

    def assign(self, var: Var, value: Operand) -> None:
        self.emit(ir.Assign(var.name, self.lift(value, var.type)))

    def augment(self, var: Var, op: str, value: Operand) -> None:
        """``var op= value`` with op add, sub, mul or div."""
        self.emit(ir.AugAssign(var.name, op, self.lift(value, var.type)))

    def set(self, var: Var, index: Index, value: Operand, op: str = "") -> None:
        """Write a component of a local vector or matrix."""
        target = var[index]
        assert isinstance(target, Component)
        self.emit(ir.SetComponent(var.name, target.indices, op, self.lift(value, target.type)))

    def set_field(self, var: Var, field: str, value: Expr) -> None:
        assert isinstance(var.type, Struct)
        self.emit(ir.SetField(var.name, var.type, field, value))

    def store(self, array: Var, index: Index, value: Operand, op: str = "") -> None:
        target = array[index]
        assert not isinstance(target, Component)
        self.emit(ir.Store(array, target.indices, op, self.lift(value, target.type)))

    def atomic(self, op: str, array: Var, index: Index, value: Operand) -> None:
        target = array[index]
        assert isinstance(target.type, Scalar), "atomics work on scalars"
        assert target.type.bits >= 32, "devices have no narrower atomics"
        assert not isinstance(target, Component)
        self.emit(ir.Atomic(op, array, target.indices, self.lift(value, target.type)))

    def comment(self, text: str) -> None:
        self.emit(ir.Comment(text))

    def return_(self, value: Expr | None = None) -> None:
        self.emit(ir.Return(value))

    def break_(self) -> None:
        self.emit(ir.Break())

    def continue_(self) -> None:
        self.emit(ir.Continue())

    @contextmanager
    def if_(self, condition: Expr) -> Iterator[None]:
        with self._block() as body:
            yield
        self.emit(ir.If(((condition, tuple(body)),), ()))

    @contextmanager
    def elif_(self, condition: Expr) -> Iterator[None]:
        before = self._last_if()
        with self._block() as body:
            yield
        self._blocks[-1][-1] = ir.If((*before.branches, (condition, tuple(body))), ())

    @contextmanager
    def else_(self) -> Iterator[None]:
        before = self._last_if()
        with self._block() as body:
            yield
        self._blocks[-1][-1] = ir.If(before.branches, tuple(body))

    @contextmanager
    def for_(
        self, name: str | Sequence[str], stop: Operand, start: Operand = 0, step: int = 1
    ) -> Iterator[Var]:
        """``for name in range(start, stop, step)``; gives the int32 loop variable."""
        candidates = (name,) if isinstance(name, str) else tuple(name)
        var = Var(self.name(*candidates), INT32)
        with self._block() as body:
            yield var
        bounds = [self.lift(b, INT32) for b in (start, stop)]
        self.emit(ir.For(var.name, bounds[0], bounds[1], step, tuple(body)))

    @contextmanager
    def while_(self, condition: Expr) -> Iterator[None]:
        with self._block() as body:
            yield
        self.emit(ir.While(condition, tuple(body)))

    def body(self) -> ir.Body:
        assert len(self._blocks) == 1, "a block is still open"
        return tuple(self._blocks[0])

    @staticmethod
    def lift(value: Operand, type_: Type) -> Expr:
        return value if isinstance(value, Expr) else literal(value, type_)

    @contextmanager
    def _block(self) -> Iterator[list[ir.Statement]]:
        block: list[ir.Statement] = []
        self._blocks.append(block)
        yield block
        popped = self._blocks.pop()
        assert popped is block

    def _last_if(self) -> ir.If:
        last = self._blocks[-1][-1]
        assert isinstance(last, ir.If), "elif_ and else_ come right after if_"
        assert not last.orelse
        return last


class KernelBuilder(BodyBuilder):
    """Builds a whole program: parameters with their input contract, helpers, sizes, body."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.params: list[ir.Param] = []
        self.sizes: dict[str, ir.Size] = {}
        self.functions: list[ir.Function] = []
        self.structs: list[Struct] = []
        self.threads: tuple[str, ...] = ()
        self.launch_dim: tuple[str, ...] = ()

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
        dims = (shape,) if isinstance(shape, str) else tuple(shape)
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
        return self._param(name, INT32, "in", (), f"size:{expression}", None, None, ())

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
        """Launch one thread for each point of ``dims``; gives the thread indices."""
        chosen = tuple(names[: len(dims)])
        self.used.update(chosen)
        self.threads, self.launch_dim = chosen, dims
        return tuple(Var(name, INT32) for name in chosen)

    def program(self, idiom: str, level: int, name: str, description: str) -> ir.Program:
        """The finished program; layout and docstring are drawn here.

        ``name`` comes from :meth:`name`, so that no variable is called the same.
        """
        layout = ir.Layout(
            array_style=self.draw.layout.weighted({"array": 5, "array2d": 3, "bracket": 2}),
            short_scalars=self.draw.layout.chance(0.4),
        )
        doc = description.split(". ")[0].rstrip(".") + "." if self.draw.layout.chance(0.4) else ""
        kernel = ir.Kernel(
            name, tuple(self.params), self.threads, self.launch_dim, self.body(), doc
        )
        return ir.Program(
            self.draw.category,
            idiom,
            level,
            description,
            tuple(self.structs),
            tuple(self.functions),
            kernel,
            tuple(self.sizes.values()),
            self.draw.input_seed,
            layout,
        )

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


def cast(value: Expr, type_: Scalar) -> Expr:
    """``value`` converted explicitly, or itself when it has that type already."""
    return value if value.type == type_ else Cast(value, type_)


def make(type_: Type, *args: Expr) -> Construct:
    """A composite or struct from its parts."""
    return Construct(args, type_)


def field(value: Expr, name: str) -> Field:
    """A field of a struct value."""
    assert isinstance(value.type, Struct)
    return Field(value, name, value.type.field(name))


def fn(name: str, *args: Operand) -> Expr:
    """Apply a builtin, lifting numbers to the scalar type of the first expression in ``args``."""
    typed = next(a for a in args if isinstance(a, Expr) and a.type != Scalar("bool"))
    return op_node(name, *(BodyBuilder.lift(a, typed.type) for a in args))
