"""How the threads of a kernel share its work; ``synth.render.cuda.module`` maps styles to files."""
