"""Where the coefficients of the vector functions come from, and how exact these are."""
