"""Retrieval of evidence for a transformed question: hybrid search, fusion, reranking, expansion."""
