"""`alert_sources`: how posts of senders are read that TARSy does not know."""

from collections.abc import Mapping
from typing import Annotated, Any

import jmespath
from jmespath.exceptions import JMESPathError, UnknownFunctionError
from jmespath.functions import Functions
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from config.schema.fields import Block, FilledText, List, Text
from config.tree import Scalar


def _as_expression(value: object) -> object:
    text = str(value) if isinstance(value, Scalar | str) else ""
    try:
        _refuse_unknown_functions(jmespath.compile(text).parsed)
    except JMESPathError as error:
        told = str(error).splitlines()[0]
        message = f"is no JMESPath expression: {told}"
        raise PydanticCustomError("wrong", "{message}", {"message": message}) from None
    return value


def _refuse_unknown_functions(node: Mapping[str, Any]) -> None:
    """The library itself would say so of each post only."""
    if node["type"] == "function_expression" and node["value"] not in Functions.FUNCTION_TABLE:
        raise UnknownFunctionError(f"Unknown function: {node['value']}()")
    for child in node["children"]:
        if isinstance(child, Mapping):  # The bounds of a slice are numbers.
            _refuse_unknown_functions(child)


Expression = Annotated[FilledText, BeforeValidator(_as_expression)]


class AlertSourceConfig(Block):
    """Where the fields of a post stand, each as a JMESPath expression. The sender posts to
    `/api/v1/webhooks/NAME`. What is unset is read as in a post that nobody knows."""

    alerts: Expression | None = None
    """The list of alerts in a post. Unset: a post is one alert."""
    title: Expression | None = None
    """What stands in the list of sessions. Unset: the most telling text."""
    severity: Expression | None = None
    """How heavy the alert is, in the sender's own word."""
    state: Expression | None = None
    """The word that says whether the alert holds. Unset: the usual fields say
    it, else it does."""
    resolved_when: List[FilledText] = ()
    """The words of `state` that mean that the alert is over. Empty: the usual ones, such as
    `resolved`, `ok` and `closed`."""
    key: Expression | None = None
    """What is the same in every post about the same alert. A list of texts is joined. Unset: what
    names it in usual fields."""
    labels: Expression | None = None
    """An object of names with texts."""
    link: Expression | None = None
    """An address that shows the alert."""
    runbook: Expression | None = None
    """An address that says what to do."""
    start: Expression | None = None
    """Since when the alert holds: ISO 8601, or a number of seconds since 1970."""
    alert_type: Text = ""
    """The alert type that chooses the chain where the address names none. Empty:
    `defaults.alert_type`."""
