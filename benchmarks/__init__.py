"""Pliant against JAX and NumPy in one run: `python -m benchmarks`."""
