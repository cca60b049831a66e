"""A file's bytes → its text, with what stands where in it. One module a format; detection.py chooses."""
