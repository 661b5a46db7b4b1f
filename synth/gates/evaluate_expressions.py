"""Expressions over lanes: loads, ops with their domain checks and rounding, casts, calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from generators.build.draw import Reject
from generators.program import ir
from generators.program.dtypes import INT32, Quat, Scalar, Struct, Transform, Type, scalar_of
from generators.program.expr import (
    Call,
    Cast,
    Component,
    Const,
    Construct,
    Expr,
    Extent,
    Field,
    Load,
    Op,
    Var,
)
from generators.program.op_spec import OpSpec
from generators.program.ops import OPS
from synth.gates.coverage import Coverage
from synth.gates.lanes.ints import convert, wrap
from synth.gates.lanes.memory import ArrayMemory
from synth.gates.lanes.ops import (
    BETWEEN,
    LANE_OPS,
    check_domain,
    check_size,
    domain_of,
    mixes_components,
)
from synth.gates.lanes.rigid import lanes_of_identity
from synth.gates.lanes.values import Lanes, Mask, Values, any_active, select, storage, zeros
from synth.reasons import GateReason

_MANTISSA_BITS = {"float16": 11, "float32": 24, "float64": 53}


@dataclass(frozen=True)
class _Rule:
    """What holds for every evaluation of an op: its own rule and what is asked around it."""

    node: Op
    """Kept, so that nothing else gets its identity."""
    spec: OpSpec
    domain: tuple[str, ...]
    is_between: bool
    mixes: bool
    result: Scalar | None
    """The scalar of a result that is no struct."""
    jumps: bool

    @classmethod
    def of(cls, node: Op) -> _Rule:
        spec = OPS[node.op]
        return cls(
            node,
            spec,
            domain_of(node, spec.domain),
            node.op in BETWEEN,
            bool(spec.mixes) or (node.op == "mul" and mixes_components(node)),
            None if isinstance(node.type, Struct) else scalar_of(node.type),
            bool(node.args) and spec.jumps and not scalar_of(node.args[0].type).is_int,
        )


class Frame:
    """A running function or kernel: its variables with their types, and what it returned."""

    def __init__(self, variables: dict[str, Any], types: dict[str, Type]) -> None:
        self.variables = variables
        self.types = types
        self.result: Any = None


class Expressions:
    """Evaluates expressions of one program; the statements' half is :class:`Evaluation`."""

    def __init__(
        self,
        program: ir.Program,
        lanes: Lanes,
        memories: dict[str, ArrayMemory],
        scalars: dict[str, Any],
    ) -> None:
        self.program = program
        self.lanes = lanes
        self.memories = memories
        self.coverage = Coverage(lanes)
        self.functions = {f.name: f for f in program.functions}
        types: dict[str, Type] = {p.name: p.type for p in program.kernel.params}
        types.update(dict.fromkeys(program.kernel.threads, INT32))
        self._frames = [Frame(dict(scalars), types)]
        self._literals: dict[tuple[object, str], Values] = {}
        self._rules: dict[int, _Rule] = {}
        self._expression_rules: dict[type, Callable[[Any, Mask], Any]] = {
            Const: self._const,
            Var: lambda e, _mask: self._frames[-1].variables[e.name],
            Op: self._op,
            Cast: self._cast,
            Load: self._load,
            Extent: self._extent,
            Component: self._component,
            Field: lambda e, mask: self.value(e.value, mask)[e.name],
            Call: self._call,
            Construct: self._construct,
        }

    def run_body(self, body: ir.Body, mask: Mask) -> Mask:
        """Run statements; gives the lanes that reach the end."""
        raise NotImplementedError

    def value(self, e: Expr, mask: Mask) -> Any:
        """The value of an expression in every lane; inactive lanes may hold anything."""
        return self._expression_rules[type(e)](e, mask)

    def _const(self, e: Const, _mask: Mask) -> Values:
        key = (e.value, e.type.name)
        values = self._literals.get(key)
        if values is None:
            number = float(e.value) if isinstance(e.value, str) else e.value
            values = np.full(self.lanes.count, number, storage(e.type))
            if e.type.is_float:
                self.lanes.round(values, e.type, 0.0)
            self._literals[key] = values
        return values

    def _op(self, e: Op, mask: Mask) -> Any:
        if e.op == "lower_bound":
            return self._lower_bound(e, mask)
        return self._apply(e, [self.value(a, mask) for a in e.args], mask)

    def _apply(self, e: Op, args: list[Any], mask: Mask) -> Any:
        rule = self._rules.get(id(e))
        if rule is None:
            rule = self._rules[id(e)] = _Rule.of(e)
        if not args:
            return lanes_of_identity(e.type, self.lanes.count)
        if rule.domain or rule.is_between:
            check_domain(e, rule.domain, args, mask)
        if rule.spec.selects:
            self.coverage.selection(e, args, mask)
        if e.op == "where" and isinstance(args[1], dict):
            return select(args[0], args[1], args[2])
        if rule.mixes:
            check_size(e, args, mask)
            args = [self._blurred(a, arg.type) for a, arg in zip(args, e.args, strict=True)]
        return self._settled(rule, LANE_OPS[e.op](e, *args), args, mask)

    def _blurred(self, values: Values, type_: Type) -> Values:
        scalar = scalar_of(type_)
        return self.lanes.blur(values, scalar) if scalar.is_float else values

    def _settled(self, rule: _Rule, result: Any, args: list[Any], mask: Mask) -> Any:
        scalar = rule.result
        if scalar is None:
            return result
        if rule.jumps and self.lanes.differs(result, mask):
            raise Reject(GateReason.PRECISION_DEPENDENT, rule.node.op)
        if scalar.is_int:
            return wrap(rule.node.op, result, args, scalar, mask)
        if scalar.is_float and rule.spec.ulp:
            result = self.lanes.round(result, scalar, rule.spec.ulp)
        return result

    def _cast(self, e: Cast, mask: Mask) -> Values:
        value = self.value(e.value, mask)
        source = scalar_of(e.value.type)
        if e.type.is_float:
            return self.lanes.round(
                value.astype(np.float64), e.type, self._cast_ulp(source, e.type)
            )
        if e.type.name == "bool":
            return value != 0
        result = convert(value, source, e.type, mask)
        if source.is_float and self.lanes.differs(result, mask):
            raise Reject(GateReason.PRECISION_DEPENDENT, f"cast to {e.type}")
        return result

    @staticmethod
    def _cast_ulp(source: Scalar, target: Scalar) -> float:
        digits = _MANTISSA_BITS.get(source.name, source.bits)
        return 0.5 if digits > _MANTISSA_BITS[target.name] else 0.0

    def _extent(self, e: Extent, _mask: Mask) -> Values:
        return np.full(self.lanes.count, self.memories[e.array.name].shape[e.axis], np.int64)

    def _load(self, e: Load, mask: Mask) -> Any:
        indices = [self.value(i, mask) for i in e.indices]
        return self.memories[e.array.name].load(indices, mask)

    def _lower_bound(self, e: Op, mask: Mask) -> Values:
        """The first element of a sorted array that is not less, the last one if there is none."""
        keys, value = e.args
        assert isinstance(keys, Var)
        memory, wanted = self.memories[keys.name], self.value(value, mask)
        low = np.zeros(self.lanes.count, np.int64)
        high = np.full(self.lanes.count, memory.elements - 1)
        while (low < high).any():
            middle = (low + high) // 2
            less = (memory.load([middle], mask) < wanted) & (low < high)
            low, high = np.where(less, middle + 1, low), np.where(less, high, middle)
        if self.lanes.differs(low, mask):
            raise Reject(GateReason.PRECISION_DEPENDENT, e.op)
        return low

    def component_at(self, value: Values, indices: tuple[Expr, ...], mask: Mask) -> tuple[Any, ...]:
        """Where a component lies in a composite's lanes; rejects an index out of bounds."""
        if all(isinstance(i, Const) for i in indices):
            return tuple(int(i.value) for i in indices if isinstance(i, Const))
        found = [self.value(i, mask) for i in indices]
        for index, extent in zip(found, value.shape, strict=False):
            if any_active((index < 0) | (index >= extent), mask):
                raise Reject(GateReason.OUT_OF_BOUNDS, "component")
        if mask is not None:
            found = [np.where(mask, i, 0) for i in found]
        return (*found, np.arange(self.lanes.count))

    def _component(self, e: Component, mask: Mask) -> Values:
        value: Values = self.value(e.value, mask)
        return value[self.component_at(value, e.indices, mask)]

    def _construct(self, e: Construct, mask: Mask) -> Any:
        args = [self.value(a, mask) for a in e.args]
        if isinstance(e.type, Struct):
            return dict(zip((name for name, _ in e.type.fields), args, strict=True))
        if isinstance(e.type, Transform):
            return np.concatenate(args)
        assert not isinstance(e.type, Scalar)
        shape = (4,) if isinstance(e.type, Quat) else e.type.shape  # type: ignore[union-attr]
        if len(args) == 1:
            args = args * int(np.prod(shape))
        return np.array(args).reshape(*shape, self.lanes.count)

    def _call(self, e: Call, mask: Mask) -> Any:
        function = self.functions[e.function]
        return self._run(function, [self.value(a, mask) for a in e.args], mask)

    def _run(self, function: ir.Function, args: list[Any], mask: Mask) -> Any:
        """What a function gives for the values of its arguments."""
        names = [p.name for p in function.params]
        types = {p.name: p.type for p in function.params}
        self._frames.append(Frame(dict(zip(names, args, strict=True)), types))
        self.run_body(function.body, mask)
        result = self._frames.pop().result
        if result is None:
            return zeros(function.result, self.lanes.count)
        return result
