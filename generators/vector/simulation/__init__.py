"""Simulation: forces between particles, fluids, constraints, grids and molecules."""
