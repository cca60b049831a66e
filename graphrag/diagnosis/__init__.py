"""What an installation lacks or has: nothing is changed by looking."""
