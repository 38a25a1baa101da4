"""What people and failures say is masked, and a flood of secrets in it stops nothing."""

import uuid

import pytest

from investigations.maskers import product_masker
from investigations.services.chat import ask_question
from masking import WITHHELD
from tarsy.errors import InvalidInput

FLOOD = "\n".join(f"db_password_{n} = hunter{n}EXAMPLE" for n in range(30_000))


def test_a_question_too_full_of_secrets_is_refused_with_the_field():
    with pytest.raises(InvalidInput) as refused:
        ask_question(uuid.uuid4(), FLOOD, author="ada")

    assert refused.value.field == "content"


def test_a_failure_too_full_of_secrets_is_withheld_instead_of_kept_or_raised():
    assert product_masker()(FLOOD) == WITHHELD
