"""What is done to whole programs between their trace and code: one pass a file, and what several of them ask."""
