"""Loops: plain NumPy programs, and how long they and their gradients take."""
