"""Who is asking: one function for every way in."""
