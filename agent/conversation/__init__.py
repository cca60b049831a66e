"""Conversations: their turns, branches, titles, summaries and long-term storage."""
