"""What a dump of the database does not bring along."""
