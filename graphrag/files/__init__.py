"""Where the original files of documents are kept: by default in a folder, by setting in S3."""
