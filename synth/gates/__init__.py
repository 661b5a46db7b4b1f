"""What a program must show before it becomes a row."""
