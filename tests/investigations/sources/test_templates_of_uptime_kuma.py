"""What somebody's own template of Uptime Kuma says in its fields counts before its message."""

from collections.abc import Mapping

import pytest

from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post_of


def read(body: Mapping[str, object]) -> AlertReading:
    post = Post(dict(body))  # type: ignore[arg-type]  # JSON, as written below
    return read_post_of("uptime_kuma", post, {}).alerts[0]


@pytest.mark.parametrize(
    "body",
    [
        {"monitor": "web", "status": "DOWN", "msg": "[web] [✅ Up] 200"},
        {"monitor": "web", "previous": "[web] [✅ Up] 200", "msg": "[web] [🔴 Down] timeout"},
        {"before": "[web] [✅ Up] 200", "title": "web is lost"},
        {"monitor": "web", "log": "[web] [✅ Up] 200", "msg": "[web] [🔴 Down] timeout"},
        {"title": "Database is lost", "status": "critical", "log": "saw [web] [Up] before"},
        {"title": "Database is lost", "log": "saw [web] [Up] before"},
    ],
)
def test_what_a_message_says_beside_a_failure_ends_nothing(body):
    assert read(body).state == "firing"


def test_the_name_of_a_monitor_may_have_brackets():
    fires, ends = read({"msg": "[[prod] web] [🔴 Down] x"}), read({"msg": "[[prod] web] [✅ Up] 2"})

    assert (fires.state, ends.state) == ("firing", "resolved")
    assert (fires.key, ends.key) == ("[prod] web", "[prod] web")
