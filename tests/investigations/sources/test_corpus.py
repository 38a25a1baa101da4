"""Every source's posts are recognised, and read to the last field."""

from collections import Counter

from investigations.sources.registry import SOURCES, read_post, read_post_of, recognise
from tests.cases import for_each
from tests.investigations.sources.corpus import Case, find_differences, read_cases

CASES = list(read_cases())


@for_each(CASES, name=lambda case: case.name)
def test_a_post_is_read_as_its_source_means_it(case: Case):
    at_address = read_post_of(case.source, case.post, {})

    assert find_differences(case, at_address) == []
    if not case.address:
        assert find_differences(case, read_post(case.post)) == []


@for_each([case for case in CASES if not case.address], name=lambda case: case.name)
def test_a_post_is_recognised_without_an_address(case: Case):
    found = recognise(case.post).source

    assert (found.name if found else "generic") == case.source


def read_pairs() -> dict[tuple[str, str], list[str]]:
    """The keys of the posts about one alert, by their source and its name there."""
    keys: dict[tuple[str, str], list[str]] = {}
    for case in CASES:
        if case.pair:
            (alert, *_) = read_post_of(case.source, case.post, {}).alerts
            keys.setdefault((case.source, case.pair), []).append(alert.about or alert.key)
    return keys


def test_posts_about_one_alert_have_one_key():
    pairs = read_pairs()

    assert [name for name, keys in pairs.items() if len(keys) < 2] == []
    assert [name for name, keys in pairs.items() if len(set(keys)) > 1] == []


def test_posts_about_two_alerts_have_two_keys():
    alerts = Counter((source, key) for (source, _), keys in read_pairs().items() for key in {*keys})

    assert [name for name, count in alerts.items() if count > 1] == []


def test_every_source_has_four_posts_at_least():
    counts = Counter(case.source for case in CASES)

    assert set(counts) == set(SOURCES)
    assert [source for source, count in counts.items() if count < 4] == []
