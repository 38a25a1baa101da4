"""Kinds of secrets in the shapes they are met in, and texts that only look like some."""

import json
from pathlib import Path

from masking import build_default_masker
from tests.cases import for_each

HERE = Path(__file__).parent
MASKER = build_default_masker()


def read(name: str) -> list[object]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


KINDS = read("masking_kinds.jsonl")
TRAPS = read("masking_traps.jsonl")


@for_each(KINDS, name=lambda case: case["kind"])
def test_secret_goes_and_what_is_around_it_stays(case):
    masked = MASKER.mask(case["text"]).text

    assert [secret for secret in case["secrets"] if secret in masked] == []
    assert [text for text in case["kept"] if text not in masked] == []
    assert MASKER.mask(masked).text == masked


@for_each(KINDS, name=lambda case: case["kind"])
def test_secret_goes_from_a_json_string_too(case):
    text = json.dumps({"took_ms": 12, "output": case["text"]})

    masked = json.loads(MASKER.mask(text).text)

    assert masked["took_ms"] == 12
    assert [secret for secret in case["secrets"] if secret in masked["output"]] == []


@for_each(TRAPS)
def test_text_that_only_looks_like_secrets_is_untouched(text):
    log = f"2026-01-05T10:00:00Z INFO app[12]: {text}\n2026-01-05T10:00:01Z INFO next"

    assert MASKER.mask(text).text == text
    assert MASKER.mask(json.dumps({"msg": text})).text == json.dumps({"msg": text})
    assert MASKER.mask(log).text == log
