"""Edge inputs of a row: values at the ends of what its `args` promise, and ties among them.

The column `edge_inputs` lists them: a name, and for some arguments (or struct fields) the values
that their elements are chosen from, at the row's own sizes. `validate.row.inputs` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate.row.sizes import awkward_sizes, describe, own_sizes

EDGES = "edge_inputs"
"""The column; rows of the schema's first version have none."""

Args = Sequence[Mapping[str, Any]]
Edge = Mapping[str, Any]
"""`name`, and `values`: a list of `arg`, `field` ("" for none) and `among`."""


@dataclass(frozen=True)
class Setting:
    """What a row is run on: sizes by symbol, and its `args`, with edges where there are any.

    `name` is how `checks.shapes` calls it: `n=64`, or `n=64 at edges`.
    """

    name: str
    sizes: dict[str, int]
    args: Args


def with_edges(args: Args, edge: Edge) -> list[Mapping[str, Any]]:
    """`args` for `draw_inputs`, some of them to be drawn among the values of an edge input."""
    among = {(entry["arg"], entry["field"]): entry["among"] for entry in edge["values"]}
    return [_with_edges(arg, among) for arg in args]


def _with_edges(
    arg: Mapping[str, Any], among: Mapping[tuple[str, str], Sequence[str]]
) -> Mapping[str, Any]:
    name = arg["name"]
    fields = [
        {**field, "among": among[name, field["name"]]} if (name, field["name"]) in among else field
        for field in arg["fields"]
    ]
    found = {**arg, "fields": fields}
    return {**found, "among": among[name, ""]} if (name, "") in among else found


def settings(row: Mapping[str, Any]) -> list[Setting]:
    """All that a row is run on: its shapes with drawn inputs, its own first, then its edges."""
    shapes = awkward_sizes(row["sizes"])
    drawn = [Setting(describe(sizes), sizes, row["args"]) for sizes in shapes]
    own = own_sizes(row["sizes"])
    edged = [
        Setting(f"{describe(own)} at {edge['name']}", own, with_edges(row["args"], edge))
        for edge in edges_of(row)
    ]
    return drawn + edged


def edges_of(row: Mapping[str, Any]) -> Sequence[Edge]:
    """What the column says."""
    return row.get(EDGES) or ()
