"""``python -m synth`` is ``pairsmith``."""

from synth.cli.main import main

main(prog_name="pairsmith")
