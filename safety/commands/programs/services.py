"""Services and their logs: systemd and its tools, clocks."""

import re

from safety.commands.durations import every
from safety.commands.grammar import Parsed
from safety.commands.policy import Group, Policy, Table, reads
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


def _check_journal(parsed: Parsed) -> None:
    for word in parsed.words:
        if not re.fullmatch(r"[A-Z_0-9]+=.*|/[\w./-]+|[+]|\d+", word):
            raise Refused(f"journalctl with {word!r} is not known to be a read")


def _check_service(parsed: Parsed) -> None:
    if parsed.has("--status-all") and not parsed.words:
        return
    if len(parsed.words) != 2 or parsed.words[1] != "status":
        raise Refused("service is a read only with status")


def _check_unit(parsed: Parsed) -> None:
    asked = (each for text in parsed.values("-p", "--property") for each in text.split(","))
    if "Environment" in asked:
        raise Refused("it would print an environment")


def _units() -> Policy:
    return reads(word=_UNIT, check=_check_unit)


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
    "varnishstat": reads("-1 -j -f=", words=(0, 0), needs="-1 -j"),
}
