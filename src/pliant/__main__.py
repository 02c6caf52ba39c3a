"""`python -m pliant`: see `pliant.tools.commands`."""

from __future__ import annotations

import sys

from pliant.tools.commands import main

if __name__ == "__main__":
    sys.exit(main())
