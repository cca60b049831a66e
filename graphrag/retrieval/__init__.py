"""From a question to evidence: query_transformation, hybrid, fusion, reranking, expansion."""
