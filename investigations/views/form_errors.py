"""What is wrong with a form, as a sentence for the place of it that it is about."""

from collections.abc import Mapping

from tarsy.errors import InvalidInput

FORM = "form"
"""The place of what is about no field."""


def find_subject(field: str, subjects: Mapping[str, str]) -> str:
    """What a field is called on its page; empty where it has no place there."""
    return subjects.get(field.split("[")[0], "")


def say_error(error: InvalidInput, subject: str) -> str:
    """What is wrong, about a field by the name that its page has for it."""
    said = error.message
    if subject and said.startswith(("must ", "has ", "is ")):
        said = f"{subject} {said}"
    return as_sentence(said)


def as_sentence(words: str) -> str:
    return words[:1].upper() + words[1:].rstrip(".") + "."
