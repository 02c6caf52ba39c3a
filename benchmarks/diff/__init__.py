"""Measurements of `pliant.diff`: what the interface adds, what contexts save, what sparsity saves."""
