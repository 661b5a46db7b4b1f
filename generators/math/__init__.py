"""Mathematics: polar coordinates, tone curves, activations, distributions, softmax statistics."""

ABOUT = "elementary functions as science, graphics and learning use them"
