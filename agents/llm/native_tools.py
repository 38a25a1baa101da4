"""The tools that run inside Google's own service: offered, withheld with a word, and reported."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.llm.settings import NativeTool, ProviderSettings
from agents.llm.thinking import is_image_model
from agents.llm_events import NativeToolTold
from agents.types import JSON, Message, Note, ToolSpec
from config.schema.providers import has_native_tools

LONGEST_OUTPUT = 20_000
MOST_SOURCES = 30

_WIRE_NAMES: Mapping[NativeTool, str] = {
    "google_search": "googleSearch",
    "url_context": "urlContext",
    "code_execution": "codeExecution",
}


def offer_native_tools(
    settings: ProviderSettings, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> tuple[list[dict[str, JSON]], list[NativeToolTold]]:
    """What goes to the provider, and a note for each native tool that cannot."""
    offered: list[dict[str, JSON]] = []
    told: list[NativeToolTold] = []
    has_functions = bool(tools) or any(message.tool_calls for message in messages)
    for name in sorted(settings.native_tools):
        reason = _find_obstacle(settings, name, has_functions=has_functions)
        if reason:
            told.append(NativeToolTold(_note_withheld(name, reason)))
        else:
            offered.append({_WIRE_NAMES[name]: {}})
    return offered, told


def _find_obstacle(settings: ProviderSettings, name: NativeTool, *, has_functions: bool) -> str:
    if not has_native_tools(settings.type, settings.model):
        return f"the model {settings.model} has no such tool of its own"
    if settings.backend != "google-native":
        return "the backend langchain has none; use google-native"
    if is_image_model(settings.model):
        return "" if name == "google_search" else f"the model {settings.model} has none"
    if has_functions:
        return (
            f"the model {settings.model} takes either its own tools or the agent's, and this agent "
            "has some; give it to an agent without MCP servers"
        )
    return ""


def _note_withheld(name: NativeTool, reason: str) -> Note:
    metadata: dict[str, JSON] = {"tool_name": name, "is_offered": False, "reason": reason}
    # No event of the tool's own kind: those say that it ran.
    return Note("notice", f"{name} was not offered to the model: {reason}.", metadata)


class NativeToolReader:
    """Collects from Google's raw chunks what its own tools did.

    Chunks come from a network: what is not as it should be is passed over.
    """

    def __init__(self) -> None:
        self._queries: dict[str, None] = {}
        self._sources: dict[str, str] = {}
        self._pages: dict[str, str] = {}
        self._runs: list[dict[str, JSON]] = []

    def take(self, chunk: object) -> None:
        for candidate in _dicts(_get(chunk, "candidates")):
            self._take_grounding(candidate.get("groundingMetadata"))
            for page in _dicts(_get(candidate.get("urlContextMetadata"), "urlMetadata")):
                url, status = page.get("retrievedUrl"), page.get("urlRetrievalStatus")
                if isinstance(url, str):
                    self._pages[url] = str(status or "").removeprefix("URL_RETRIEVAL_STATUS_")
            for part in _dicts(_get(candidate.get("content"), "parts")):
                self._take_code(part)

    def tell(self) -> list[NativeToolTold]:
        """One event for each kind of tool that was used, and one for each run of code."""
        notes = [_note_run(run) for run in self._runs]
        if self._queries or self._sources:
            notes.append(self._note_search())
        if self._pages:
            notes.append(self._note_pages())
        return [NativeToolTold(note) for note in notes]

    def _take_grounding(self, grounding: object) -> None:
        for query in _list(_get(grounding, "webSearchQueries")):
            if isinstance(query, str):
                self._queries[query] = None
        for chunk in _dicts(_get(grounding, "groundingChunks")):
            uri, title = _get(chunk.get("web"), "uri"), _get(chunk.get("web"), "title")
            if isinstance(uri, str) and len(self._sources) < MOST_SOURCES:
                self._sources[uri] = title if isinstance(title, str) else ""

    def _take_code(self, part: Mapping[str, Any]) -> None:
        code, result = part.get("executableCode"), part.get("codeExecutionResult")
        if isinstance(code, dict):
            self._runs.append(
                {
                    "language": str(code.get("language", "")).lower(),
                    "code": str(code.get("code", ""))[:LONGEST_OUTPUT],
                }
            )
        if isinstance(result, dict):
            if not self._runs or "output" in self._runs[-1]:
                self._runs.append({"language": "", "code": ""})
            self._runs[-1]["outcome"] = str(result.get("outcome", "")).removeprefix("OUTCOME_")
            self._runs[-1]["output"] = str(result.get("output", ""))[:LONGEST_OUTPUT]

    def _note_search(self) -> Note:
        lines = [f"Searched for: {query}" for query in self._queries]
        lines += [f"Source: {title or uri}" for uri, title in self._sources.items()]
        queries: list[JSON] = list(self._queries)
        sources: list[JSON] = [{"uri": uri, "title": t} for uri, t in self._sources.items()]
        return Note(
            "google_search_result", "\n".join(lines), {"queries": queries, "sources": sources}
        )

    def _note_pages(self) -> Note:
        lines = [f"{url} ({status.lower()})" for url, status in self._pages.items()]
        pages: list[JSON] = [{"url": url, "status": s} for url, s in self._pages.items()]
        return Note("url_context_result", "\n".join(lines), {"pages": pages})


def _note_run(run: dict[str, JSON]) -> Note:
    parts = [str(run["code"]).rstrip()]
    if "output" in run:
        parts.append(f"{run['outcome']}:\n{str(run['output']).rstrip()}")
    return Note("code_execution", "\n\n".join(part for part in parts if part), run)


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]
