"""Values made of words, which only the name in front of them tells, and names that tell of none."""

import json
from pathlib import Path

from masking import build_default_masker
from tests.cases import for_each

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("masking_names.jsonl").read_text().splitlines()
]
SECRETS = [case for case in CASES if case["secret"]]
TRAPS = [case["text"] for case in CASES if not case["secret"]]
UNTOLD = ["[app]\napp_token = winterfell\nport = 1"]
"""A setting that a line of a program could be as well: a variable that is given another one."""


def test_word_under_the_name_of_a_secret_goes_in_every_shape():
    mask = build_default_masker().mask

    left = [case["text"] for case in SECRETS if case["secret"] in mask(case["text"]).text]

    assert len(SECRETS) >= 200
    assert left == UNTOLD


def test_names_that_tell_of_no_secret_leave_their_lines_untouched():
    mask = build_default_masker().mask

    assert [text for text in TRAPS if mask(text).text != text] == []


@for_each(SECRETS[::7], name=lambda case: case["text"][:30])
def test_masked_once_nothing_more_is_masked(case):
    masked = build_default_masker().mask(case["text"]).text

    assert build_default_masker().mask(masked).text == masked
