"""Documents in, evidence out: ingestion, retrieval and the causal graph, on plain PostgreSQL."""

DISTRIBUTION = "causeway-rag"  # on the package index, where `causeway` is another project
