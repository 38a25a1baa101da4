"""GitHub: pages become texts, folders become lists, and the token stays at home."""

import json

import pytest

from investigations.runbooks.addresses import Unavailable, read_address
from investigations.runbooks.github import headers_from, read_folder, read_listing, to_text_address


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("github.com/o/r/blob/main/disk.md", "raw.githubusercontent.com/o/r/main/disk.md"),
        ("www.github.com/o/r/blob/main/a/b.md", "raw.githubusercontent.com/o/r/main/a/b.md"),
        ("github.com/o/r/tree/v1/a.md?plain=1", "raw.githubusercontent.com/o/r/v1/a.md"),
        ("github.com/o/r/raw/feature/x/a.md", "raw.githubusercontent.com/o/r/feature/x/a.md"),
        ("github.com/o/r/blob/main/a%20b.md", "raw.githubusercontent.com/o/r/main/a%20b.md"),
        ("github.com/o/r/wiki/Disk", "github.com/o/r/wiki/Disk"),
        ("github.com/o/r", "github.com/o/r"),
        ("github.com/o/r/blob/main/%2e%2e/a.md", "github.com/o/r/blob/main/%2e%2e/a.md"),
        ("wiki.example.com/o/r/blob/main/a.md", "wiki.example.com/o/r/blob/main/a.md"),
    ],
)
def test_the_page_of_a_file_leads_to_its_text(page: str, text: str):
    assert str(to_text_address(read_address(f"https://{page}"))) == f"https://{text}"


@pytest.mark.parametrize("host", ["github.com", "raw.githubusercontent.com", "api.github.com"])
def test_the_token_goes_to_github_from_github(host: str):
    headers_for = headers_from(read_address("https://raw.githubusercontent.com/o/r/x"), "t0ken")

    assert headers_for(host) == {"Authorization": "Bearer t0ken"}


@pytest.mark.parametrize(
    ("start", "host", "token"),
    [
        ("github.com", "runbooks.example.com", "t0ken"),
        ("github.com", "gist.github.com", "t0ken"),
        ("github.com", "media.githubusercontent.com", "t0ken"),
        ("runbooks.example.com", "raw.githubusercontent.com", "t0ken"),
        ("runbooks.example.com", "runbooks.example.com", "t0ken"),
        ("github.com", "github.com", ""),
    ],
)
def test_the_token_goes_nowhere_else(start: str, host: str, token: str):
    assert headers_from(read_address(f"https://{start}/x"), token)(host) == {}


def tree(*paths: str) -> bytes:
    entries = [{"path": path, "type": "blob"} for path in paths]
    return json.dumps({"tree": [{"path": "docs.md", "type": "tree"}, *entries]}).encode()


@pytest.mark.parametrize(
    ("url", "listing", "pages"),
    [
        ("https://github.com/o/r", "HEAD", ["HEAD/docs/a%20b.md", "HEAD/docsx/c.MD", "HEAD/z.md"]),
        ("https://github.com/o/r.git/", "HEAD",
         ["HEAD/docs/a%20b.md", "HEAD/docsx/c.MD", "HEAD/z.md"]),
        ("https://github.com/o/r/tree/main/docs/", "main", ["main/docs/a%20b.md"]),
        ("https://github.com/o/r/blob/v%231/docs", "v%231", ["v%231/docs/a%20b.md"]),
        ("https://github.com/o/r/tree/main/none", "main", []),
    ],
)  # fmt: skip
def test_a_folder_lists_the_markdown_files_below_it(url: str, listing: str, pages: list[str]):
    folder = read_folder(url)
    found = read_listing(folder, tree("z.md", "docs/a b.md", "docsx/c.MD", "docs/run.sh"))

    assert str(folder.listing) == (
        f"https://api.github.com/repos/o/r/git/trees/{listing}?recursive=1"
    )
    assert list(found) == [f"https://github.com/o/r/blob/{page}" for page in pages]


@pytest.mark.parametrize(
    "url",
    ["https://wiki.example.com/o/r", "https://github.com/o", "https://github.com/o/r/issues/1",
     "https://github.com/o/r/tree", "https://github.com/o/r/tree/main/../x", "http://github.com/o/r"],
)  # fmt: skip
def test_what_is_no_folder_is_refused(url: str):
    with pytest.raises(Unavailable):
        read_folder(url)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"tree": 5}', b'{"tree": [5]}', b'{"tree": [{}]}', b"[" * 10**5]
)
def test_a_listing_of_another_shape_is_refused(body: bytes):
    with pytest.raises(Unavailable, match="no list of files"):
        read_listing(read_folder("https://github.com/o/r"), body)
