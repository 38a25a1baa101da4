"""Settings put into a provider's block of `llm-providers.yaml`, of which all else stays."""

from pathlib import Path

import pytest
import yaml

from config import load_config, provider_saving
from config.provider_saving import NotSaved, save_settings
from tests.cases import check_each

ENVIRON = {"URL": "http://lab.example:8000/v1", "MODEL": "m-1", "OPENAI_BASE_URL": "http://own/v1"}
QUIRKS = {"quirks": {"stream_options": False, "short_call_ids": True}}
BOTH = {"tool_calling": False, **QUIRKS}

BLOCKS = [
    # A block with comments, blank lines and quotes of its own.
    """# Ours.

llm_providers:
  other: {type: openai, model: m-2, base_url: http://other/v1}

  lab:                       # the machine in the cellar
    type: 'openai'
    model: "{{.MODEL}}"      # as it is called there
    base_url: {{.URL}}
    llm_call_timeout: 90s

  # The last one.
  third:
    type: xai
    model: grok
""",
    "llm_providers:\n  lab: {type: openai, model: m-1, base_url: http://lab/v1}   # short\n",
    "llm_providers: {lab: {type: openai, model: m-1, base_url: {{.URL}} }, other: {type: xai,\n"
    "  model: grok}}\n",
    "llm_providers:\n  lab:\n    quirks: {keeps_tools: true}\n    type: openai\n    model: m-1\n",
    "llm_providers:\n  lab:\n    type: openai\n    model: m-1\n    quirks:\n"
    "      # by hand\n      keeps_tools: true   # always\n",
    "llm_providers:\n  lab:\n    type: openai\n    model: m-1\n    quirks: {}\n",
    "llm_providers:\n  lab:\n    type: openai\n    model: m-1\n    quirks:\n"
    "    tool_calling: true\n",
    "llm_providers:\n  lab:\n    type: openai\n    model: m-1",
    "llm_providers:\r\n  lab:\r\n    type: openai\r\n    model: m-1\r\n",
    "\ufeffllm_providers:\n    lab:\n        native_tools:\n            google_search: false\n"
    "        type: openai\n        model: >-\n            m-1\n",
    "llm_providers:\n  lab:\n    native_tools: {google_search: false}\n    <<: &base\n"
    "      type: openai\n      model: m-1\n",
    "x-base: &base\n  type: openai\n  model: m-1\n  quirks: {keeps_tools: true}\n"
    "llm_providers:\n  lab:\n    <<: *base\n    context_window: 9000\n",
    # An empty value where the next entry begins.
    "llm_providers:\n  lab:\n    type: openai\n    model: m-1\n    quirks:\n",
    "llm_providers:\n  lab:\n    type: openai\n    model: m-1\n    quirks:   # none yet\n"
    "  other: {type: xai, model: grok}\n",
    "llm_providers:\n  lab: {type: openai, model: m-1, quirks: }\n",
]


def write(folder: Path, providers: str) -> Path:
    (folder / "tarsy.yaml").write_text("defaults: {llm_provider: lab}\n", encoding="utf-8")
    path = folder / "llm-providers.yaml"
    path.write_bytes(providers.encode())
    return path


@pytest.mark.parametrize("settings", [QUIRKS, BOTH], ids=["quirks", "both"])
def test_the_settings_are_there_and_no_line_is_lost_or_changed(tmp_path, settings):
    def check(providers: str) -> None:
        path = write(tmp_path, providers)
        before = dict(load_config(tmp_path, ENVIRON).llm_providers)
        old = before["lab"]

        saved = save_settings(tmp_path, ENVIRON, "lab", settings)

        after = dict(load_config(tmp_path, ENVIRON).llm_providers)
        text = path.read_bytes().decode()
        quirks = {**old.quirks.overrides(), **QUIRKS["quirks"]}
        assert after["lab"].quirks.overrides() == quirks, text
        assert after["lab"].tool_calling is settings.get("tool_calling", True), text
        assert after | {"lab": old} == before
        assert [line for line in comments(providers) if line not in text] == []
        assert text.count("\r") == (text.count("\n") if "\r" in providers else 0)
        assert saved.backup.read_bytes().decode() == providers
        saved.backup.unlink()

    check_each(check, BLOCKS, str)


def comments(text: str) -> list[str]:
    return [line[line.index("#") :] for line in text.splitlines() if "#" in line]


def test_a_block_is_edited_in_its_own_layout(tmp_path):
    path = write(tmp_path, BLOCKS[0])

    save_settings(tmp_path, ENVIRON, "lab", BOTH)

    assert path.read_text() == BLOCKS[0].replace(
        "    llm_call_timeout: 90s\n",
        "    llm_call_timeout: 90s\n    tool_calling: false\n    quirks:\n"
        "      stream_options: false\n      short_call_ids: true\n",
    )


NOT_EDITABLE = [
    ("llm_providers:\n  lab: &lab {type: openai, model: m-1}\n  other: *lab\n",
     "its block shares lines with another provider"),
    ("llm_providers:\n  other: &other\n    type: openai\n    model: m-1\n  lab: *other\n",
     "its block shares lines with another provider"),
    ("llm_providers:\r\n  lab:\n    type: openai\r\n    model: m-1\n",
     "its lines end in different ways"),
    ("llm_providers:\n  lab:\n    type: openai\n    model: m-1\n"
     "    quirks: &q {keeps_tools: true}\n"
     "  other: {type: openai, model: m-2, quirks: *q}\n",
     "its block shares lines with another provider"),
    ("llm_providers:\n  lab:\n    type: openai\n    model: m-1\n    quirks: &q\n"
     "  other: {type: openai, model: m-2, quirks: *q}\n",
     "its block cannot be edited as it is written"),
    ("x-base: &base {type: openai, model: m-1}\nllm_providers:\n  lab: {<<: *base}\n",
     "its block cannot be edited as it is written"),
]  # fmt: skip


@pytest.mark.parametrize(("providers", "reason"), NOT_EDITABLE)
def test_what_cannot_be_edited_safely_is_left_alone_with_a_block_to_paste(
    tmp_path, providers, reason
):
    path = write(tmp_path, providers)

    with pytest.raises(NotSaved, match=reason) as refused:
        save_settings(tmp_path, ENVIRON, "lab", QUIRKS)

    assert path.read_bytes().decode() == providers
    assert yaml.safe_load(refused.value.block) == {"llm_providers": {"lab": QUIRKS}}
    assert [each.name for each in tmp_path.iterdir() if "tarsy" not in each.name] == [path.name]


def test_a_built_in_provider_is_not_written_but_given_as_a_whole_block(tmp_path):
    path = write(tmp_path, "llm_providers: {lab: {type: openai, model: m-1}}\n")
    before = load_config(tmp_path, ENVIRON).llm_providers["openai-compatible"]

    with pytest.raises(NotSaved, match="it is built in") as refused:
        save_settings(tmp_path, ENVIRON, "openai-compatible", QUIRKS)
    path.write_text(refused.value.block)
    (tmp_path / "tarsy.yaml").write_text("defaults: {llm_provider: openai-compatible}\n")

    after = load_config(tmp_path, ENVIRON).llm_providers["openai-compatible"]
    assert after.quirks.overrides() == QUIRKS["quirks"]
    assert after.model_copy(update={"quirks": before.quirks}) == before


def test_a_configuration_that_has_become_wrong_is_told_as_such(tmp_path):
    path = write(tmp_path, BLOCKS[1])
    (tmp_path / "tarsy.yaml").write_text("defaults: {llm_provider: gone}\n")

    with pytest.raises(NotSaved, match=r"the configuration is wrong: .*'gone'") as refused:
        save_settings(tmp_path, ENVIRON, "lab", QUIRKS)

    assert path.read_bytes().decode() == BLOCKS[1]
    assert yaml.safe_load(refused.value.block) == {"llm_providers": {"lab": QUIRKS}}


def test_a_read_only_file_and_a_missing_one_are_not_written(tmp_path):
    path = write(tmp_path, BLOCKS[1])
    path.chmod(0o444)

    with pytest.raises(NotSaved, match="it is read-only"):
        save_settings(tmp_path, ENVIRON, "lab", QUIRKS)

    assert path.read_text() == BLOCKS[1]
    path.unlink()
    with pytest.raises(NotSaved, match="it is built in"):
        save_settings(tmp_path, ENVIRON, "rehearsal", QUIRKS)
    assert [each.name for each in tmp_path.iterdir()] == ["tarsy.yaml"]


def test_the_file_behind_a_link_is_written_and_the_link_stays(tmp_path):
    path = write(tmp_path, BLOCKS[1])
    real = tmp_path / "kept" / "providers.yaml"
    real.parent.mkdir()
    path.rename(real)
    path.symlink_to(real)

    saved = save_settings(tmp_path, ENVIRON, "lab", QUIRKS)

    assert path.is_symlink()
    assert "stream_options: false" in real.read_text()
    assert saved.backup.parent == real.parent


def test_a_file_that_changes_while_it_is_edited_is_left_as_it_is_then(tmp_path, monkeypatch):
    path = write(tmp_path, BLOCKS[1])
    newer = BLOCKS[1] + "  third: {type: xai, model: grok}\n"

    def save_by_hand(*_: object) -> None:
        path.write_text(newer)

    monkeypatch.setattr(provider_saving, "_confirm", save_by_hand)
    with pytest.raises(NotSaved, match="it was changed meanwhile"):
        save_settings(tmp_path, ENVIRON, "lab", QUIRKS)

    assert path.read_text() == newer
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name, "tarsy.yaml"]


def test_a_file_that_has_become_wrong_is_said_to_be_wrong(tmp_path):
    write(tmp_path, BLOCKS[1] + "\t- ]\n")

    with pytest.raises(NotSaved, match=r"the configuration is wrong: llm-providers\.yaml:3"):
        save_settings(tmp_path, ENVIRON, "lab", QUIRKS)


def test_each_backup_is_kept_also_of_two_in_one_second(tmp_path, monkeypatch):
    path = write(tmp_path, BLOCKS[1])
    monkeypatch.setattr(provider_saving, "_tell_moment", lambda: "20261130T050000Z")

    first = save_settings(tmp_path, ENVIRON, "lab", QUIRKS)
    between = path.read_bytes()
    second = save_settings(tmp_path, ENVIRON, "lab", BOTH)

    assert first.backup.read_bytes().decode() == BLOCKS[1]
    assert second.backup.read_bytes() == between
