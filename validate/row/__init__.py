"""What a row is: its columns, types, sizes, inputs and claims."""
