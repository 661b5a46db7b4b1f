"""What a schedule costs: facts of a program's tree, and the time predicted from them."""
