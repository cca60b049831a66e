"""Documents in, evidence out: ingestion, retrieval and the causal graph, on plain PostgreSQL."""

import os

DISTRIBUTION = "causeway-rag"  # on the package index, where `causeway` is another project

# Read by libraries when they are imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # ONNX Runtime tells its makers of each session and keeps an id
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # with more, a fork during a product of numpy can hang
