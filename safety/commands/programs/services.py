"""Services, their logs, packages, and what else runs a machine: systemd, dpkg, Proxmox, Ceph."""

import re

from safety.commands.durations import every, waits
from safety.commands.grammar import Parsed
from safety.commands.policy import Entry, Group, Policy, Table, reads, with_names
from safety.commands.refusal import Refused

_UNIT = r"[\w.@:\\*?/-]+"
_SYSTEMCTL = """
    -[laqr] -t= -p= -n=/\\d+/ -o= --no-pager --no-legend --plain --full --all --type= --state=
    --failed --property= --value --user --system --lines=/\\d+/ --output= --quiet --recursive
    --show-types --reverse --after --before --legend=
"""
_JOURNALCTL = """
    -[kexrfaqNm] -u= -n=/\\+?\\d+|all/ -p= -S=- -U=- -b=? -o= -g=- -t= -D=@ -F= -c= --unit=
    --user-unit=
    --lines=/\\+?\\d+|all/ --priority= --since=- --until=- --boot=? --dmesg --catalog --reverse
    --follow --all --quiet --output= --no-pager --grep=- --identifier= --directory=@ --file=@
    --list-boots --disk-usage --header --fields --field= --no-hostname --no-full --full --utc
    --output-fields= --merge --system --user --cursor= --after-cursor= --show-cursor
    --case-sensitive=? --facility= --no-tail --version --truncate-newline --verify
"""
# What follows `/nodes` is the name of a machine, which is looked up if it is none of the cluster.
_PVESH_PATH = r"/(?!/*nodes/+[\w-]*\.)[\w./-]*"


def _check_journal(parsed: Parsed) -> None:
    for word in parsed.words:
        if not re.fullmatch(r"[A-Z_0-9]+=.*|/[\w./-]+|[+]|\d+", word):
            raise Refused(f"journalctl with {word!r} is not known to be a read")


def _check_service(parsed: Parsed) -> None:
    if parsed.has("--status-all") and not parsed.words:
        return
    if len(parsed.words) != 2 or parsed.words[1] != "status":
        raise Refused("service is a read only with status")


def _check_rpm(parsed: Parsed) -> None:
    # The same letters install and remove, unless a query was announced before them.
    if not parsed.options or parsed.options[0][0] not in ("-q", "--query"):
        raise Refused("rpm is a read only where -q comes first")
    if any("%(" in value or "%{lua" in value for value in parsed.values("--qf", "--queryformat")):
        raise Refused("the format would be computed")


def _check_guest(parsed: Parsed) -> None:
    if not re.fullmatch(r"\d+", parsed.words[0]) or not re.fullmatch(
        r"get-[a-z-]+|network-get-interfaces|info|ping", parsed.words[1]
    ):
        raise Refused("this command of the guest agent is not known to be a read")


def _check_ceph(parsed: Parsed) -> None:
    words = " ".join(parsed.words)
    if not words and parsed.has("-s", "--status", "-w", "-v", "--version"):
        return
    if not re.fullmatch(
        r"status|health(?: detail)?|df(?: detail)?|versions?|quorum_status|fsid|report"
        r"|osd (?:tree|df|stat|perf|status|dump|ls|pool ls(?: detail)?|pool stats|utilization)"
        r"|osd df tree|mon (?:stat|dump)|pg (?:stat|dump|ls)|pg dump_stuck(?: \w+)?|mgr "
        "(?:stat|dump)"
        r"|mds stat|fs (?:ls|status|dump)|device ls|crash (?:ls|ls-new|stat)|balancer status"
        r"|orch (?:ps|ls|host ls|device ls|status)|time-sync-status|progress|log last(?: \d+)?",
        words,
    ):
        raise Refused("ceph with these words is not known to be a read")


def _waits_without_limit(parsed: Parsed) -> bool:
    return not any(int(seconds) for seconds in parsed.values("-t", "--timeout"))


def _check_unit(parsed: Parsed) -> None:
    asked = (each for text in parsed.values("-p", "--property") for each in text.split(","))
    if "Environment" in asked:
        raise Refused("it would print an environment")


def _units() -> Policy:
    return reads(word=_UNIT, check=_check_unit)


def _guest_tool(names: str) -> dict[str, Entry]:
    return {
        name: reads("--current --verbose --full", word=r"[\w.-]+", words=(0, 2))
        for name in names.split()
    }


_APT = (
    "-[a] --installed --upgradable --upgradeable --all-versions --no-all-versions -n --names-only"
)
_DNF = """-[qC] --installed --available --updates --upgrades --all --cacheonly --quiet
    --showduplicates
    --enabled --disabled"""

SERVICES: Table = {
    "systemctl": Group(
        {
            **dict.fromkeys(
                [
                    "status",
                    "show",
                    "is-active",
                    "is-enabled",
                    "is-failed",
                    "is-system-running",
                    "list-units",
                    "list-unit-files",
                    "list-timers",
                    "list-sockets",
                    "list-dependencies",
                    "list-jobs",
                    "list-paths",
                    "list-machines",
                    "list-automounts",
                    "cat",
                    "get-default",
                    "whoami",
                ],
                _units(),
            )
        },
        _SYSTEMCTL,
        bare=reads(f"{_SYSTEMCTL} --version", words=(0, 0)),
    ),
    "journalctl": reads(
        _JOURNALCTL,
        numbers=True,
        endless="-f --follow",
        check=_check_journal,
    ),
    "systemd-analyze": Group(
        {
            "time": reads(words=(0, 0)),
            "blame": reads(words=(0, 0)),
            "critical-chain": _units(),
            "security": _units(),
            "calendar": reads(words=(1, 3)),
            "timespan": reads(words=(1, 3)),
        },
        "--no-pager --user --system",
        bare=reads("--no-pager --user --system", words=(0, 0)),
    ),
    "systemd-cgls": reads("-[alku] --no-pager --all", word=_UNIT),
    "systemd-cgtop": reads(
        "-[pctimbrk1] -n=/\\d+/ -d= --batch --iterations=/\\d+/ --raw --depth=",
        words=(0, 1),
        needs="-b --batch -1 -n --iterations",
        is_endless=lambda parsed: not parsed.has("-n", "--iterations", "-1"),
        lasts=every("-d", "-n --iterations"),
    ),
    "systemd-detect-virt": reads("-[cvqr]", words=(0, 0)),
    "resolvectl": Group(
        {
            **dict.fromkeys(("status", "statistics"), reads(word=r"[\w.-]+", words=(0, 2))),
            **dict.fromkeys(("dns", "domain"), reads(word=r"[\w.-]+", words=(0, 1))),
            "query": reads("-[46] -t= --cache=", word=r"[\w.:-]+", words=(1, 5), reaches_out=True),
        },
        "--no-pager -4 -6 -i=",
        bare=reads("--no-pager", words=(0, 0)),
    ),
    "networkctl": Group(
        dict.fromkeys(
            ("list", "status", "lldp"),
            reads("-[asl] --no-pager --all --stats --full", word=r"[\w.*-]+"),
        ),
        "--no-pager --no-legend -a -s",
        bare=reads("--no-pager", words=(0, 0)),
    ),
    "hostnamectl": Group(
        {"status": reads(words=(0, 0))}, bare=reads("--static --pretty --json=", words=(0, 0))
    ),
    "timedatectl": Group(
        {
            name: reads("-p= --property= --value --all -a", words=(0, 0))
            for name in ("status", "show", "timesync-status", "show-timesync", "list-timezones")
        },
        "--no-pager",
        bare=reads("--no-pager", words=(0, 0)),
    ),
    "localectl": Group({"status": reads(words=(0, 0))}, "--no-pager", bare=reads(words=(0, 0))),
    "loginctl": Group(
        {
            name: reads("-p= --property= --value -l -n=/\\d+/", word=r"[\w.-]+", words=(0, 3))
            for name in (
                "list-sessions",
                "list-users",
                "list-seats",
                "session-status",
                "show-session",
                "user-status",
                "show-user",
                "seat-status",
            )
        },
        "--no-pager --no-legend",
        bare=reads("--no-pager --no-legend", words=(0, 0)),
    ),
    "coredumpctl": Group(
        dict.fromkeys(
            ("list", "info"),
            reads("-[r1q] -n=/\\d+/ -S= -U= --since= --until= --json=", word=r"[\w./=-]+"),
        ),
        "--no-pager --no-legend",
    ),
    "udevadm": Group(
        {
            "info": reads(
                "-[axer] -q=/\\w+/ -n= -p= --query=/\\w+/ --name= --path= --attribute-walk "
                "--export --root --export-db",
                words=(0, 1),
                opens_devices=True,
            ),
            "monitor": reads(
                "-[kupe] -s= --kernel --udev --property",
                words=(0, 0),
                is_endless=lambda parsed: True,
            ),
        }
    ),
    "service": reads("--status-all", words=(0, 2), word=r"[\w.@-]+", check=_check_service),
    "chronyc": Group(
        {
            name: reads(
                "-[av]",
                words=(0, 1),
                word=r"[\w.:-]+",
                destinations=lambda parsed: parsed.words,
            )
            for name in (
                "tracking",
                "sources",
                "sourcestats",
                "activity",
                "ntpdata",
                "serverstats",
                "clients",
                "rtcdata",
                "selectdata",
                "sourcename",
            )
        },
        "-[46nNc]",
    ),
    "ntpstat": reads(words=(0, 0)),
    "ntpq": reads(
        "-[46np] -c=/(?:rv|peers|as|lpeers|sysinfo|kerninfo)/",
        words=(0, 1),
        word=r"[\w.:-]+",
        needs="-p -c",
        reaches_out=True,
    ),
    "dpkg": reads(
        """-[lsLSV] --list --status --listfiles --search --get-selections --audit --verify
        --print-architecture --print-avail --version -p -C""",
        word=r"[\w.+:*/@~-]+",
        needs="""-l -s -L -S -V -p -C --list --status --listfiles --search --get-selections --audit
        --verify --print-architecture --print-avail --version""",
        words=(0, 20),
    ),
    "dpkg-query": reads(
        "-[lsLSW] -f= --list --status --listfiles --search --show --showformat=",
        word=r"[\w.+:*/@~-]+",
        formats="-f --showformat",
        needs="-l -s -L -S -W --list --status --listfiles --search --show",
    ),
    "apt": Group(
        {
            name: reads(_APT, word=r"[\w.+:*/@~^$-]+", words=(0, 20))
            for name in ("list", "show", "policy", "search", "depends", "rdepends")
        }
    ),
    "apt-cache": Group(
        {
            name: reads(f"-[qi] {_APT}", word=r"[\w.+:*/@~^$-]+", words=(0, 20))
            for name in (
                "policy",
                "show",
                "search",
                "depends",
                "rdepends",
                "madison",
                "stats",
                "showpkg",
                "showsrc",
                "pkgnames",
            )
        }
    ),
    "apt-mark": Group(
        {
            name: reads(word=r"[\w.+:*-]+")
            for name in ("showhold", "showmanual", "showauto", "showinstall")
        }
    ),
    "rpm": reads(
        """-q -[ailcdfRv] --query --all --info --list --changelog --last --requires --provides
        --whatprovides= --whatrequires= --queryformat= --qf= --file= --scripts --triggers
        --configfiles
        --docfiles --state""",
        needs="-q --query",
        word=r"[\w.+:*/@~^-]+",
        formats="--qf --queryformat",
        check=_check_rpm,
    ),
    **with_names(
        "yum dnf",
        Group(
            {
                name: reads(_DNF, word=r"[\w.+:*/@~^-]+")
                for name in (
                    "list",
                    "info",
                    "repolist",
                    "repoinfo",
                    "search",
                    "provides",
                    "deplist",
                )
            }
            | {
                "history": Group(
                    {"list": reads(words=(0, 2)), "info": reads(words=(0, 2))},
                    bare=reads(words=(0, 0)),
                )
            },
            _DNF,
            bare=reads("--version", needs="--version"),
        ),
    ),
    "apk": Group(
        {
            "info": reads("-[advswLRrte]", word=r"[\w.+-]+"),
            "list": reads("-[IuaO] --installed --upgradable", word=r"[\w.+*-]+"),
            "policy": reads(word=r"[\w.+-]+"),
            "version": reads("-v", words=(0, 1)),
        }
    ),
    "pacman": reads("-Q -[Qilokepqdtu]", needs="-Q", word=r"[\w.+@/-]+"),
    "snap": Group(
        {
            name: reads("--all --color=", word=r"[\w.-]+", words=(0, 3))
            for name in ("list", "info", "version", "services", "changes", "connections")
        }
    ),
    "flatpak": Group(
        {
            name: reads("--app --runtime --columns= -d", words=(0, 2))
            for name in ("list", "info", "history", "remotes")
        }
    ),
    **with_names(
        "pip pip3",
        Group(
            {
                "list": reads("-[olv] --format= --outdated --local --not-required", words=(0, 0)),
                "show": reads("-[fv] --files", words=(1, 10), word=r"[\w.-]+"),
                "freeze": reads("-l --all --local", words=(0, 0)),
                "check": reads(words=(0, 0)),
            },
            bare=reads("-V --version", needs="-V --version"),
        ),
    ),
    "npm": Group(
        {
            name: reads(
                "-g -l --depth= --all --json --global --long", words=(0, 3), word=r"[\w.@/-]+"
            )
            for name in ("ls", "list")
        },
        bare=reads("-v --version", needs="-v --version"),
    ),
    "gem": Group(
        {"list": reads("-[lad]", words=(0, 1), word=r"[\w.-]+")},
        bare=reads("-v --version", needs="-v --version"),
    ),
    "pct": Group(_guest_tool("list status config df listsnapshot pending cpusets")),
    "qm": Group(
        {
            **_guest_tool("list status config listsnapshot pending"),
            "guest": Group({"cmd": reads(words=(2, 2), check=_check_guest)}),
            "agent": reads(words=(2, 2), check=_check_guest),
        }
    ),
    "pvesh": Group(
        {
            name: reads(
                "--output-format= --noborder --noheader --human-readable= --type=/\\w+/",
                words=(1, 1),
                word=_PVESH_PATH,
            )
            for name in ("get", "ls")
        }
    ),
    "pvecm": Group({"status": reads(words=(0, 0)), "nodes": reads(words=(0, 0))}),
    "pvesm": Group(
        {
            name: reads("--storage= --content= --vmid= --enabled=", words=(0, 2), word=r"[\w.-]+")
            for name in ("status", "list", "path")
        }
    ),
    "pveversion": reads("-v --verbose", words=(0, 0)),
    "ha-manager": Group(
        {"status": reads("--verbose=?", words=(0, 0)), "config": reads(words=(0, 0))}
    ),
    "ceph": reads(
        "-s -w -v -f= --status --format= --version",
        word=r"[\w.-]+",
        endless="-w",
        check=_check_ceph,
    ),
    "rados": Group({"df": reads(words=(0, 0)), "lspools": reads(words=(0, 0))}),
    "rbd": Group(
        {
            name: reads("-p= --pool= -l --long --format=", words=(0, 1), word=r"[\w./@-]+")
            for name in ("ls", "list", "info", "du", "status", "showmapped")
        }
    ),
    "corosync-quorumtool": reads("-[slp]", words=(0, 0)),
    "crm_mon": reads("-1 -[rnfA]", words=(0, 0), needs="-1"),
    "pcs": Group({"status": reads("--full", words=(0, 2), word=r"resources|nodes|cluster|quorum")}),
    "varnishstat": reads("-1 -j -f=", words=(0, 0), needs="-1 -j"),
    "inotifywait": reads(
        "-[mrq] -e= -t=/\\d+/ --monitor --recursive --quiet --event= --timeout=/\\d+/ "
        "--format= --timefmt= --exclude=",
        words=(1, 10),
        endless="-m --monitor",
        is_endless=_waits_without_limit,
        lasts=waits("-t", "--timeout"),
    ),
}
