"""What forms a kernel has: found in its tree, not guessed. Styles ask, and print what was found."""
