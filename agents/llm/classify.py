"""Sorts what an SDK raised into an `LLMError` with a sentence a person can act on."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from agents.llm.asked_wait import read_asked_wait
from agents.llm.bodies import ForeignText
from agents.llm.error_bodies import ErrorBody, read_error
from agents.llm.settings import ProviderSettings
from agents.llm.unreachable import Obstacle, find_obstacle
from agents.llm.wire_values import clean_characters
from agents.ports import NotSent
from agents.retry_after import spell_seconds
from tarsy.errors import LLMError, LLMErrorCode

LONGEST_READ = 4000
_PASSING = frozenset({408, 409, 425})
"""Statuses below 500 of what is gone in a while."""
LONGEST_QUOTE = 300

_SAID_WITH_400 = (401, 403, 429)
"""What services of AWS and gateways call by its name beside a status that says less."""
_BAD_KEY = re.compile(
    r"api[ _-]?key (?:is )?(?:not valid|invalid|expired)|(?:incorrect|invalid) (?:x-)?api[ _-]?key"
    r"|API_KEY_INVALID",
    re.IGNORECASE,
)
_BROKEN_CONNECTION = re.compile(
    r"connection error|cannot connect to host|stream ended before|server disconnected"
    r"|peer closed connection|connection (?:reset|refused|closed)",
    re.IGNORECASE,
)
_WRAPPERS = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?::|[ ]-)[ ]+)+")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>)\]]+", re.IGNORECASE)
_SECRET_WORD = re.compile(r"\b(?:sk|xai|AIza|gsk|ya29)[-_.A-Za-z0-9*]{6,}")
_BEARER = re.compile(r"(?i)\b(bearer|api[-_ ]?key)(\W{1,3})[^\s\"',;]{6,}")


@contextmanager
def only_llm_errors(settings: ProviderSettings) -> Iterator[None]:
    """Keeps what the port promises: `LLMError` and `NotSent`, whatever goes wrong within.

    The error itself is not carried along: addresses with keys stand in its text.
    """
    try:
        yield
    except (LLMError, NotSent):
        raise
    except Exception as error:
        raise classify(error, settings) from None


def classify(error: Exception, settings: ProviderSettings) -> LLMError:
    """What an exception of a provider's SDK means to us. Never repeats a key."""
    error = _unwrap(error)
    said = read_error(getattr(error, "body", None), _find_text(error))
    status = _find_status(error) or said.status
    if status == 400 and said.status in _SAID_WITH_400:
        status = said.status
    if _is_timeout(error, status):
        return _connection(settings, "did not answer in time")
    if _is_broken_connection(error):
        return _unreachable(settings, find_obstacle(error))
    if isinstance(error, ForeignText):
        return _refuse_foreign_text(error, settings)
    if said.is_overflow(status):
        return _too_long(error, settings)
    if status is None:
        return _classify_without_status(error, settings)
    return _classify_status(error, status, said, settings)


def _classify_status(
    error: Exception, status: int, said: ErrorBody, settings: ProviderSettings
) -> LLMError:
    quote = _quote(error, settings)
    if status == 401 or (status == 400 and _BAD_KEY.search(str(error))):
        return refuse_key(status, settings, quote)
    if status == 403:
        return LLMError(
            "credentials",
            f"{_subject(settings)} does not allow its key to do this (403){quote}. "
            f"Check what {_name_key(settings)} may use.",
        )
    if status in (402, 429):
        return _rate_limit(error, status, settings)
    if said.lacks_tool_calling:
        return LLMError(
            "no_tool_calling",
            f"{_subject(settings)} cannot be given tools to call ({status}){quote}. Say "
            "tool_calling: false for this provider.",
        )
    if status >= 500 or status in _PASSING:
        return _after_a_wait(
            "provider_error", f"{_subject(settings)} answered {status}{quote}.", error
        )
    return _invalid_request(error, status, settings)


def read_refusal(error: Exception) -> str:
    """What a provider said when it refused a request."""
    return _find_message(_unwrap(error))


def refuse_key(status: int | None, settings: ProviderSettings, quote: str = "") -> LLMError:
    """The error for a missing key, or for one that was answered with `status`."""
    name = _name_key(settings)
    if not settings.api_key:
        answered = f" (it answered {status}{quote})" if status else ""
        reason = f"{_subject(settings)} needs a key{answered}. Put it into {name}."
        return LLMError("credentials", reason)
    return LLMError(
        "credentials",
        f"{_subject(settings)} refused the key ({status}){quote}. Set {name} to a valid key "
        "and start the worker again.",
    )


def _rate_limit(error: Exception, status: int, settings: ProviderSettings) -> LLMError:
    quote = _quote(error, settings)
    if status == 402 or "insufficient_quota" in quote or "credit balance" in quote:
        return LLMError(
            "rate_limit",
            f"{_subject(settings)} answered {status}: the account has no credit left{quote}. "
            "Top it up or choose another provider.",
        )
    reason = f"{_subject(settings)} answered 429 (too many requests){quote}."
    return _after_a_wait("rate_limit", reason, error)


def _after_a_wait(code: LLMErrorCode, reason: str, error: Exception) -> LLMError:
    """An error that is gone in a while: in the one that the provider asks for, where it does."""
    asked = _find_asked_wait(error, is_rate_limit=code == "rate_limit")
    if asked is None:
        return LLMError(code, reason, retryable=True)
    reason = f"{reason} It asks to wait {spell_seconds(asked)}."
    return LLMError(code, reason, retryable=True, retry_after=asked)


def _too_long(error: Exception, settings: ProviderSettings) -> LLMError:
    return LLMError(
        "context_window",
        f"The conversation is longer than the model {settings.model} can read"
        f"{_quote(error, settings)}. Choose a model with a larger context window or let large tool "
        "results be summarized.",
    )


def _refuse_foreign_text(error: ForeignText, settings: ProviderSettings) -> LLMError:
    return LLMError(
        "invalid_request",
        f"{_subject(settings)} answered with a page or a text that is no answer of a model"
        f"{_quote(error, settings)}. Check base_url; where a proxy wants people to sign in, it has "
        "to let this address through.",
    )


def _invalid_request(error: Exception, status: int, settings: ProviderSettings) -> LLMError:
    if status == 404:
        return LLMError(
            "invalid_request",
            f"{_subject(settings)} answered 404: it does not know the model {settings.model!r} "
            f"or the address is wrong{_quote(error, settings)}. Check model and base_url.",
        )
    return LLMError(
        "invalid_request",
        f"{_subject(settings)} refused the request ({status}){_quote(error, settings)}.",
    )


def _classify_without_status(error: Exception, settings: ProviderSettings) -> LLMError:
    if isinstance(error, ValueError):
        return LLMError(
            "provider_error",
            f"{_subject(settings)} sent something that is not JSON.",
            retryable=True,
        )
    return LLMError(
        "provider_error",
        f"{_subject(settings)} reported an error{_quote(error, settings)}.",
        retryable=_has_type(error, "APIError") or _has_type(error, "RefusedInStream"),
    )


def _connection(settings: ProviderSettings, what: str) -> LLMError:
    place = f" at {strip_url(settings.base_url)}" if settings.base_url else ""
    return LLMError("connection", f"{_subject(settings)}{place} {what}.", retryable=True)


def _unreachable(settings: ProviderSettings, obstacle: Obstacle | None) -> LLMError:
    if obstacle is None:
        return _connection(settings, "could not be reached or ended the connection")
    error = _connection(settings, f"could not be reached: {obstacle.reason}")
    error.retryable = not obstacle.is_lasting
    return error


def _find_asked_wait(error: Exception, *, is_rate_limit: bool) -> float | None:
    body, text = getattr(error, "body", None), _find_text(error)
    return read_asked_wait(_find_headers(error), body, text, is_rate_limit=is_rate_limit)


def _find_headers(error: Exception) -> Mapping[str, str]:
    """litellm puts those of some providers beside an answer of its own that has none."""
    response = getattr(error, "response", None)
    places = (
        getattr(response, "headers", None),
        getattr(error, "litellm_response_headers", None),
        getattr(error, "headers", None),
    )
    return next((place for place in places if isinstance(place, Mapping) and place), {})


def strip_url(url: str) -> str:
    """An address without user, password, query and fragment."""
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    return re.sub(r"//[^/@]*@", "//", bare)


def _name_key(settings: ProviderSettings) -> str:
    return settings.api_key_env or "the key of this provider"


def _subject(settings: ProviderSettings) -> str:
    return f"The provider {settings.provider_name} (model {settings.model})"


def _quote(error: Exception, settings: ProviderSettings) -> str:
    words = _words(error, settings)
    # "Error code: 500" is all the SDK says of a body it cannot read.
    return "" if not words or words.startswith("Error code:") else f": {words}"


def _words(error: Exception, settings: ProviderSettings) -> str:
    """What the provider said, short, on one line and without anything secret."""
    text = _WRAPPERS.sub("", _find_message(error))[:LONGEST_READ]
    for secret in (settings.api_key, settings.vertex_credentials):
        if secret:
            text = text.replace(secret, "***")
    text = _URL.sub(lambda match: strip_url(match.group()), text)
    text = _BEARER.sub(r"\1\2***", _SECRET_WORD.sub("***", text))
    text = text.split("Traceback (most recent call last)")[0]
    text = clean_characters(" ".join(text.split()).rstrip("."))
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _find_message(error: Exception) -> str:
    said = read_error(getattr(error, "body", None), _find_text(error))
    names = [name for name in said.names if name != "error" and name not in said.message]
    return " ".join([said.message, *names[:1]]).strip()


def _find_text(error: Exception) -> str:
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else str(error)


def _unwrap(error: Exception) -> Exception:
    """litellm wraps what goes wrong within a stream, and names the wrapper in its text."""
    original = getattr(error, "original_exception", None)
    return original if isinstance(original, Exception) else error


def _find_status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or _is_invented_status(error):
        return None
    return status


def _is_invented_status(error: Exception) -> bool:
    """litellm's connection error is its word for anything else; its 500 came from nobody."""
    return _has_type(error, "APIConnectionError")


def _is_timeout(error: Exception, status: int | None) -> bool:
    return isinstance(error, TimeoutError) or status == 408 or _has_type(error, "APITimeoutError")


def _is_broken_connection(error: Exception) -> bool:
    if isinstance(error, OSError) or find_obstacle(error) is not None:
        return True
    # litellm also reports a refused connection as a 500 of the provider.
    return _BROKEN_CONNECTION.search(str(error)) is not None and (
        _has_type(error, "APIConnectionError") or _has_type(error, "InternalServerError")
    )


def _has_type(error: Exception, name: str) -> bool:
    # By name: this module must not import an SDK, and litellm's errors derive from openai's.
    return any(cls.__name__ == name for cls in type(error).__mro__)
