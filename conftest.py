"""What doctests pass over: files for a library that is not installed."""

from __future__ import annotations

from importlib.util import find_spec

FOR_TORCH = ["src/pliant/o[fn]_torch.py", "src/pliant/backends/torch*.py", "docs/pytorch.md"]
collect_ignore_glob = [] if find_spec("torch") else FOR_TORCH
