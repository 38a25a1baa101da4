"""The form that sends an alert: what a person filled in, and the body it makes for the API."""

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from django.http import QueryDict

from agents.types import JSON
from config.schema.agents import NativeToolsConfig
from investigations.models import AlertSession
from investigations.models.foreign_json import read_json
from investigations.services.intake import is_envelope
from tarsy.errors import InvalidInput

TEXT, ROWS = "text", "rows"
_BEGINS_AS_JSON = re.compile(r'\{|\[\s{0,99}[\[{"\d-]')
"""`[FIRING] disk full` does not."""
SWITCHES = {"on": True, "off": False}
"""What is said of a native tool; anything else leaves it as configured."""


@dataclass(frozen=True)
class Row:
    """A key and a value of an alert."""

    key: str = ""
    value: str = ""

    @property
    def is_blank(self) -> bool:
        return not self.key.strip() and not self.value.strip()


@dataclass(frozen=True)
class AlertForm:
    """Everything that was filled in, right or wrong, so that nothing is lost."""

    mode: str = TEXT
    text: str = ""
    rows: tuple[Row, ...] = ()
    alert_type: str = ""
    runbook: str = ""
    servers: tuple[str, ...] = ()
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Of which servers only some tools are wanted."""
    native_tools: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))
    fingerprint: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the alert itself is still missing."""
        if self.mode == ROWS:
            return all(row.is_blank for row in self.rows)
        return not self.text.strip()

    def body(self) -> dict[str, JSON]:
        """What the API would be sent. Raises InvalidInput for rows that make no object.

        A text that is such a body already is not put into another: what it says itself counts.
        """
        return {**self.choices(), "data": self._data(), **self.envelope}

    def choices(self) -> dict[str, JSON]:
        """What the API would be sent beside the alert itself."""
        choices: dict[str, JSON] = {"alert_type": self.alert_type}
        if self.runbook:
            choices["runbook"] = self.runbook
        if selection := self.selection():
            choices["mcp"] = selection
        if self.fingerprint:
            choices["slack_message_fingerprint"] = self.fingerprint
        return choices

    def repeats(self, session: AlertSession) -> bool:
        """Whether the alert is still the one that the session was about."""
        return self.mode == TEXT and self.text.strip() == _plain(session.alert_data).strip()

    @property
    def envelope(self) -> Mapping[str, JSON]:
        """The body that was pasted as the text; nothing where the text is the alert itself."""
        text = self.text.strip()
        if self.mode == ROWS or not text.startswith("{"):
            return {}
        try:
            read = read_json(text)
        except ValueError:
            return {}
        return read if is_envelope(read) else {}

    @property
    def wanted_type(self) -> str:
        """The alert type that counts: a pasted body's before the chosen one."""
        said = self.envelope.get("alert_type")
        return said if isinstance(said, str) and said else self.alert_type

    @property
    def wanted_selection(self) -> JSON:
        """The choice of tools that counts: a pasted body's before the one of the form; None where
        all is left as configured."""
        return self.envelope.get("mcp", self.selection() or None)

    def find_json_fault(self) -> str:
        """Why a text that begins as JSON does is none, as a clause; empty where it is, or is meant
        to be plain text."""
        text = self.text.strip()
        if self.mode == ROWS or not _BEGINS_AS_JSON.match(text):
            return ""
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            return f"in line {error.lineno}, column {error.colno} it is none ({error.msg})"
        except (ValueError, RecursionError):
            return "it cannot be read as such"
        return ""

    def selection(self) -> dict[str, JSON]:
        """The choice of tools as the API takes it; empty where all is left as configured."""
        chosen: dict[str, JSON] = {}
        if self.servers:
            chosen["servers"] = [self._server(name) for name in self.servers]
        if self.native_tools:
            chosen["native_tools"] = dict(self.native_tools)
        return chosen

    def _server(self, name: str) -> JSON:
        tools = self.tools.get(name)
        return {"name": name, "tools": list(tools)} if tools else {"name": name}

    def _data(self) -> JSON:
        if self.mode != ROWS:
            return self.text
        data: dict[str, JSON] = {}
        for index, row in enumerate(self.rows):
            if row.is_blank:
                continue
            key = row.key.strip()
            if not key:
                raise InvalidInput(f"rows[{index}]", "has a value and no key")
            if key in data:
                raise InvalidInput(f"rows[{index}]", f'has the key "{key[:60]}" a second time')
            data[key] = row.value
        return data


def read_form(sent: QueryDict) -> AlertForm:
    """What a browser sent. Line ends are plain, as they would be in any other client."""
    named = _texts(sent.getlist("server"))
    tools = {
        name.removeprefix("tools:"): tuple(dict.fromkeys(_texts(sent.getlist(name))))
        for name in sent
        if name.startswith("tools:")
    }
    # Tools without their server: a page without a script cannot tick it.
    servers = tuple(dict.fromkeys((*named, *(name for name, chosen in tools.items() if chosen))))
    return AlertForm(
        mode=ROWS if sent.get("mode") == ROWS else TEXT,
        text=_plain(sent.get("text", "")),
        rows=_read_rows(sent),
        alert_type=sent.get("alert_type", "").strip(),
        runbook=sent.get("runbook", "").strip(),
        servers=servers,
        tools=MappingProxyType({name: chosen for name, chosen in tools.items() if chosen}),
        native_tools=MappingProxyType(_read_switches(sent)),
        fingerprint=sent.get("fingerprint", "").strip(),
    )


def form_of_session(session: AlertSession) -> AlertForm:
    """The same alert once more, as it is stored: masked."""
    chosen = session.mcp_selection if isinstance(session.mcp_selection, Mapping) else {}
    servers = _kept_servers(chosen.get("servers"))
    return AlertForm(
        text=session.alert_data,
        alert_type=session.alert_type,
        runbook=session.runbook_url,
        servers=tuple(servers),
        tools=MappingProxyType({name: tools for name, tools in servers.items() if tools}),
        native_tools=MappingProxyType(_known_switches(chosen.get("native_tools"))),
        fingerprint=session.slack_message_fingerprint,
    )


def read_session_id(text: str) -> uuid.UUID | None:
    """The id in a link to this form; None where it is none."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _read_rows(sent: QueryDict) -> tuple[Row, ...]:
    keys, values = sent.getlist("key"), sent.getlist("value")
    values += [""] * (len(keys) - len(values))
    rows = [Row(_plain(key), _plain(value)) for key, value in zip(keys, values, strict=False)]
    return tuple(row for row in rows if not row.is_blank)


def _read_switches(sent: QueryDict) -> dict[str, bool]:
    said = {name: sent.get(f"native:{name}", "") for name in NativeToolsConfig.model_fields}
    return {name: SWITCHES[value] for name, value in said.items() if value in SWITCHES}


def _known_switches(kept: JSON) -> dict[str, bool]:
    named = kept if isinstance(kept, Mapping) else {}
    return {name: on for name, on in named.items() if isinstance(on, bool)}


def _kept_servers(kept: JSON) -> dict[str, tuple[str, ...]]:
    """The servers of a choice, each with the tools that are wanted of it; none where all are."""
    servers: dict[str, tuple[str, ...]] = {}
    for each in kept if isinstance(kept, list) else ():
        if isinstance(each, Mapping) and isinstance(name := each.get("name"), str):
            tools = each.get("tools")
            servers[name] = tuple(_texts(tools if isinstance(tools, list) else ()))
    return servers


def _texts(values: Iterable[object]) -> list[str]:
    return [value for value in values if isinstance(value, str) and value]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
