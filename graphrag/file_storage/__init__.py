"""Original files, on disk or in an S3 bucket."""
