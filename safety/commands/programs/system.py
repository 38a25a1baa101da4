"""The machine at work: processes, memory, users, time, and what the kernel tells."""

import re
from collections.abc import Iterator

from safety.commands.durations import counts_up, every, last_of, reports, reports_for_ever, sleeps
from safety.commands.grammar import Parsed
from safety.commands.languages.escapes import refuse_escapes
from safety.commands.policy import Table, reads, with_names
from safety.commands.refusal import Refused

_COMMON = "--help --version"
# A variable whose name does not say that it holds a secret: its value stands alone, so that nothing
# would mask it.
_HARMLESS_VARIABLE = (
    r"(?!(?i:.*(?:secret|token|pass|key|cred|auth|dsn|ur[il]|jwt|salt|cookie|conn|cert|private)"
    r"|.*_(?:pw|pwd|pat|pin)$))\w+"
)


def _sleep_is_endless(parsed: Parsed) -> bool:
    return any(word in ("inf", "infinity") for word in parsed.words)


def _top_is_endless(parsed: Parsed) -> bool:
    return not (parsed.has("-b") and parsed.has("-n"))


def _top_lasts(parsed: Parsed) -> float:
    """The first screen comes at once."""
    return last_of(parsed, "-d", default=3.0) * (last_of(parsed, "-n", default=1.0) - 1)


def _check_getent(parsed: Parsed) -> None:
    services = parsed.values("-s")
    if any(name.startswith("shadow:") for name in services):
        raise Refused("password hashes are not read out")
    if parsed.words[0] in ("shadow", "gshadow"):
        raise Refused("password hashes are not read out")


def _check_sysctl(parsed: Parsed) -> None:
    # Keys of the kernel stand among its settings.
    asked = (*parsed.words, *parsed.values("-r", "--pattern"))
    if any(re.search(r"_(?:key|secret)(?![a-z])", text) for text in asked):
        raise Refused("keys of the kernel are not read out")


def _hosts_asked_for(parsed: Parsed) -> tuple[str, ...]:
    asks = parsed.words[0].startswith(("hosts", "ahosts", "net"))
    return parsed.words[1:] if asks else ()


def _check_printf(parsed: Parsed) -> None:
    refuse_escapes(parsed.words)
    # A shell's own printf stores a number under the name in the next word.
    if re.search(r"%[-+ #'0-9.*hjlLqtz]*n", parsed.words[0].replace("%%", "")):
        raise Refused("printf would set a variable")


def _check_fuser(parsed: Parsed) -> None:
    if not parsed.words:
        raise Refused("fuser lacks a name")


def _machines_of_lsof(parsed: Parsed) -> Iterator[str]:
    """`-i TCP@host:port`, where it may also be a word of its own."""
    for text in (*parsed.values("-i"), *parsed.words):
        if "@" in text and not text.startswith("/"):
            yield text.partition("@")[2]


def _machines_of_fuser(parsed: Parsed) -> Iterator[str]:
    """Of a socket: `local_port,host,port/tcp`."""
    for word in parsed.words:
        if "," in word and not word.startswith("/"):
            yield from word.partition("/")[0].split(",")


SYSTEM: Table = {
    **with_names("true false", reads(words=(0, 0))),
    "yes": reads(words=(0, 5), is_endless=lambda parsed: True),
    "sleep": reads(
        word=r"\d+(?:\.\d+)?[smhd]?|inf(?:inity)?",
        words=(1, 3),
        is_endless=_sleep_is_endless,
        lasts=sleeps,
    ),
    "printf": reads(words=(1, 100), check=_check_printf),
    "seq": reads(
        "-w -s= -f=/[^%]*%[-0-9.]*[gfe][^%]*/",
        numbers=True,
        word=r"-?\d+(?:\.\d+)?",
        words=(1, 3),
        lasts=counts_up,
    ),
    "expr": reads(words=(1, 20), dashes=False),
    "factor": reads(word=r"\d+"),
    "pwd": reads("-[LP]", words=(0, 0)),
    "uptime": reads("-[ps] --pretty --since --version", words=(0, 0)),
    "free": reads(
        """-[bkmghtlwvL] -s= -c= --bytes --kibi --mebi --gibi --human --lohi --total --wide
        --seconds= --count= --si --kilo --mega --giga --version""",
        words=(0, 0),
        endless="-s --seconds",
        ends="-c --count",
        lasts=every("-s --seconds", "-c --count"),
    ),
    "uname": reads(
        """-[asnrvmpio] --all --kernel-name --nodename --kernel-release --kernel-version --machine
        --processor --operating-system --version""",
        words=(0, 0),
    ),
    "arch": reads(words=(0, 0)),
    "nproc": reads("--all --ignore=", words=(0, 0)),
    # A word would become the new name.
    "hostname": reads(
        "-[fsiIdAy] --fqdn --short --ip-address --all-ip-addresses --domain --long", words=(0, 0)
    ),
    **with_names("whoami logname users tty groups", reads(_COMMON, words=(0, 3))),
    "id": reads("-[gGnruzZ] --group --groups --name --real --user --zero", words=(0, 3)),
    "date": reads(
        """-[uR] -I=? -d=- -r= --date=- --iso-8601=? --rfc-3339= --rfc-email --rfc-2822 --utc
        --universal --reference=""",
        words=(0, 1),
        word=r"\+[^\n]*",
    ),
    **with_names("cal ncal", reads("-[13jmhsy] -A= -B= -m=", word=r"\w+", words=(0, 3))),
    "locale": reads("-[ackm]", word=r"\w+"),
    "printenv": reads("-0", word=_HARMLESS_VARIABLE),
    "getconf": reads("-a", word=r"\w+", words=(0, 1)),
    "getent": reads(
        "-[i] -s=/(?:\\w+:)?(?:files|dns|sss|ldap|nis|compat|systemd|myhostname|resolve)/",
        words=(1, 5),
        word=r"[\w.:@-]+",
        check=_check_getent,
        destinations=_hosts_asked_for,
    ),
    "who": reads("-[abdHlmpqrstTuw] --boot --all --heading --count", words=(0, 2), word=r"am|i|I"),
    "w": reads("-[hsfiouV]", words=(0, 1)),
    "last": reads(
        "-[aFdRwx] -n= -s= -t= -p= -i --since= --until= --present= --fullnames --limit=",
        numbers=True,
    ),
    "lastb": reads("-[aFdRwx] -n= -s= -t= -p= -i --since= --until=", numbers=True),
    "lastlog": reads("-u= -t= -b= --user= --time= --before=", words=(0, 0)),
    "pidof": reads("-[sqcx] -o=", words=(1, 20)),
    "pgrep": reads(
        """-[afilnovwxcr] -d= -g= -G= -P= -s= -t= -u= -U= --list-name --list-full --full --newest
        --oldest --exact --count --parent= --user= --euid= --ignore-case --inverse""",
        words=(0, 1),
    ),
    "pstree": reads(
        "-[aAcgGhlnNpsStTuUvVZ] -H= --arguments --show-pids --ascii --long",
        words=(0, 1),
        word=r"[\w.-]+",
    ),
    "top": reads(
        "-[bcHiS1] -n=/\\d+/ -d= -p= -u= -U= -o=- -w=? -E= -e=",
        words=(0, 0),
        is_endless=_top_is_endless,
        lasts=_top_lasts,
    ),
    "iotop": reads(
        "-[bokatqP] -n=/\\d+/ -d= -p= -u= --batch --iter=/\\d+/ --only --accumulated",
        words=(0, 0),
        needs="-n --iter",
        lasts=every("-d", "-n --iter"),
    ),
    "vmstat": reads(
        "-[afimstwynd] -D -S= -p= --active --forks --slabs --stats --disk --wide --timestamp "
        "--unit=",
        words=(0, 2),
        word=r"\d+",
        is_endless=reports_for_ever,
        lasts=reports,
    ),
    "iostat": reads(
        "-[cdhkmNstxyzHV] -p=? -j= -o=/JSON/ -g= --human --compact --dec=? --pretty",
        word=r"[\w/.-]+",
        is_endless=reports_for_ever,
        lasts=reports,
    ),
    "mpstat": reads(
        "-[uAHV] -P= -I= -n -N= -T -o=/JSON/ --dec=?",
        words=(0, 2),
        word=r"\d+",
        is_endless=reports_for_ever,
        lasts=reports,
    ),
    "sar": reads(
        "-[AbBdFhHpqruRSvVwWyztxDC] -n= -m= -P= -I= -j= -i= -f=@ -1 -2 -3 --human --pretty "
        "-s=/\\d\\d:\\d\\d(?::\\d\\d)?/ -e=/\\d\\d:\\d\\d(?::\\d\\d)?/ "
        "--dec=? --dev= --iface=",
        words=(0, 2),
        word=r"\d+",
        is_endless=reports_for_ever,
        lasts=reports,
    ),
    "pidstat": reads(
        "-[bdhHIlrRsuUtvVwy] -p= -C= -G= -T= --human --dec=?",
        words=(0, 2),
        word=r"\d+",
        is_endless=reports_for_ever,
        lasts=reports,
    ),
    "sysctl": reads(
        "-[aAnNeqbX] -r= --all --names --values --pattern=",
        word=r"[\w./*-]+",
        check=_check_sysctl,
    ),
    "dmesg": reads(
        """-[HTkLxrtdJPSuewW] -l= -f= -s= --level= --facility= --since= --until= --human --ctime
        --kernel --userspace --decode --raw --notime --nopager --color=? --time-format= --reltime
        --follow --follow-new --json""",
        words=(0, 0),
        endless="-w -W --follow --follow-new",
    ),
    "lsof": reads(
        """-[anPltNURVbCEhO] -i=? -p= -u=- -c= -d= -s=? -F=? -g=? -o=? -T=? -L""",
        word=r"[\w.:@/,^-]*|\+[dD]|\+L\d?|\+c\d+",
        opens_devices=True,
        destinations=_machines_of_lsof,
        hardening=("-n",),
    ),
    "fuser": reads(
        "-[amnuvV46] -n= --all --mount --verbose --user",
        opens_devices=True,
        check=_check_fuser,
        destinations=_machines_of_fuser,
    ),
    "lsb_release": reads(
        "-[aidrcsv] --all --description --release --codename --short", words=(0, 0)
    ),
    "crontab": reads("-l -u=", words=(0, 0), needs="-l"),
    **with_names("atq mailq runlevel", reads(words=(0, 0))),
}
