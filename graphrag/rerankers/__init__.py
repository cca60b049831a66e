"""What orders the candidates."""
