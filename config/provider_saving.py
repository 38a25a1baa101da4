"""Keeps what a check of a model has found in `llm-providers.yaml`, or says what to paste there."""

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from config.builtins import read_builtin_text, read_builtins
from config.check import PROVIDERS_FILE, TARSY_FILE, check
from config.model import Config
from config.provider_editing import NotEditable, Settings, edit_provider
from config.schema.providers import LLMProviderConfig
from config.templates import expand
from config.tree import Node, Scalar
from tarsy.errors import ConfigError


class NotSaved(Exception):
    """Nothing was written. The reason is a clause; `block` is what to paste by hand."""

    def __init__(self, reason: str, block: str) -> None:
        super().__init__(reason)
        self.block = block


@dataclass(frozen=True)
class Saved:
    path: Path
    backup: Path


def save_settings(
    directory: Path, environ: Mapping[str, str], provider: str, settings: Settings
) -> Saved:
    """Put settings into the provider's block and keep the file as it was beside it.

    The new file is checked before it takes the place of the old one, all at once. Raises NotSaved.
    """
    path = (directory / PROVIDERS_FILE).resolve()
    built_in = f"{provider} has no block in {PROVIDERS_FILE}: it is built in"
    if not path.is_file():
        raise NotSaved(built_in, write_block(provider, settings, environ))
    report = check(directory, environ)
    config = report.config
    block = write_block(provider, settings, None)
    if config is None and not _read_builtin(provider, environ):
        wrong = [each for each in report.mistakes if each not in report.needs]
        raise NotSaved(f"the configuration is wrong: {ConfigError(wrong)}", block)
    if config is None or provider not in config.own_providers:
        raise NotSaved(built_in, write_block(provider, settings, environ))
    try:
        before = path.read_bytes()
        edited = _edit(before, environ, provider, settings, config)
        _confirm(directory, environ, edited, _expect(config, provider, settings))
        return _replace(path, before, edited)
    except (NotEditable, ConfigError) as error:
        raise NotSaved(str(error), block) from error
    except OSError as error:
        raise NotSaved(f"{path} cannot be written: {error.strerror or error}", block) from error


def write_block(provider: str, settings: Settings, built_in_with: Mapping[str, str] | None) -> str:
    """The YAML for `llm-providers.yaml`. An entry of a built-in name replaces all of it, so the
    block of one has what is built in as well, with these variables."""
    known = {} if built_in_with is None else _read_builtin(provider, built_in_with)
    section = {"llm_providers": {provider: {**known, **_plain(settings)}}}
    return yaml.safe_dump(section, sort_keys=False, allow_unicode=True)


def _edit(
    before: bytes,
    environ: Mapping[str, str],
    provider: str,
    settings: Settings,
    config: Config,
) -> bytes:
    text = before.decode("utf-8-sig")
    mark = before[:3] if before.startswith(b"\xef\xbb\xbf") else b""
    is_windows = "\r\n" in text
    plain = text.replace("\r\n", "\n")
    if "\r" in plain or (is_windows and text.count("\r\n") != text.count("\n")):
        raise NotEditable("its lines end in different ways")
    known = {"quirks": config.llm_providers[provider].quirks.overrides()}
    edited = edit_provider(plain, environ, provider, settings, known, file=PROVIDERS_FILE)
    return mark + (edited.replace("\n", "\r\n") if is_windows else edited).encode()


def _confirm(
    directory: Path,
    environ: Mapping[str, str],
    edited: bytes,
    expected: Mapping[str, LLMProviderConfig],
) -> None:
    """Load the whole configuration with the new text: it says what it said, and the settings."""
    with tempfile.TemporaryDirectory(prefix="tarsy-config-") as made:
        trial = Path(made)
        shutil.copyfile(directory / TARSY_FILE, trial / TARSY_FILE)
        if (directory / "skills").is_dir():
            shutil.copytree(directory / "skills", trial / "skills")
        (trial / PROVIDERS_FILE).write_bytes(edited)
        report = check(trial, environ)
    if report.config is None:
        raise ConfigError(report.mistakes)
    if dict(report.config.llm_providers) != expected:
        raise NotEditable("its block shares lines with another provider")


def _expect(config: Config, provider: str, settings: Settings) -> Mapping[str, LLMProviderConfig]:
    """What the configuration would have to say with these settings."""
    entry = config.llm_providers[provider]
    update: dict[str, object] = {}
    for name, value in settings.items():
        is_block = isinstance(value, Mapping)
        update[name] = getattr(entry, name).model_copy(update=value) if is_block else value
    return {**config.llm_providers, provider: entry.model_copy(update=update)}


def _replace(path: Path, before: bytes, edited: bytes) -> Saved:
    owner = path.stat()
    # Whoever may do anything, such as root, keeps to what the file says as well.
    if not (owner.st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only")
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with draft.open("xb") as file:
            file.write(edited)
            file.flush()
            os.fsync(file.fileno())
        shutil.copystat(path, draft)
        if os.geteuid() == 0:
            os.chown(draft, owner.st_uid, owner.st_gid)
        backup = _keep_old(path)
        if path.read_bytes() != before:
            backup.unlink()
            raise NotEditable("it was changed meanwhile")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return Saved(path, backup)


def _keep_old(path: Path) -> Path:
    """A copy beside the file, in the place of no other."""
    moment = _tell_moment()
    names = (f"{path.name}.{moment}{mark}.bak" for mark in ("", *(f".{n}" for n in range(2, 100))))
    backup = next(each for name in names if not (each := path.with_name(name)).exists())
    shutil.copy2(path, backup)
    return backup


def _tell_moment() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def _read_builtin(provider: str, environ: Mapping[str, str]) -> dict[str, object]:
    written = read_builtin_text().mapping["llm_providers"].mapping.get(provider)
    filled = read_builtins(environ).mapping["llm_providers"].mapping.get(provider)
    if written is None or filled is None:
        return {}
    return {
        key: _choose_value(node, filled.mapping[key], environ)
        for key, node in written.mapping.items()
    }


def _choose_value(written: Node, filled: Node, environ: Mapping[str, str]) -> object:
    """As it is written, unless a variable there has a usual value only for what is built in."""
    if isinstance(written.value, Mapping):
        return {k: _choose_value(v, filled.mapping[k], environ) for k, v in written.mapping.items()}
    if not isinstance(written.value, Scalar) or not isinstance(filled.value, Scalar):
        return [
            _choose_value(*pair, environ) for pair in zip(written.items, filled.items, strict=True)
        ]
    is_same = expand(written.text, environ).text == filled.text
    return written.value.value if is_same else filled.value.value


def _plain(settings: Settings) -> dict[str, object]:
    return {n: dict(v) if isinstance(v, Mapping) else v for n, v in settings.items()}
