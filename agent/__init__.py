"""The LangGraph agent: understands the question, gathers evidence, answers with citations that were checked."""
