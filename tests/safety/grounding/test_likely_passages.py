"""Claims of a report and the passages of results that they rest on."""

import json

import pytest

from safety.grounding.claims import find_claims
from safety.grounding.likely_passages import Source, find_likely_passage

REPORT = """## Conclusion
The import was restarted 3 times. Confidence: high

## Evidence
1. It has 3 restarts [T2], and the node uses **91 %** of its memory [T3, T4].
2. It has 9 restarts. [T4]
   It was slow; nobody looked at the disk. [T77][T78]
- Perhaps the limit is too low.

```
the job has 7 [T9]
```

## Next steps
1. Raise the limit.
"""
LINES = "\n".join(f"12:00:{n:02} web-{n} OOMKilled, exit code {n + 100}" for n in range(60))


def test_what_stands_before_a_citation_is_what_it_is_cited_for():
    found = [(REPORT[claim.start : claim.end], claim.refs) for claim in find_claims(REPORT)]

    assert found == [
        ("The import was restarted 3 times.", ()),
        ("It has 3 restarts", (2,)),
        ("and the node uses **91 %** of its memory", (3, 4)),
        ("It has 9 restarts.", (4,)),
        ("It was slow; nobody looked at the disk.", (77, 78)),
    ]


def quote(claim: str, result: str) -> str | None:
    found = find_likely_passage(claim, Source(result))
    return result[found.start : found.end] if found else None


@pytest.mark.parametrize(
    ("claim", "result", "said"),
    [
        ("web-37 was OOMKilled with exit code 137", LINES, "web-37 OOMKilled, exit code 137"),
        ("It uses 1.5 GiB of memory", "cpu 3\nmemory_bytes: 1610612736 bytes\n", "1610612736"),
        ("The node uses 91 % of its memory", '{"memory_percent": 91.2}', "91.2"),
        ("The log says `disk full`", "a\nwrite failed: disk full\nb", "write failed: disk full"),
    ],
)
def test_the_shortest_passage_with_the_figures_and_names_is_quoted(claim, result, said):
    found = quote(claim, result)

    assert found is not None
    assert said in found
    assert len(found) < 500


def test_a_long_line_is_quoted_around_the_place():
    rows = [{"name": f"job-{n}", "restarts": n} for n in range(2_000)]

    found = quote("job-1234 has 1234 restarts", json.dumps(rows))

    assert found is not None
    assert '"job-1234", "restarts": 1234' in found
    assert len(found) < 500


@pytest.mark.parametrize(
    ("claim", "result"),
    [
        ("The job has 9 restarts", '{"job": "import", "restarts": 3}'),
        ("web-99 was killed", LINES),
        ("Nobody looked at the disk", "cpu 3\nmemory 4"),
        ("", LINES),
        ("It has 3 restarts", ""),
    ],
)
def test_nothing_is_quoted_for_what_a_result_does_not_have(claim, result):
    assert quote(claim, result) is None
