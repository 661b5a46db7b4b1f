"""The vocabulary that all idioms are written with."""
