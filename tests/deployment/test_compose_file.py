"""The harness reads variables as compose does."""

import pytest

from tests.deployment.compose_file import NotSet, fill, read_compose, read_env_file
from tests.processes import ROOT

VARIABLES = {"SET": "x", "EMPTY": ""}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("a $SET b", "a x b"),
        ("${SET}", "x"),
        ("${SET:-y}", "x"),
        ("${EMPTY:-y}", "y"),
        ("${EMPTY-y}", ""),
        ("${MISSING-http://a:1}/b", "http://a:1/b"),
        ("${MISSING}", ""),
        ("celery@$$HOSTNAME", "celery@$HOSTNAME"),
        ("${SET:?why}", "x"),
        ("${SET:+y}", "y"),
        ("${EMPTY:+y}${MISSING:+y}", ""),
    ],
)
def test_variables_are_put_in(text, filled):
    assert fill(text, VARIABLES) == filled


@pytest.mark.parametrize("text", ["${EMPTY:?set it}", "${MISSING:?set it}", "${MISSING?set it}"])
def test_what_the_file_insists_on_must_be_set(text):
    with pytest.raises(NotSet, match="set it"):
        fill(text, VARIABLES)


def test_an_env_file_may_have_comments_and_quotes():
    text = '# A=1\nB=2   # two\nC="a b"\nD=\n\nE=a#b\n'

    assert read_env_file(text) == {"B": "2", "C": "a b", "D": "", "E": "a#b"}


def test_our_own_file_asks_for_a_password_and_a_key():
    with pytest.raises(NotSet, match=r"\.env"):
        read_compose(ROOT / "docker-compose.yml", {})
