"""Losses, activations and schedules of learning, and their gradients: a thread for each row."""
