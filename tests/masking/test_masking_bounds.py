"""What masking may cost, and what becomes of a text that would cost more."""

import base64
import random
import string
import time
from contextlib import suppress

import pytest
import re2

from masking import TooMuchToMask, build_default_masker, masker
from masking.sieve import Sieve, options
from masking.structure_hints import STRUCTURE_HINTS
from masking.tokens import TOKEN_RULES

PICK = random.Random(7)
UNSEEN = {
    "escaped quotes": 'C:\\Users\\a\\n\\"x\\" ',
    "quotes and backslashes": '\\"',
    "random characters": "".join(PICK.choices(string.printable[:95], k=20_000)),
    "random letters": "".join(PICK.choices(string.ascii_letters + string.digits, k=20_000)),
}


def _seconds(text: str) -> float:
    made = build_default_masker()
    began = time.process_time()
    with suppress(TooMuchToMask):
        made.mask(text)
    return time.process_time() - began


@pytest.mark.parametrize("kind", UNSEEN)
def test_twice_the_text_costs_about_twice_as_much(kind):
    piece = UNSEEN[kind]
    one = (piece * (30_000 // len(piece) + 1))[:30_000]
    _seconds(one)

    small, large = _seconds(one), _seconds(one * 4)

    assert large < 12 * max(small, 0.02)


def test_lines_cost_the_same_however_far_the_next_encoded_text_is():
    line = "password = read_password(place, otherwise=place)  # what stands at this place\n"
    encoded = base64.b64encode(b"nothing that anybody would hide, only words").decode()
    _seconds(line * 500 + encoded)

    small, large = _seconds(line * 500 + encoded), _seconds(line * 4000 + encoded)

    assert large < 16 * max(small, 0.02)


def test_encoded_text_is_found_where_it_begins_at_the_end_of_a_suspicious_line():
    said = base64.b64encode(b"DB_PASSWORD=Hunter2-Secret-99x " * 4).decode()

    masked = build_default_masker().mask(f"password list:\nx {said[:60]}\n{said[60:]}\n").text

    assert said[:60] not in masked
    assert said[60:] not in masked


def test_sieve_lets_through_every_pattern_that_occurs():
    patterns = [*(rule.sweep_pattern for rule in TOKEN_RULES), *STRUCTURE_HINTS.values()]
    samples = [rule.sweep_pattern for rule in TOKEN_RULES]
    sieve = Sieve(patterns)
    compiled = [re2.compile(f"(?m){pattern}".encode(), options()) for pattern in patterns]
    texts = [_near(sample, PICK) for sample in samples for _ in range(5)]
    texts += ["password: x1\n", "kind: Secret\n", "-----BEGIN PRIVATE KEY-----\n", "\u00ff=", "a"]
    for text in texts:
        data = text.encode("latin-1", "replace")
        occurs = {index for index, each in enumerate(compiled) if each.search(data)}
        assert occurs <= set(sieve.match(data)), text
        assert occurs <= set(sieve._match_in_groups(data)), text


def _near(pattern: str, pick: random.Random) -> str:
    """A text with the words of a pattern in it, so that it often matches."""
    words = "".join(c if c.isalnum() or c in "-_:=@/ $.*" else " " for c in pattern).split(" ")
    return (
        pick.choice(["", " ", "\n"]).join(w for w in words if pick.random() < 0.7)[:300]
        + "A1b2C3d4" * 5
    )


def test_alert_that_costs_too_much_is_still_masked_line_by_line(monkeypatch):
    monkeypatch.setattr(masker, "ALERT_PART", 100)
    made = build_default_masker()
    whole = made.mask
    monkeypatch.setattr(
        made,
        "mask",
        lambda text, **given: (
            whole(text, **{**given, "seconds": 9.0})
            if len(text) <= 100
            else (_ for _ in ()).throw(TooMuchToMask("it takes too long"))
        ),
    )
    text = "pod api-1 is down\n" * 20 + "DB_PASSWORD=Hunter2-Secret-99x\nlast line"

    masked = made.mask_alert(text).text

    assert "Hunter2" not in masked
    assert masked.startswith("pod api-1 is down\n" * 20 + "DB_PASSWORD=[MASKED:password#1]")
    assert masked.endswith("last line")


def test_no_time_at_all_is_said_and_nothing_is_shown_unmasked(monkeypatch):
    monkeypatch.setattr(masker, "ALERT_SECONDS", -1.0)

    masked = build_default_masker().mask_alert("DB_PASSWORD=Hunter2-Secret-99x\n" * 10).text

    assert masked == masker.WITHHELD


def test_text_that_takes_too_long_raises():
    with pytest.raises(TooMuchToMask, match="too long"):
        build_default_masker().mask("password=abc\n" * 10, seconds=-1.0)
