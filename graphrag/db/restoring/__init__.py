"""SQL of a restore: statements that a dump of the database doesn't contain."""
