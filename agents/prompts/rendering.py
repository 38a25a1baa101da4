"""Fills template files. What fills them is data and is never itself read as a template.

A folder of `templates` is for one question to a model. `every_agent`, `case` (what is
investigated) and `tools` are parts of several; `nudges` are what is said on the way.
"""

from functools import cache
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from agents.fencing import fence

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **values: object) -> str:
    """The text of a template file, such as `synthesis/task`; a missing value is an error."""
    return _load_environment().get_template(f"{template}.md.j2").render(**values).strip()


def join_sections(*sections: str) -> str:
    """Sections with an empty line between; empty ones are left out."""
    return "\n\n".join(section.strip() for section in sections if section.strip())


@cache
def _load_environment() -> SandboxedEnvironment:
    environment = SandboxedEnvironment(
        loader=FileSystemLoader(TEMPLATES),
        # These are prompts, not HTML.
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["fence"] = fence
    return environment
