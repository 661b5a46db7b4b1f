"""The child process that launches kernels on Warp's CPU device: `synth.check.device_run` starts it.

It reads rows (JSON) from the socket named on the command line and answers each with the reason why
it is wrong, an empty text when it is not.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from validate.oracle.compare import measure
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row.edges import settings
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import evaluate_all
from validate.row.tiles import places


def main() -> None:
    """Serve the socket until it closes; the second argument is a folder to work in."""
    connection, folder = Connection(int(sys.argv[1])), Path(sys.argv[2])
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    import warp

    warp.config.kernel_cache_dir = str(folder / "kernels")
    warp.init()
    connection.send_bytes(json.dumps({"event": "ready"}).encode())
    while (row := _receive(connection)) is not None:
        try:
            answer = {"event": "result", "reason": _reason(row, folder)}
        except Exception:
            answer = {"event": "error", "trace": traceback.format_exc()}
            connection.send_bytes(json.dumps(answer).encode())
            raise
        connection.send_bytes(json.dumps(answer).encode())


def _receive(connection: Connection) -> dict[str, Any] | None:
    try:
        row: dict[str, Any] = json.loads(connection.recv_bytes())
    except (EOFError, ConnectionResetError):
        return None
    return row


def _reason(row: Mapping[str, Any], folder: Path) -> str:
    try:
        kernel = _kernel(row, folder)
    except Exception as error:  # noqa: BLE001 - it is the answer
        # whatever Python or Warp raises on the text is a fault of the text
        return f"python does not load: {type(error).__name__}: {error}"
    for setting in settings(row):
        inputs = draw_inputs(setting.args, setting.sizes, row["input_seed"])
        dim = evaluate_all(row["launch"]["dim"], setting.sizes)
        try:
            wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        except ReferenceFailed as failed:
            return f"reference_error: {failed} at {setting.name}"
        found = _launch(kernel, row, places(row, dim), inputs)
        for arg in row["args"]:
            if arg["name"] in wanted:
                name = arg["name"]
                agreement = measure(found[name], wanted[name], arg["rtol"], arg["atol"])
                if agreement.mismatch is not None:
                    return f"wrong_value: {name}{agreement.mismatch} at {setting.name}"
    return ""


def _kernel(row: Mapping[str, Any], folder: Path) -> Any:
    """The row's kernel; Warp reads its source from the file."""
    path = folder / f"row_{row['id']}.py"
    path.write_text(row["python"], encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, row["kernel_name"])


def _launch(
    kernel: Any, row: Mapping[str, Any], dim: Sequence[int], inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Launch with `inputs`; gives every array as it is afterwards."""
    import warp

    values: dict[str, Any] = {}
    for parameter, arg in zip(kernel.adj.args, row["args"], strict=True):
        value = inputs[arg["name"]]
        if arg["kind"] == "array":
            dtype = parameter.type.dtype
            values[arg["name"]] = warp.array(value, dtype=dtype, device="cpu")
        else:
            values[arg["name"]] = _by_value(parameter.type, value)
    warp.launch(kernel, dim=tuple(dim), inputs=list(values.values()), device="cpu")
    arrays = [arg for arg in row["args"] if arg["kind"] == "array"]
    return {arg["name"]: _like(values[arg["name"]].numpy(), inputs[arg["name"]]) for arg in arrays}


def _by_value(type_: Any, value: Array) -> Any:
    """A scalar, composite or struct argument."""
    if value.dtype.names is not None:
        made = type_()
        for name in value.dtype.names:
            part = value[name]
            setattr(made, name, part.tolist() if part.ndim else part.item())
        return made
    return type_(*value.ravel().tolist()) if value.ndim else type_(value.item())


def _like(found: Array, wanted: Array) -> Array:
    """`found` with the names and order of fields of `wanted`, whose layout it has."""
    return np.ascontiguousarray(found).view(wanted.dtype).reshape(wanted.shape)
