"""Questions proposed for the golden set of an evaluation, written from the documents."""
