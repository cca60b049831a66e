"""What a question asks for: intent, parts, names, the topic that it goes on with; by rules, refined by a model."""
