"""The verifier of placed programs: it derives from their loads and stores that sharing memory is safe."""

from pliant.kernel.check.walk import check

__all__ = ["check"]
