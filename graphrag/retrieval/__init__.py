"""From a transformed question to evidence: hybrid, fusion, reranking, expansion."""
