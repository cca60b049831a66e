"""Ingestion from a file to stored chunks: parsing, cleaning, enrichment, chunking, pipeline."""
