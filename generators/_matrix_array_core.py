"""What kernels on arrays of two to four dimensions share: launches, and what follows a sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from generators import ir
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build import field as field_of
from generators.dtypes import BOOL, Scalar, Type
from generators.expr import Expr, Operand, Var, literal, op
from generators.pieces import helper

Names = tuple[str, ...]
Place = tuple[Operand, ...]


def at(*parts: Operand) -> Place:
    """Parts of an index as one."""
    return parts


@dataclass
class Cells:
    """One thread for each element of an array, and the sentences said about it so far."""

    k: KernelBuilder
    scalar: Scalar
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    said: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)

    @property
    def text(self) -> str:
        return " ".join(self.said)

    def write(self, names: Names, value: Expr) -> Var:
        """Store a value in a new output, which is given back."""
        target = self.k.out(names, value.type, self.dims)
        self.k.store(target, self.at, value)
        return target

    def along(self, names: Names, low: float, high: float) -> tuple[Expr, str]:
        """An entry of an array along one or two of the launch's axes."""
        count = 2 if len(self.dims) > 2 and self.k.draw.shape.chance(0.4) else 1
        axes = sorted(self.k.draw.shape.sample(range(len(self.dims)), count))
        dims = [self.dims[a] for a in axes]
        source = self.k.array(names, self.scalar, dims, low=low, high=high)
        index = tuple(self.at[a] for a in axes)
        return source[index], f"{source.name}[{', '.join(v.name for v in index)}]"

    def each(self, names: Names, low: float, high: float) -> tuple[Expr, str]:
        """This thread's entry of an array of the output's shape."""
        source = self.k.array(names, self.scalar, self.dims, low=low, high=high)
        return source[self.at], f"{source.name}[{', '.join(v.name for v in self.at)}]"

    def factor(self, one: Names, many: Names, low: float, high: float) -> tuple[Expr, str]:
        """A number that is a parameter, an entry along an axis, or a literal."""
        way = self.k.draw.shape.weighted({"param": 4, "along": 3, "literal": 1})
        if way == "along":
            return self.along(many, low, high)
        if way == "param":
            value = self.k.scalar(one, self.scalar, low, high)
            return value, value.name
        number = float(self.k.draw.value.constant(low, high))
        return literal(number, self.scalar), str(number)


def cells(k: KernelBuilder, scalar: Scalar, dims: Sequence[str], *names: tuple[str, ...]) -> Cells:
    """Launch a thread for each point of ``dims``; ``names`` are sets of names of the indices."""
    return Cells(k, scalar, tuple(dims), k.thread(*dims, names=k.draw.word.choice(names)))


Build = Callable[[BodyBuilder, Expr], Expr]


def _gelu(b: BodyBuilder, x: Expr) -> Expr:
    inner = b.let(("inner", "arg"), 0.7979 * (x + 0.044715 * x * x * x))
    return 0.5 * x * (1.0 + fn("tanh", inner))


def _leaky(_b: BodyBuilder, x: Expr) -> Expr:
    return op("where", x > 0.0, x, 0.1 * x)


def _elu(_b: BodyBuilder, x: Expr) -> Expr:
    return op("where", x > 0.0, x, fn("exp", fn("min", x, 0.0)) - 1.0)


ACTIVATIONS: dict[str, tuple[Names, Build, str]] = {
    "relu": (("relu", "rectify"), lambda _, x: fn("max", x, 0.0), "max(t, 0)"),
    "leaky": (("leaky_relu", "lrelu"), _leaky, "t where t > 0, else 0.1 * t"),
    "elu": (("elu", "elu_act"), _elu, "t where t > 0, else exp(t) - 1"),
    "tanh": (("squash", "tanh_act"), lambda _, x: fn("tanh", x), "tanh(t)"),
    "sigmoid": (("sigmoid", "logistic"), lambda _, x: 1.0 / (1.0 + fn("exp", -x)), "sigmoid(t)"),
    "silu": (("silu", "swish"), lambda _, x: x / (1.0 + fn("exp", -x)), "t * sigmoid(t)"),
    "gelu": (("gelu", "gelu_tanh"), _gelu, "0.5 t (1 + tanh(0.7979 (t + 0.044715 t^3)))"),
    "erf": (
        ("gelu_erf", "exact_gelu"),
        lambda _, x: 0.5 * x * (1.0 + fn("erf", 0.7071 * x)),
        "0.5 t (1 + erf(0.7071 t))",
    ),
    "softplus": (
        ("softplus", "soft_plus"),
        lambda _, x: fn("log", 1.0 + fn("exp", x)),
        "log(1 + exp(t))",
    ),
}


def activate(c: Cells, level: int, value: Var) -> Var:
    """Put a value through an activation, inline, as a branch or in a helper."""
    k = c.k
    kinds = ("relu", "relu", "leaky", "tanh", "sigmoid") if level == 1 else tuple(ACTIVATIONS)
    names, build, text = ACTIVATIONS[kind := k.draw.shape.choice(kinds)]
    if kind == "relu" and k.draw.shape.chance(0.3):
        with k.if_(value < 0.0):
            k.assign(value, 0.0)
    elif level >= 3 and k.draw.shape.chance(0.75):
        kinds_of: list[tuple[str, Type]] = [("x", value.type)]
        k.assign(value, k.call(helper(k, names, kinds_of, build), value))
    elif k.draw.shape.chance(0.5):
        k.assign(value, build(k, value))
    else:
        value = k.let(("activated", "act", "response"), build(k, value))
    c.say(f"The value t becomes {text}.")
    return value


_STEPS = {1: (0, 1, 1), 2: (1, 2), 3: (2, 3), 4: (3, 4), 5: (4, 5)}


def finish(
    c: Cells, level: int, value: Var, names: Names, *, active: bool = True, skip: Names = ()
) -> None:
    """What a library lets follow a sum: scale, bias, residual, activation, mask; then the store."""
    shape = c.k.draw.shape
    menu = ["scale", "bias", "residual", "mask", *(["activate"] if active else ["limit"])]
    menu = [step for step in menu if step not in skip]
    count = min(shape.choice(_STEPS[level]), len(menu))
    steps = [s for s in menu if s in shape.sample(menu, count)]
    if shape.chance(0.4) and len(steps) > 1:
        steps = shape.sample(steps, len(steps))
    params = _params(c) if level >= 2 and {"scale", "residual"} & {*steps} else None
    for step in steps:
        if step == "activate":
            if level >= 4 and shape.chance(0.4):
                kept = c.write(("pre_activation", "saved", "linear_out"), value)
                c.say(f"{kept.name} gets this value as it is.")
            value = activate(c, level, value)
        elif step == "mask":
            _masked(c, level, value)
        else:
            _linear(c, step, value, params)
    if params is not None:
        _use_up(c, params, steps, value)
    target = c.write(names, value)
    c.say(f"{target.name} gets the result.")


def _params(c: Cells) -> Var | None:
    """Factors in a struct by value, now and then."""
    if not c.k.draw.shape.chance(0.35):
        return None
    inits = [ir.FieldInit(n, c.scalar, "uniform", "0.4", "1.4") for n in ("alpha", "beta")]
    name = c.k.name("Epilogue", "Scales", "OutputParams", "Blend")
    struct = c.k.struct(name, *((f.name, f.type) for f in inits))
    return c.k.scalar(("params", "scales", "cfg"), struct, fields=inits)


def _use_up(c: Cells, params: Var, steps: Sequence[str], value: Var) -> None:
    """A struct has two fields; what no step used shifts or scales the result."""
    if "residual" not in steps:
        c.k.augment(value, "add", field_of(params, "beta"))
        c.say(f"{params.name}.beta is added.")
    elif "scale" not in steps:
        c.k.augment(value, "mul", field_of(params, "alpha"))
        c.say(f"The value is multiplied by {params.name}.alpha.")


def _linear(c: Cells, step: str, value: Var, params: Var | None) -> None:
    k, shape = c.k, c.k.draw.shape
    if step == "scale":
        if params is not None:
            by, text = field_of(params, "alpha"), f"{params.name}.alpha"
        else:
            by, text = c.factor(("alpha", "scale"), ("scales", "gains"), 0.4, 1.6)  # type: ignore[assignment]
        k.augment(value, "mul", by)
        c.say(f"It is multiplied by {text}.")
    elif step == "bias":
        by, text = c.along(("bias", "offsets", "shift"), -0.5, 0.5)  # type: ignore[assignment]
        k.augment(value, "add", by)
        c.say(f"{text} is added.")
    elif step == "residual":
        skip, text = c.each(("skip", "residual", "c_in"), -1.0, 1.0)
        if params is not None:
            skip, text = field_of(params, "beta") * skip, f"{params.name}.beta * {text}"
        elif shape.chance(0.5):
            beta = k.scalar(("beta", "mix"), c.scalar, 0.3, 1.2)
            skip, text = beta * skip, f"{beta.name} * {text}"
        k.augment(value, "add", skip)
        c.say(f"{text} is added.")
    else:
        limit = k.scalar(("limit", "bound", "max_abs"), c.scalar, 0.5, 0.9)
        k.assign(value, fn("clamp", value, -limit, limit))
        c.say(f"It is clamped to [-{limit.name}, {limit.name}].")


def _masked(c: Cells, level: int, value: Var) -> None:
    k = c.k
    way = k.draw.shape.choice(("where", "if", "weight"))
    if way == "weight":
        weight, text = c.along(("weights_out", "gate", "coverage"), 0.2, 1.0)
        k.augment(value, "mul", weight)
        c.say(f"It is multiplied by {text}.")
        return
    mask = k.array(("mask", "keep", "valid"), BOOL, c.dims)
    if way == "where":
        k.assign(value, op("where", mask[c.at], value, literal(0, c.scalar)))
    else:
        with k.if_(op("not", mask[c.at])):
            k.assign(value, 0.0)
    c.say(f"It is 0 where {mask.name} is false.")
