"""How the threads of a kernel share its work: one file a style."""
