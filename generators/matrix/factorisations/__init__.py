"""Steps of factorisations and solvers, and matrices of special form."""
