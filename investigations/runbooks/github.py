"""GitHub: from the page of a file to its text, and from a repository to its runbooks.

The token goes to GitHub's own hosts alone, and only on a way that began there.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from investigations.runbooks.addresses import Address, Unavailable, read_address

API = "api.github.com"
RAW = "raw.githubusercontent.com"
PAGES = ("github.com", "www.github.com")
HOSTS = (*PAGES, RAW, API)
_FILE_VIEWS = ("blob", "tree", "raw")
LISTING_BYTES = 8 * 1024 * 1024
"""The API itself answers with 7 MB at most."""


def to_text_address(address: Address) -> Address:
    """Where the text of a file lies whose page this is; any other address stays as it is."""
    if address.host not in PAGES:
        return address
    path = address.target.partition("?")[0]
    steps = path.strip("/").split("/")
    if len(steps) < 5 or steps[2] not in _FILE_VIEWS or any(_is_dots(step) for step in steps):
        return address
    owner, repository, _, *rest = steps
    return Address(RAW, "/" + "/".join((owner, repository, *rest)))


def _is_dots(step: str) -> bool:
    return unquote(step) in ("", ".", "..")


def headers_from(start: Address, token: str) -> Callable[[str], Mapping[str, str]]:
    """The headers for each host of a way that begins at `start`."""

    def headers_for(host: str) -> Mapping[str, str]:
        if not token or start.host not in HOSTS or host not in HOSTS:
            return {}
        return {"Authorization": f"Bearer {token}"}

    return headers_for


@dataclass(frozen=True)
class Folder:
    """A folder of a repository at a ref; `path` is empty for all of it."""

    owner: str
    repository: str
    ref: str
    path: str

    @property
    def listing(self) -> Address:
        """Where the API lists every file of the repository."""
        names = (self.owner, self.repository, "git", "trees", self.ref)
        steps = "/".join(quote(name, safe="") for name in names)
        return Address(API, f"/repos/{steps}?recursive=1")

    def page_of(self, path: str) -> str:
        steps = (self.owner, self.repository, "blob", self.ref, path)
        return f"https://github.com/{'/'.join(quote(step) for step in steps)}"


def read_folder(url: str) -> Folder:
    """The folder that the page `url` shows. Raises Unavailable when it is no such page."""
    address = read_address(url)
    steps = [unquote(step) for step in address.target.partition("?")[0].strip("/").split("/")]
    if address.host not in PAGES or len(steps) < 2 or any(_is_dots(step) for step in steps):
        raise Unavailable("must be a repository or a folder on github.com")
    owner, repository, *rest = steps
    if not rest:
        return Folder(owner, repository.removesuffix(".git"), "HEAD", "")
    if rest[0] not in ("tree", "blob") or len(rest) < 2:
        raise Unavailable("must look like https://github.com/OWNER/REPOSITORY/tree/REF/FOLDER")
    return Folder(owner, repository, rest[1], "/".join(rest[2:]))


def read_listing(folder: Folder, body: bytes) -> tuple[str, ...]:
    """The pages of the folder's Markdown files, by name. Raises Unavailable on anything else."""
    try:
        answer = json.loads(body)
        paths = sorted(_markdown_files(answer["tree"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unavailable("answered with something that is no list of files") from error
    inside = f"{folder.path}/" if folder.path else ""
    return tuple(folder.page_of(path) for path in paths if path.startswith(inside))


def _markdown_files(tree: list[dict[str, object]]) -> Iterator[str]:
    for entry in tree:
        path = entry["path"]
        if entry["type"] == "blob" and isinstance(path, str) and path.lower().endswith(".md"):
            yield path
