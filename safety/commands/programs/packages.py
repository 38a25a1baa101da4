"""Packages: what is installed, what could be, and what it needs."""

from safety.commands.grammar import Parsed
from safety.commands.policy import Group, Table, reads, with_names
from safety.commands.refusal import Refused

_APT = (
    "-[a] --installed --upgradable --upgradeable --all-versions --no-all-versions -n --names-only"
)
_DNF = """-[qC] --installed --available --updates --upgrades --all --cacheonly --quiet
    --showduplicates
    --enabled --disabled"""


def _check_rpm(parsed: Parsed) -> None:
    # The same letters install and remove, unless a query was announced before them.
    if not parsed.options or parsed.options[0][0] not in ("-q", "--query"):
        raise Refused("rpm is a read only where -q comes first")
    if any("%(" in value or "%{lua" in value for value in parsed.values("--qf", "--queryformat")):
        raise Refused("the format would be computed")


PACKAGES: Table = {
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
}
