"""`manage.py mcp_tools`: look at tool servers, draft their classes, try a tool."""

import asyncio
import json
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser
from typing_extensions import override

from agents.types import ToolCall
from config import environment, get_config, use_config
from config.access import config_dir, load_config
from config.model import Config
from config.schema.servers import MCPServerConfig
from config.unclassed import explain_classing
from config.usage import servers_in_use
from config.words import count, suggest
from investigations.engine.own_servers import own_servers
from investigations.engine.records import people_records
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.operator_access import Inspection, call_tool, inspect_servers
from mcp_bridge.server_status import explain_error
from mcp_bridge.suggestions import write_yaml
from safety.tool_rules import ToolClass
from tarsy.errors import ConfigError

UNCLASSED = "unclassed"
EXIT_OK, EXIT_FAILED, EXIT_BAD_INPUT = 0, 1, 2


class Command(BaseCommand):
    help = (
        "Start tool servers and list their tools with the class that the configuration gives them. "
        "Needs no database. Exits 0 when all is well, 1 when a server is not available or a call "
        "failed or was refused, 2 on bad input."
    )
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "server", nargs="?", default="", help="default: every server that is in use"
        )
        parser.add_argument(
            "--config-dir",
            type=Path,
            help="the configuration to read; without it, the one that the product would use",
        )
        parser.add_argument(
            "--suggest",
            action="store_true",
            help="print the mcp_servers.<id>.tools block to check and paste into tarsy.yaml",
        )
        parser.add_argument(
            "--call",
            nargs=2,
            metavar=("TOOL", "JSON"),
            help="call one tool of SERVER as an agent would; - reads the arguments from stdin",
        )
        parser.add_argument(
            "--allow-write", action="store_true", help="let --call send what is classed as a write"
        )

    @override
    def handle(self, *args: object, **options: Any) -> None:
        directory: Path = options["config_dir"] or config_dir()
        try:
            is_given = options["config_dir"] is not None
            config = load_config(directory, environment()) if is_given else get_config()
        except ConfigError as error:
            self._refuse(f"The configuration is wrong:\n{error}")
        with use_config(config):
            self._handle(config, directory, options)

    def _handle(self, config: Config, directory: Path, options: Mapping[str, Any]) -> NoReturn:
        servers = self._choose(config, directory, options["server"])
        if options["call"]:
            if not options["server"]:
                self._refuse("--call needs the SERVER that has the tool")
            (name,) = servers
            tool, arguments = options["call"]
            allowed = options["allow_write"]
            sys.exit(self._call(name, servers[name], tool, arguments, allow_writes=allowed))
        sys.exit(self._inspect(servers, as_yaml=options["suggest"]))

    def _choose(self, config: Config, directory: Path, name: str) -> Mapping[str, MCPServerConfig]:
        known = config.mcp_servers
        if not name:
            used = servers_in_use(config)
            if unused := sorted(known.keys() - set(used)):
                shown = ", ".join(unused)
                self.stderr.write(f"Not in use, so not looked at unless named: {shown}")
            return {each: known[each] for each in used}
        if name not in known:
            place = f"in {directory} (--config-dir or CONFIG_DIR chooses another directory)"
            self._refuse(f"there is no MCP server {name!r} {place}{suggest(name, known)}")
        return {name: known[name]}

    def _inspect(self, servers: Mapping[str, MCPServerConfig], *, as_yaml: bool) -> int:
        found = asyncio.run(inspect_servers(servers, in_process=own_servers(people_records())))
        for inspection in found:
            if as_yaml and not inspection.status.error:
                block = write_yaml(inspection.status.server_id, inspection.suggestions)
                self.stdout.write(block, ending="")
                for told in inspection.status.left_out:
                    self.stderr.write(f"{inspection.status.server_id}: {told}")
            elif as_yaml:
                self.stderr.write(_headline(inspection))
            else:
                self._print(inspection)
        return EXIT_FAILED if any(each.status.error for each in found) else EXIT_OK

    def _print(self, inspection: Inspection) -> None:
        self.stdout.write(_headline(inspection))
        for tool in inspection.status.tools or ():
            about = textwrap.shorten(tool.description, 100, placeholder="…")
            kind = _classes(tool.classes) if tool.is_classed else UNCLASSED
            self.stdout.write(f"  {kind:<9} {tool.name:<32} {about}".rstrip())
        for told in inspection.status.left_out:
            self.stdout.write(f"  {told}")
        if unclassed := sum(not tool.is_classed for tool in inspection.status.tools or ()):
            self.stdout.write(
                f"{count(unclassed, 'tool')} that nobody has classed: not offered to agents that "
                f"may only read. {explain_classing([inspection.status.server_id])}"
            )

    def _call(
        self, name: str, config: MCPServerConfig, tool: str, arguments: str, *, allow_writes: bool
    ) -> int:
        text = sys.stdin.read() if arguments == "-" else arguments
        try:
            is_object = isinstance(json.loads(text), dict)
        except ValueError as error:
            self._refuse(f"the arguments are not JSON: {error}")
        if not is_object:
            self._refuse("the arguments must be a JSON object")
        short = tool.removeprefix(f"{name}.")
        call = ToolCall(id="by-hand", name=f"{name}.{short}", arguments=text)
        try:
            result = asyncio.run(
                call_tool(
                    name,
                    config,
                    call,
                    in_process=own_servers(people_records()),
                    allow_writes=allow_writes,
                    report_progress=self.stderr.write,
                )
            )
        except ServerUnavailable as error:
            self.stderr.write(f"{name} is not available: {explain_error(error, config)}")
            return EXIT_FAILED
        (self.stderr if result.is_error else self.stdout).write(result.content)
        return EXIT_FAILED if result.is_error else EXIT_OK

    def _refuse(self, reason: str) -> NoReturn:
        self.stderr.write(reason)
        sys.exit(EXIT_BAD_INPUT)


def _headline(inspection: Inspection) -> str:
    seen = inspection.status
    if seen.error:
        return f"{seen.server_id}: not available: {seen.error}"
    count = len(seen.tools or ())
    return (
        f"{seen.server_id}: available, {count} {'tool' if count == 1 else 'tools'}, "
        f"MCP {seen.protocol_version}, {seen.latency_ms} ms"
    )


def _classes(classes: Mapping[str, ToolClass]) -> str:
    """`read`, or `write/read` where it depends on an argument."""
    return "/".join(dict.fromkeys(classes.values()))
