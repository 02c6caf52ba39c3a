"""Bytes that a call allocates, beside NumPy by hand, JAX and PyTorch: `python -m benchmarks.memory`."""
