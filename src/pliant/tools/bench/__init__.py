"""The benchmark suite that `python -m pliant bench` runs: programs, and the libraries they are measured beside."""
