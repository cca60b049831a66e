"""Questions that count, sum, filter and compare over the tables of documents."""
