"""Steps of solvers: sweeps, transfers between grids, transport, waves, lattices, systems."""
