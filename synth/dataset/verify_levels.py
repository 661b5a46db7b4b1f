"""How far rows are checked. It imports nothing: the command line needs it for its help."""

from __future__ import annotations

VERIFY_LEVELS = ("text", "compile", "run")
"""Each level includes those before it."""
