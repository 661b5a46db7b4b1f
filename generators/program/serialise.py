"""Canonical JSON of a program and back.

One program has one text: sorted keys, no white space, ASCII. A node is an object whose ``_`` names
its class; types are dtype strings; structs are declared once and named afterwards.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from generators.program import expr, ir, tiles
from generators.program.dtypes import Struct, parse_type

_PLAIN = frozenset({type(None), bool, int, str})
_NODES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        expr.Const,
        expr.Var,
        expr.Op,
        expr.Cast,
        expr.Load,
        expr.Extent,
        expr.Component,
        expr.Field,
        expr.Call,
        expr.Construct,
        tiles.TileLoad,
        tiles.TileFill,
        tiles.TileMap,
        tiles.TileApply,
        tiles.TileBroadcast,
        tiles.TileReduce,
        tiles.TileScan,
        tiles.TileTranspose,
        ir.Assign,
        ir.AugAssign,
        ir.SetComponent,
        ir.SetField,
        ir.Store,
        ir.Atomic,
        ir.Sample,
        ir.TileMatmul,
        ir.TileStore,
        ir.If,
        ir.For,
        ir.While,
        ir.Break,
        ir.Continue,
        ir.Return,
        ir.Comment,
        ir.FieldInit,
        ir.Param,
        ir.Function,
        ir.Kernel,
        ir.TiledKernel,
        ir.Size,
        ir.Layout,
        ir.Program,
    )
}
_FIELDS: dict[type, tuple[str, ...]] = {
    cls: tuple(f.name for f in fields(cls)) for cls in _NODES.values()
}
_TYPED_FIELDS = frozenset({"type", "result"})


def _encode(value: Any) -> Any:
    cls = type(value)
    if cls in _PLAIN:
        return value
    if cls is tuple:
        return [item if type(item) in _PLAIN else _encode(item) for item in value]
    names = _FIELDS.get(cls)
    if names is None:
        return str(value)  # a type of the program: its dtype string, or a struct's name
    encoded: dict[str, Any] = {"_": cls.__name__}
    for name in names:
        item = getattr(value, name)
        encoded[name] = item if type(item) in _PLAIN else _encode(item)
    return encoded


def to_json(program: ir.Program) -> str:
    """The canonical JSON text of a program."""
    encoded = _encode(program)
    encoded["structs"] = [
        {"name": s.name, "fields": [[name, str(type_)] for name, type_ in s.fields]}
        for s in program.structs
    ]
    return json.dumps(encoded, sort_keys=True, separators=(",", ":"))


def _decode(value: Any, structs: dict[str, Struct]) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item, structs) for item in value)
    if not isinstance(value, dict):
        return value
    cls = _NODES.get(value.get("_", ""))
    if cls is None or set(value) != {"_", *_FIELDS[cls]}:
        raise ValueError(f"no node of the program tree has the keys {sorted(value)}")
    arguments = {
        name: parse_type(item, structs) if name in _TYPED_FIELDS else _decode(item, structs)
        for name, item in value.items()
        if name != "_"
    }
    return cls(**arguments)


def from_json(text: str) -> ir.Program:
    """The program whose canonical JSON is ``text``; ``ValueError`` for any other text."""
    raw = json.loads(text)
    if not isinstance(raw, dict) or raw.get("_") != "Program":
        raise ValueError("the text is no program")
    structs: dict[str, Struct] = {}
    for declared in raw.pop("structs"):
        members = tuple((name, parse_type(t, structs)) for name, t in declared["fields"])
        structs[declared["name"]] = Struct(declared["name"], members)
    program = _decode({**raw, "structs": []}, structs)
    return replace(program, structs=tuple(structs.values()))
