"""The page as a whole, in Markdown."""

import textwrap
from collections.abc import Iterator

from tarsy.reference.keys import Key, Section, read_sections
from tarsy.reference.variables import EXAMPLE, Group, Variable, find_kinds, read_groups

PACKAGES = ("agents", "config", "investigations", "ops", "tarsy")
"""Whose code reads environment variables."""

_WIDTH = 100
_BEGINNING = """\
# Configuration

After reading this page you can say what each key of the YAML files and each environment variable
does, which values it takes and what holds without it.

`make reference` writes this page from the schema in `config/schema/` and from `.env.example`. Do
not edit it: change the docstring of the key or the comment of the variable.

## The YAML files

`CONFIG_DIR` names a directory with `tarsy.yaml` and, if you like, `llm-providers.yaml` and
`skills/`. Without it, `config/default/` is used. What you leave out has a default or is built in
(`config/builtin.yaml`). `manage.py check_config --config-dir DIR` names every mistake with its file
and line, and warns of what has no effect.

- A *duration* is written as `500ms`, `30s`, `40m` or `1h30m`.
- `{{.NAME}}` in a value is replaced by the environment variable `NAME`.
- `null` counts as absent, except where it lifts a limit.
- `<name>` in a heading stands for a name that you choose, `[]` for each entry of a list.
- *Nearest* settings win: `defaults`, then the agent, its chain, its stage and its entry there. Each
  key below says where it may stand.
"""
_VARIABLES = """\
## Environment variables

A variable that is empty or blank counts as not set. A mistake stops the start with one message that
lists everything wrong. Where you start the processes yourself, any secret `NAME` can be given as
`NAME_FILE`, the path of a file that holds it. `.env.example` is the same list as a file to copy.
"""


def write_page() -> str:
    """The whole of `docs/configuration.md`."""
    groups = read_groups(EXAMPLE.read_text(encoding="utf-8"), find_kinds(PACKAGES))
    parts = [
        _BEGINNING,
        *map(_write_section, read_sections()),
        _VARIABLES,
        *map(_write_group, groups),
    ]
    return "\n".join(parts)


def _write_section(section: Section) -> str:
    first, *others = section.places
    also = f"Also at {', '.join(f'`{place}`' for place in others)}." if others else ""
    about = " ".join(filter(None, (section.meaning, also, _tell(section.effect))))
    heading = f"### `{first}`" if first else "### The sections of the files"
    return "\n".join([heading, "", *_paragraph(about), *map(_write_key, section.keys), ""])


def _paragraph(text: str) -> Iterator[str]:
    if text:
        yield _wrap(text)
        yield ""


def _write_key(key: Key) -> str:
    shown = f"default {key.default}" if key.default not in ("", "required") else key.default
    facts = "; ".join(filter(None, (key.kind, shown)))
    text = " ".join(filter(None, (key.meaning, _tell(key.effect))))
    return _wrap(f"- `{key.name}` ({facts}): {text}", "  ")


def _tell(effect: str) -> str:
    return f"**{effect}.**" if effect else ""


def _write_group(group: Group) -> str:
    lines = [f"### {group.title}", "", *_paragraph(group.note)]
    return "\n".join([*lines, *map(_write_variable, group.variables), ""])


def _write_variable(variable: Variable) -> str:
    default = f"default `{variable.default}`" if variable.default else "no default"
    return _wrap(f"- `{variable.name}` ({variable.kind}; {default}): {variable.meaning}", "  ")


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
