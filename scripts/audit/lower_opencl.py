"""Lowered ops in C++ for OpenCL, run on a CPU runtime: which have a form, and do they agree?

    PYTHONPATH=. python scripts/audit/lower_opencl.py [--each N] [--json FILE]

Of the specs of `lower_specs.py`, the first N of each op and dtype that have a form (1; 0: all), at
their usual shapes. Needs PyOpenCL and a runtime with C++ for OpenCL (intel-opencl-rt). Exit code 1
when something does not agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from scripts.audit.lower_specs import legal_specs
from synth.errors import SettingsError
from synth.lower.check import AnySpec, default_shapes
from synth.lower.op import Lowered
from synth.lower.opencl import lower_opencl, run_opencl
from synth.lower.spec import read_spec
from validate.statuses import OpenclStatus


def with_form(each: int) -> tuple[list[tuple[AnySpec, Lowered]], Counter[str]]:
    """Specs and their texts, and what is missing of those that have none, by the reason."""
    found: list[tuple[AnySpec, Lowered]] = []
    taken: Counter[tuple[str, str]] = Counter()
    refused: Counter[str] = Counter()
    for said in legal_specs()[0].values():
        spec = read_spec(said)
        try:
            made = lower_opencl(spec)
        except SettingsError as error:
            refused[str(error)] += 1
            continue
        if not each or taken[spec.op, spec.dtype] < each:
            taken[spec.op, spec.dtype] += 1
            found.append((spec, made))
    return found, refused


def main() -> None:
    """Run them, a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    listed, refused = with_form(options.each)
    print(f"{len(listed)} specs to run; without a form: {dict(refused)}", flush=True)
    results: list[dict[str, Any]] = []
    for spec, made in listed:
        runtime, checks = run_opencl(spec, made, default_shapes(spec))
        wrong = [check for check in checks if check.status != OpenclStatus.AGREES]
        results.append({"spec": spec.as_dict(), "checks": [check.as_dict() for check in checks]})
        said = f"{wrong[0].status} at {wrong[0].shape}: {wrong[0].reason}" if wrong else "agrees"
        print(f"{spec.op} {spec.dtype}: {said[:300]}", flush=True)
        if options.json:
            options.json.write_text(json.dumps({"runtime": runtime, "results": results}))
    bad = [r for r in results if any(c["status"] != OpenclStatus.AGREES for c in r["checks"])]
    print(f"{len(results) - len(bad)} of {len(results)} agree")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
