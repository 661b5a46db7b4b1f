"""What belongs to one body: fields of a struct, or elements of separate arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.build import field
from generators.program.dtypes import Struct, Type
from generators.program.expr import Expr, Load, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import Names, Rig, told


@dataclass(frozen=True)
class Slot:
    """One field of a record: names as a field and as an array, type and range."""

    single: Names
    plural: Names
    type: Type
    low: float | None = None
    high: float | None = None
    init: str = "uniform"
    forms: Mapping[str, int] | None = None


class Record:
    """What belongs to one body: fields of a struct, or elements of separate arrays."""

    def __init__(
        self,
        rig: Rig,
        slots: Mapping[str, Slot],
        *,
        as_struct: bool,
        struct: Names,
        arrays: Names,
        local: Names,
        changed: Sequence[str] = (),
        in_place: bool = False,
        form: str = "each",
    ) -> None:
        self.rig, self.changed, self.in_place = rig, tuple(changed), in_place
        self.type: Struct | None = None
        self.array: Var | None = None
        self.values: dict[str, Expr] = {}
        self.plural = {key: slot.plural for key, slot in slots.items()}
        if as_struct:
            self._as_struct(slots, struct, arrays, local, form)
        else:
            self._as_arrays(slots, form)

    def _as_struct(
        self, slots: Mapping[str, Slot], struct: Names, arrays: Names, local: Names, form: str
    ) -> None:
        k = self.rig.k
        names = {key: k.draw.word.choice(slot.single) for key, slot in slots.items()}
        self.type = k.struct(k.name(*struct), *((names[c], slots[c].type) for c in slots))
        self.fields = tuple(
            FieldInit(names[c], s.type, s.init, _text(s.low), _text(s.high))
            for c, s in slots.items()
        )
        if form == "shared":
            self.local = k.scalar(local, self.type, fields=self.fields)
        else:
            dims, at = self.rig.place(form)
            role = "inout" if self.in_place else "in"
            self.array = k.array(arrays, self.type, dims, role=role, fields=self.fields)
            self.local = k.let(local, self.array[at])
        self.values = {key: field(self.local, names[key]) for key in slots}
        self.names = names

    def _as_arrays(self, slots: Mapping[str, Slot], form: str) -> None:
        k = self.rig.k
        for key, slot in slots.items():
            if self.in_place and key in self.changed:
                array = k.array(
                    slot.plural, slot.type, self.rig.dims, role="inout",
                    init=slot.init, low=slot.low, high=slot.high,
                )  # fmt: skip
                self.values[key] = array[self.rig.at]
                continue
            forms = slot.forms or {form: 1}
            self.values[key] = self.rig.given(
                slot.plural, slot.single, slot.type, slot.low, slot.high,
                init=slot.init, forms=forms,
            )  # fmt: skip

    def __getitem__(self, key: str) -> Expr:
        return self.values[key]

    def told(self, key: str) -> str:
        return told(self.values[key])

    def local_of(self, key: str, *names: str) -> Var:
        return self.rig.k.let(names, self.values[key])

    def write(self, values: Mapping[str, Expr], outs: Mapping[str, Names], whole: Names) -> str:
        """Store new values, as a struct, in place or as outputs; the sentence that says where."""
        k = self.rig.k
        if self.type is None:
            return self._write_arrays(values, outs)
        for key, value in values.items():
            k.set_field(self.local, self.names[key], value)
        if self.in_place:
            assert self.array is not None
            k.store(self.array, self.rig.at, self.local)
            return f" The struct is written back to {self.array.name} in place."
        out = k.array(whole, self.type, self.rig.dims, role="out", fields=self.fields)
        k.store(out, self.rig.at, self.local)
        kept = [self.names[key] for key in self.values if key not in values]
        text = f" The changed struct goes to {out.name}"
        return f"{text}, {' and '.join(kept)} copied." if kept else f"{text}."

    def _write_arrays(self, values: Mapping[str, Expr], outs: Mapping[str, Names]) -> str:
        parts = []
        for key, value in values.items():
            source = self.values[key]
            if self.in_place and key in self.changed:
                assert isinstance(source, Load)
                self.rig.k.store(source.array, source.indices, value)
                parts.append(f"{source.array.name} is updated in place")
            else:
                parts.append(f"{self.rig.store(outs[key], value).name} gets the new {key}")
        return f" {'; '.join(parts)}."


def _text(bound: float | None) -> str | None:
    return None if bound is None else str(bound)
