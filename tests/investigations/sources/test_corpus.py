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


def test_posts_about_one_alert_have_one_key():
    keys: dict[tuple[str, str], set[str]] = {}
    for case in CASES:
        if case.pair:
            (alert, *_) = read_post_of(case.source, case.post, {}).alerts
            keys.setdefault((case.source, case.pair), set()).add(alert.about or alert.key)

    assert keys
    assert [name for name, found in keys.items() if len(found) > 1] == []


def test_every_source_has_four_posts_at_least():
    counts = Counter(case.source for case in CASES)

    assert set(counts) == set(SOURCES)
    assert [source for source, count in counts.items() if count < 4] == []
