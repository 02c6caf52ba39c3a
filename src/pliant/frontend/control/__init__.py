"""Python's own loops and branches: rewritten from source, run as loops and branches of the program."""
