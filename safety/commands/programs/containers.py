"""Container engines on this machine. Another engine (`-H`, `--host`, `--context`) is refused."""

import re
import time

from safety.commands.grammar import Parsed
from safety.commands.policy import Entry, Group, Policy, Table, reads
from safety.commands.refusal import Refused

_WORD = r"[\w.:/@,-]+"
_FORMAT = "--format=-"
# Of another kind of name, compose would fetch the project.
_PROJECT = r"/[\w.\/-]+\.ya?ml/"
_PS = f"-[aqsln] -f= --all --quiet --size --latest --last= -n= --no-trunc --filter= {_FORMAT}"
_LS = f"-[aq] -f= --filter= --quiet --no-trunc --digests --all {_FORMAT}"


def _check_top(parsed: Parsed) -> None:
    """Its words go to `ps` on the host, where the letter e prints environments."""
    for word in parsed.words[1:]:
        if parsed.options or not re.fullmatch(r"[aAcfgGhHjlmnrStTuUvVwxXLN]+|\d+", word):
            raise Refused("ps could print environments")
    if parsed.has("-u") and parsed.has("-e"):
        raise Refused("ps could print environments")
    if any("environ" in text for text in parsed.values("-o")):
        raise Refused("ps could print environments")


def _check_inspect(parsed: Parsed) -> None:
    # Masked where it stands beside its names, as in the whole of what is told.
    if any(re.search(r"\bEnv\b", text) for text in parsed.values("-f", "--format")):
        raise Refused("it would print an environment")


def _goes_on(parsed: Parsed) -> bool:
    """Events go on until a time that may be far away; only what is past is known to end."""
    return not any(
        re.fullmatch(r"0s?|now|0?[1-9]\d*[smh]", text)
        or (re.fullmatch(r"\d{10}", text) and int(text) <= time.time())
        for text in parsed.values("--until")
    )


def _list(options: str = _LS) -> Policy:
    return reads(options, words=(0, 1), word=_WORD, formats="--format")


def _inspect(options: str = "") -> Policy:
    return reads(
        f"-f=- -s --size --type= --pretty {_FORMAT} {options}",
        words=(1, 20),
        word=_WORD,
        formats="-f --format",
        check=_check_inspect,
    )


_LOGS = reads(
    """-f --follow -n=/\\d+|all/ --tail=/\\d+|all/ --since= --until= -t --timestamps --details
    --no-color --no-log-prefix""",
    words=(0, 20),
    word=_WORD,
    endless="-f --follow",
)
_CONTAINER_LOGS = reads(
    "-f --follow -n=/\\d+|all/ --tail=/\\d+|all/ --since= --until= -t --timestamps --details",
    words=(1, 1),
    word=_WORD,
    endless="-f --follow",
)
_STATS = reads(
    f"-a --all --no-stream --no-trunc {_FORMAT}",
    formats="--format",
    word=_WORD,
    is_endless=lambda parsed: not parsed.has("--no-stream"),
)
_TOP = reads("-e -f -x -[aAjlLuHT] -o=/[\\w,]+/", words=(1, 2), word=r"[\w.-]+", check=_check_top)
_EVENTS = reads(
    f"-f= --filter= --since= --until= {_FORMAT}",
    formats="--format",
    words=(0, 0),
    is_endless=_goes_on,
)
_HISTORY = reads(
    f"-[Hq] --no-trunc --human --quiet {_FORMAT}", words=(1, 1), word=_WORD, formats="--format"
)
_CONTAINER: dict[str, Entry] = {
    **dict.fromkeys(("ls", "list", "ps"), _list(_PS)),
    "inspect": _inspect(),
    "logs": _CONTAINER_LOGS,
    "top": _TOP,
    "port": reads(words=(1, 2), word=_WORD),
    "stats": _STATS,
    "diff": reads(words=(1, 1), word=_WORD),
}
_COMPOSE = Group(
    {
        "ps": reads(
            f"-[aq] --all --services --status= --filter= {_FORMAT}", word=_WORD, formats="--format"
        ),
        "ls": reads(f"-[aq] --all --filter= {_FORMAT}", words=(0, 0), formats="--format"),
        "logs": _LOGS,
        "top": reads(word=_WORD),
        "images": reads(f"-q {_FORMAT}", word=_WORD, formats="--format"),
        "port": reads("--protocol= --index=", words=(2, 2), word=_WORD),
        "events": reads("--json", word=_WORD, is_endless=lambda parsed: True),
        "version": reads("--short -f=", words=(0, 0)),
    },
    f"-f={_PROJECT} --file={_PROJECT} -p= --project-name= --profile=",
)
_PODMAN: dict[str, Entry] = {
    **_CONTAINER,
    "ps": _list(_PS),
    "images": _list(),
    "info": reads(f"-f=- {_FORMAT}", words=(0, 0), formats="-f --format"),
    "version": reads(f"-f=- {_FORMAT}", words=(0, 0), formats="-f --format"),
    "inspect": _inspect(),
    "history": _HISTORY,
    "events": _EVENTS,
    "container": Group(_CONTAINER),
    "image": Group(
        {**dict.fromkeys(("ls", "list"), _list()), "inspect": _inspect(), "history": _HISTORY}
    ),
    "network": Group(
        {**dict.fromkeys(("ls", "list"), _list()), "inspect": _inspect("-v --verbose")}
    ),
    "volume": Group({**dict.fromkeys(("ls", "list"), _list()), "inspect": _inspect()}),
    "system": Group(
        {
            "df": reads(f"-v --verbose {_FORMAT}", words=(0, 0), formats="--format"),
            "info": reads(f"-f=- {_FORMAT}", words=(0, 0), formats="-f --format"),
            "events": _EVENTS,
        }
    ),
}
_DOCKER: dict[str, Entry] = {
    **{name: entry for name, entry in _PODMAN.items() if name not in ("ls", "list")},
    "compose": _COMPOSE,
    "node": Group({"ls": _list(), "ps": _list(), "inspect": _inspect()}),
    "service": Group(
        {"ls": _list(), "ps": _list(), "inspect": _inspect(), "logs": _CONTAINER_LOGS}
    ),
    "stack": Group({"ls": _list(), "ps": _list(), "services": _list()}),
    "context": Group({"ls": _list(), "show": reads(words=(0, 0))}),
    "config": Group({"ls": _list()}),
    "buildx": Group({"ls": reads(words=(0, 0)), "version": reads(words=(0, 0))}),
    "secret": Group({"ls": _list()}),
    "plugin": Group({"ls": _list(), "inspect": _inspect()}),
}
_CTR_LIST = reads("-q --quiet", words=(0, 2), word=_WORD)

CONTAINERS: Table = {
    "docker": Group(_DOCKER, bare=reads("-v --version", needs="-v --version")),
    "podman": Group(
        {
            **_PODMAN,
            "pod": Group(
                {**dict.fromkeys(("ps", "ls", "list"), _list(_PS)), "inspect": _inspect()}
            ),
        },
        bare=reads("-v --version", needs="-v --version"),
    ),
    "nerdctl": Group(_PODMAN, "-n= --namespace=", bare=reads("-v --version", needs="-v --version")),
    "docker-compose": Group(
        _COMPOSE.commands, _COMPOSE.shared, bare=reads("-v --version", needs="-v --version")
    ),
    "ctr": Group(
        {
            **{
                name: Group(dict.fromkeys(("ls", "list"), _CTR_LIST), "-n= --namespace=")
                for name in (
                    "images",
                    "image",
                    "i",
                    "containers",
                    "container",
                    "c",
                    "tasks",
                    "task",
                    "t",
                    "namespaces",
                    "namespace",
                    "ns",
                    "snapshots",
                    "leases",
                )
            },
            "version": reads(words=(0, 0)),
        },
        "-n= --namespace=",
    ),
    "lxc-ls": reads(
        "-[1f] -F= --fancy --active --running --stopped --frozen --fancy-format=", words=(0, 1)
    ),
    "lxc-info": reads("-[ipsSH] -n= --name= --ips --pid --state --stats", words=(0, 1), word=_WORD),
    "lxc": Group(
        {
            "list": reads("-c= -f= --format= --columns= --all-projects", words=(0, 2), word=_WORD),
            "info": reads("--resources", words=(0, 1), word=r"[\w-]+"),
        }
    ),
    "virsh": Group(
        {
            name: reads("--all --inactive --title --details", words=(0, 2), word=_WORD)
            for name in (
                "list",
                "dominfo",
                "domstate",
                "domstats",
                "nodeinfo",
                "net-list",
                "pool-list",
                "vol-list",
                "domblklist",
                "domiflist",
                "domblkinfo",
                "net-info",
                "pool-info",
                "version",
            )
        }
    ),
}
