"""Which provider answers where the configuration names none."""

from collections.abc import Mapping

REHEARSAL = "rehearsal"

_BY_VARIABLE = (
    ("OPENAI_BASE_URL", "openai-compatible"),
    ("GEMINI_API_KEY", "google-default"),
    ("GOOGLE_API_KEY", "google-default"),
    ("OPENAI_API_KEY", "openai-default"),
    ("ANTHROPIC_API_KEY", "anthropic-default"),
    ("XAI_API_KEY", "xai-default"),
)


def choose_provider(environ: Mapping[str, str]) -> str:
    """The built-in provider whose variable is set, the scripted rehearsal model where none is."""
    for variable, provider in _BY_VARIABLE:
        if environ.get(variable, "").strip():
            return provider
    return REHEARSAL
