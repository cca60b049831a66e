"""Settings, read from the environment, and their reference page."""
