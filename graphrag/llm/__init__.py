"""Chat models: providers, resilient calls, prompt-injection detection, cost."""
