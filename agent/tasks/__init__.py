"""Tasks beside the search for an answer: small talk, the catalogue, summaries, the last answer in another form."""
