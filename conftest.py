"""What doctests pass over: files for libraries that are not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/pliant/backends/torch*.py", "docs/pytorch.md"]
