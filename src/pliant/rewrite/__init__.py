"""Rules as values, and the engine that applies them. Names no primitive."""
