"""Tasks that no dataset holds: specs of `pairsmith lower`, functions and kernels of a user's."""
