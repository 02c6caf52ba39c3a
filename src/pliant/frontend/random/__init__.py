"""Random numbers drawn at run time: NumPy's generators, written anew as programs that a trace looks into.

What a generator knows lies in an array of words, the memory of NumPy's own if it comes from outside. A draw reads it,
computes what NumPy computes, and writes it: in loops, branches and steps of any number, as any write to an array.
"""
