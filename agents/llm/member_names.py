"""The names under which servers send thoughts and marks: what is read, kept and sent alike.

The names are those of DeepSeek, Moonshot, OpenRouter, vLLM, LiteLLM, Ollama and Google.
"""

THOUGHT_TEXTS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""Thoughts as a text; of one delta the first counts."""
THOUGHT_LISTS = ("reasoning_details", "thinking_blocks")
"""Thoughts in pieces, with the signatures that they are told by."""
MARKS = ("extra_content",)
"""What only the provider knows the meaning of, beside a message."""
EXTRAS = (*MARKS, "provider_specific_fields")
"""The same beside a call."""
THOUGHTS = frozenset({*THOUGHT_TEXTS, *THOUGHT_LISTS})
