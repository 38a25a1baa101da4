"""The runbooks to choose from, over HTTP."""

import json

from investigations.services import runbooks
from tests.investigations.runbooks.network import World, put_in_place, reply

CONFIGURED = "system: {runbooks: {repo_url: https://github.com/o/r}}\n"
TREE = [{"path": path, "type": "blob"} for path in ("b.md", "a/a.md", "a/run.sh")]


def test_without_a_repository_the_list_is_empty(api):
    answer = api.get("/api/v1/runbooks")

    assert (answer.status_code, answer.json()) == (200, [])


def test_the_list_holds_the_pages_of_the_repository(api, reconfigure, monkeypatch):
    put_in_place(World([reply(json.dumps({"tree": TREE}))]), monkeypatch)
    reconfigure(CONFIGURED)

    answer = api.get("/api/v1/runbooks")

    runbooks._listing.cache_clear()
    pages = [f"https://github.com/o/r/blob/HEAD/{path}" for path in ("a/a.md", "b.md")]
    assert (answer.status_code, answer.json()) == (200, pages)


def test_a_repository_that_cannot_be_reached_is_an_empty_list(api, reconfigure, monkeypatch):
    put_in_place(World([reply("", "503 Service Unavailable")]), monkeypatch)
    reconfigure(CONFIGURED)

    answer = api.get("/api/v1/runbooks")

    runbooks._listing.cache_clear()
    assert (answer.status_code, answer.json()) == (200, [])


def test_a_stranger_is_told_nothing(stranger):
    assert stranger.get("/api/v1/runbooks").status_code in (401, 403)
