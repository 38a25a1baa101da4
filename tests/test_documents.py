"""The documents lead to what exists: every link, and every path of the repository in them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").glob("*/README.md")]
)
ROOMS = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}

_FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"\s]+)\"")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")
_PATH = re.compile(r"[\w.-]+(?:/[\w.*-]+)+/?|[\w-]+/")
_SOURCE = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.(?:py|js|css|html|j2|sh|jsonl)")


def _relative(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def _links(text: str) -> Iterator[str]:
    prose = _INLINE.sub("", _FENCED.sub("", text))
    for match in _LINK.finditer(prose):
        target = match[1] or match[2]
        if not _SCHEME.match(target):
            yield target


def _slugs(document: Path) -> set[str]:
    """The places of a page as GitHub names them."""
    headings = _HEADING.findall(_FENCED.sub("", document.read_text(encoding="utf-8")))
    return {_NOT_IN_SLUG.sub("", each.lower()).replace(" ", "-") for each in headings}


def _leads_somewhere(document: Path, link: str) -> bool:
    path, _, place = link.partition("#")
    target = (document.parent / path).resolve() if path else document
    if not target.exists():
        return False
    return not place or target.suffix != ".md" or place in _slugs(target)


def _paths(text: str) -> Iterator[str]:
    """What stands in backticks and is written like a path of the repository.

    A source file counts wherever it is said to lie; anything else only below a room that is there,
    since an address or a place on a machine looks the same.
    """
    for code in _INLINE.findall(_FENCED.sub("", text)):
        is_in_room = _PATH.fullmatch(code) and code.partition("/")[0] in ROOMS
        if is_in_room or _SOURCE.fullmatch(code):
            yield code


def _is_there(path: str) -> bool:
    """A bare name may lie in any room."""
    if "/" in path.rstrip("/"):
        return any(ROOT.glob(path.rstrip("/")))
    rooms = (ROOT / room for room in ROOMS - {"node_modules", "var"})
    return (ROOT / path).exists() or any(next(room.rglob(path), None) for room in rooms)


@pytest.mark.parametrize("document", DOCUMENTS, ids=_relative)
def test_every_relative_link_leads_to_a_page_or_a_file(document: Path):
    text = document.read_text(encoding="utf-8")

    assert [link for link in _links(text) if not _leads_somewhere(document, link)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=_relative)
def test_every_path_in_backticks_exists(document: Path):
    text = document.read_text(encoding="utf-8")

    assert [path for path in _paths(text) if not _is_there(path)] == []


@pytest.mark.parametrize(("name", "most"), [("README.md", 120), ("docs/architecture.md", 150)])
def test_page_for_newcomers_stays_short(name: str, most: int):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()

    assert len(lines) <= most


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("`investigations/queue.py`", True),
        ("`agents/prompts/templates/`", True),
        ("`tests/masking/*.jsonl`", True),
        ("`queue.py`", True),
        ("`investigations/quue.py`", False),
        ("`no_such_room/queue.py`", False),
        ("`quue.py`", False),
        ("`agents/no_such_folder/`", False),
    ],
)
def test_path_that_is_gone_is_noticed(text: str, is_there: bool):
    [path] = _paths(text)

    assert _is_there(path) == is_there


@pytest.mark.parametrize(
    "text", ["`/etc/access/ops.yaml`", "`sessions/ID/timeline`", "`text/plain`", "`a or b`"]
)
def test_place_outside_the_repository_is_left_alone(text: str):
    assert list(_paths(text)) == []


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("architecture.md", True),
        ("architecture.md#one-picture", True),
        ("../README.md", True),
        ("architecture.md#no-such-heading", False),
        ("no-such-page.md", False),
    ],
)
def test_link_that_leads_nowhere_is_noticed(link: str, leads: bool):
    assert _leads_somewhere(ROOT / "docs" / "README.md", link) == leads
