"""Function → Function. No transform names a primitive."""
