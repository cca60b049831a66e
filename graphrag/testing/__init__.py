"""Stand-ins for tests of programs that use Causeway."""
