"""A run: plan, units, engines, rounds of redraws, finishing, raising, growing."""
