"""Tables: reading cells, and splitting rows into chunks."""
