"""How much a model can read: the operator's word, the bundled list, a guess."""

import subprocess
import sys

import pytest

from agents.llm.settings import ProviderSettings
from agents.llm.windows import USUAL_WINDOW, find_input_limit, find_window


@pytest.mark.parametrize(
    ("kind", "model", "least", "most"),
    [
        ("google", "gemini-2.5-pro", 1_000_000, 2_100_000),
        ("vertexai", "gemini-2.5-pro", 1_000_000, 2_100_000),
        ("anthropic", "claude-sonnet-4-5", 200_000, 1_000_000),
        ("openai", "gpt-4o", 128_000, 128_000),
        ("openai", "openai/gpt-4o", 128_000, 128_000),
        ("openai", "qwen3-of-our-own", USUAL_WINDOW, USUAL_WINDOW),
    ],
)
def test_the_bundled_list_is_read_and_an_unknown_model_is_guessed(kind, model, least, most):
    assert least <= find_window(kind, model) <= most


def test_one_part_in_five_is_left_for_the_answer():
    settings = ProviderSettings("p", "openai", "gpt-4o", base_url="http://127.0.0.1:1/v1")

    assert find_input_limit(settings) == 102_400


def test_the_operators_word_counts_before_the_list():
    settings = ProviderSettings("p", "openai", "gpt-4o", context_window=8_000)

    assert find_input_limit(settings) == 6_400


def test_a_model_that_is_given_much_room_to_answer_leaves_less_for_the_question():
    settings = ProviderSettings("p", "anthropic", "claude-sonnet-4-5", context_window=200_000)

    assert find_input_limit(settings) == 136_000


def test_the_list_is_read_without_the_library_it_belongs_to():
    code = (
        "import sys; from agents.llm.windows import load_windows; "
        "assert load_windows(); print('litellm' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "False"
