"""Which provider answers where the configuration names none."""

from collections.abc import Mapping

from tarsy.env import Env

REHEARSAL = "rehearsal"

_BY_VARIABLE = (
    ("OPENAI_BASE_URL", "openai-compatible"),
    ("GEMINI_API_KEY", "google-default"),
    ("GOOGLE_API_KEY", "google-default"),
    ("OPENAI_API_KEY", "openai-default"),
    ("ANTHROPIC_API_KEY", "anthropic-default"),
    ("XAI_API_KEY", "xai-default"),
)


MODEL_VARIABLES = tuple(dict.fromkeys(variable for variable, _provider in _BY_VARIABLE))
"""Setting any of them chooses a model; an endpoint of one's own needs OPENAI_MODEL as well."""


def how_to_configure() -> str:
    """What to set so that a model answers, as a sentence of Markdown."""
    wanted = ", ".join(f"`{each}`" for each in MODEL_VARIABLES)
    return f"Set one of {wanted} (with `OPENAI_MODEL` for an endpoint of your own) and start again."


def holds_keys(environ: Mapping[str, str]) -> bool:
    """Whether the keys of models and tokens of others are given to this process.

    Those that call neither models nor tools need none; the workers have them then, and check them.
    """
    return Env(environ).boolean("TARSY_HOLDS_KEYS", True)


def choose_provider(environ: Mapping[str, str]) -> str:
    """The built-in provider whose variable is set, the scripted rehearsal model where none is."""
    for variable, provider in _BY_VARIABLE:
        if environ.get(variable, "").strip():
            return provider
    return REHEARSAL
