"""Tables of dynamic programming: alignments, paths through states, steps over whole tables."""
