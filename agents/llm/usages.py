"""Reads how many tokens an answer took, wherever and under whatever name a provider says it."""

from typing import Any, TypeGuard

from agents.types import Usage

_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
_DETAILS = ("completion_tokens_details", "output_tokens_details")


class UsageReader:
    """Counts that come late, twice or in parts, as one. Counts of one answer never shrink."""

    def __init__(self) -> None:
        self._known = Usage()

    def take(self, chunk: Any) -> Usage | None:
        """What is known after this chunk, if the chunk says anything of it."""
        found = [_read(place) for place in _find_places(chunk)]
        said = [usage for usage in found if usage.total_tokens is not None]
        for usage in said:
            self._known = _join(self._known, usage)
        return self._known if said else None


def _find_places(chunk: Any) -> list[Any]:
    choices = _get(chunk, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    # Moonshot counts within the choice, Groq in a member of its own.
    places = (chunk, choice, _get(chunk, "x_groq"))
    return [usage for place in places if (usage := _get(place, "usage")) is not None]


def _read(usage: Any) -> Usage:
    details = next((found for name in _DETAILS if (found := _get(usage, name)) is not None), None)
    thinking = _count(_get(details, "reasoning_tokens"))
    return Usage(
        input_tokens=_first_count(usage, _INPUT),
        output_tokens=_first_count(usage, _OUTPUT),
        thinking_tokens=_count(_get(usage, "reasoning_tokens")) if thinking is None else thinking,
    )


def _join(known: Usage, said: Usage) -> Usage:
    return Usage(
        input_tokens=_larger(known.input_tokens, said.input_tokens),
        output_tokens=_larger(known.output_tokens, said.output_tokens),
        thinking_tokens=_larger(known.thinking_tokens, said.thinking_tokens),
    )


def _larger(known: int | None, said: int | None) -> int | None:
    return max((count for count in (known, said) if count is not None), default=None)


def _first_count(usage: Any, names: tuple[str, ...]) -> int | None:
    return next((n for name in names if (n := _count(_get(usage, name))) is not None), None)


def _count(value: object) -> int | None:
    if (isinstance(value, float) and value.is_integer()) or _is_number(value):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _is_number(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 12


def _get(value: Any, name: str) -> Any:
    """A member of an object of JSON or of an SDK. What is no object has none."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
