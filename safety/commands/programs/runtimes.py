"""Runtimes and servers, asked for their version or for figures of a running process."""

import re

from safety.commands.durations import seconds_of
from safety.commands.grammar import Parsed
from safety.commands.policy import Group, Policy, Table, reads, with_names
from safety.commands.refusal import Refused

_PID = r"\d+"


def _check_alone(parsed: Parsed) -> None:
    if len(parsed.options) != 1:
        raise Refused("with more than the question for its version it is not known to be a read")


def _check_jcmd(parsed: Parsed) -> None:
    if not parsed.words:
        return
    allowed = r"VM\.(?:version|flags|uptime|command_line|info)|GC\.heap_info|Thread\.print|help"
    if len(parsed.words) != 2 or not re.fullmatch(allowed, parsed.words[1]):
        raise Refused("jcmd with this command is not known to be a read")


def _jstat_is_endless(parsed: Parsed) -> bool:
    return len(parsed.words) == 2


def _jstat_lasts(parsed: Parsed) -> float:
    """Behind the process stand an interval, in thousandths where no unit is named, and a count."""
    if len(parsed.words) < 3:
        return 0.0
    interval, count = parsed.words[1:3]
    each = seconds_of(interval) if interval.endswith("s") else seconds_of(interval) / 1000
    return each * seconds_of(count)


def _version(options: str) -> Policy:
    return reads(
        options,
        clusters=False,
        dashes=False,
        words=(0, 0),
        needs=options,
        check=_check_alone,
    )


RUNTIMES: Table = {
    **with_names("python python2 python3", _version("--version -V")),
    **with_names(
        "bash dash zsh make gcc g++ cc clang cargo rustc ansible ansible-playbook perl",
        _version("--version"),
    ),
    # The letters that only print a version; other servers are started by the same letters.
    **with_names("node nodejs ruby php httpd apache2", _version("--version -v -V")),
    **with_names("java javac", _version("--version -version")),
    **with_names("redis-server dockerd containerd runc", _version("--version -v")),
    **with_names("postgres mysqld", _version("--version -V")),
    **with_names(
        "mongod kubelet etcd prometheus node_exporter grafana-server composer",
        _version("--version"),
    ),
    "go": Group(
        {
            "version": reads(words=(0, 0)),
            "env": reads("-json", clusters=False, words=(0, 5), word=r"[A-Z0-9_]+"),
        }
    ),
    "jps": reads("-[qmlvV]", words=(0, 0)),
    "jstat": reads(
        "-gc -gcutil -gccapacity -gccause -gcnew -gcold -gcmetacapacity -class -compiler "
        "-t -options",
        clusters=False,
        dashes=False,
        words=(0, 3),
        word=r"\d+(?:ms|s)?",
        is_endless=_jstat_is_endless,
        lasts=_jstat_lasts,
    ),
    "jinfo": reads("-flags -sysprops", clusters=False, dashes=False, words=(1, 1), word=_PID),
    "jcmd": reads("-l", words=(0, 2), check=_check_jcmd),
    "jstack": reads("-l", words=(1, 1), word=_PID),
    "jmap": reads(
        "-histo -heap", clusters=False, dashes=False, words=(1, 1), word=_PID, needs="-histo -heap"
    ),
}
