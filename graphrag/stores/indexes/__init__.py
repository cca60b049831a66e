"""Search indexes beside PostgreSQL."""
