"""Formulas of a subject each: medicine, finance, fluids, motion, light, physics, directions."""
