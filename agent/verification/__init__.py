"""Whether an answer's statements are carried by the passages that they cite."""
