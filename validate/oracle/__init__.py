"""What a kernel must compute: references, derivatives, tolerances."""
