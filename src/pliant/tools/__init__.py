"""What `python -m pliant` does."""
