"""Loop nests below arrays: what native code computes, without saying in which language."""
