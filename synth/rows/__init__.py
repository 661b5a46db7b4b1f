"""Program to row, its checks, and a row remade from what it stores."""
