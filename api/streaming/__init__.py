"""Server-sent events: streams that survive a lost connection, over one process or several."""
