"""A small valid configuration, and a way to change one thing about it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from config.check import CheckReport, check

TARSY = """\
mcp_servers:
  probe:
    transport:
      type: stdio
      command: probe-mcp
agents:
  NetAgent:
    description: Looks at the network
    mcp_servers: [probe]
agent_chains:
  net:
    alert_types: [net]
    stages:
      - name: look
        agents:
          - name: NetAgent
defaults:
  llm_provider: acme
"""
PROVIDERS = """\
llm_providers:
  acme:
    type: google
    model: gemini-2.5-pro
    api_key_env: ACME_KEY
"""
ENVIRON = {"ACME_KEY": "invented-key-0001", "HOME": "/home/someone"}

Check = Callable[..., CheckReport]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """Put files into a directory and give the directory."""

    def _write(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return _write


@pytest.fixture
def check_files(write) -> Check:
    """Check `tarsy.yaml` and its neighbours; what is not given is the small valid one."""

    def _check(
        tarsy: str | bytes = TARSY,
        providers: str | bytes = PROVIDERS,
        environ: Mapping[str, str] = ENVIRON,
        packs: Mapping[str, str] | None = None,
        **skills: str,
    ) -> CheckReport:
        files: dict[str, str | bytes] = {"tarsy.yaml": tarsy, "llm-providers.yaml": providers}
        files |= {f"skills/{name}/SKILL.md": text for name, text in skills.items()}
        files |= {f"rules/{name}.yaml": text for name, text in (packs or {}).items()}
        return check(write(files), environ)

    return _check


def changed(old: str, new: str, text: str = TARSY) -> str:
    """The small configuration with one piece replaced."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def places(report: CheckReport) -> set[tuple[str, int]]:
    return {(mistake.file, mistake.line) for mistake in report.mistakes}


def printed(report: CheckReport) -> str:
    return "\n".join(str(found) for found in (*report.mistakes, *report.warnings, *report.notes))
