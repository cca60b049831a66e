"""Documents in, evidence out: ingestion, retrieval and the causal graph, on plain PostgreSQL."""
