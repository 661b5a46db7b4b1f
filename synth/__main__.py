"""``python -m synth`` is ``pairsmith``."""

from synth.cli import main

main(prog_name="pairsmith")
