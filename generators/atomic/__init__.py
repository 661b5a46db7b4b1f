"""Atomics: histograms, scatters along edges, reductions, extremes and flags of groups."""

ABOUT = "sums, extremes and flags that many threads update together"
