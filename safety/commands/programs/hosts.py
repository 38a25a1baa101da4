"""What else an operator asks a host: its storage, its protection, what its servers say of their
configuration."""

import re

from safety.commands.durations import every
from safety.commands.grammar import Parsed
from safety.commands.policy import Entry, Group, Policy, Table, reads, with_names
from safety.commands.refusal import Refused

_NAME = r"[\w.:@-]+"


def _check_alone(parsed: Parsed) -> None:
    if len(parsed.options) != 1:
        raise Refused("more than one option at once is not known to be a read")


def _alone(options: str) -> Policy:
    """One of these options, and nothing else."""
    return reads(
        options, clusters=False, dashes=False, words=(0, 0), needs=options, check=_check_alone
    )


def _check_certificate(parsed: Parsed) -> None:
    if not parsed.has("-file"):
        raise Refused("keytool is a read only with the file of a certificate")


def _check_prometheus(parsed: Parsed) -> None:
    server = parsed.words[0]
    if not re.fullmatch(r"https?://(?:localhost|127\.0\.0\.1)(?::\d+)?/?", server):
        raise Refused("promtool is a read only of the server on this machine")


_STORAGE: Table = {
    "mountpoint": reads("-[qdx]", words=(1, 1), opens_devices=True),
    "quota": reads("-[gusvpQ]", words=(0, 2), word=_NAME),
    "repquota": reads("-[asuvgn]", words=(0, 3)),
    "multipath": _alone("-ll -l"),
    "dmsetup": Group(
        {
            "ls": reads("--tree --target=/\\w+/", words=(0, 0)),
            **dict.fromkeys(("info", "deps"), reads("-c", words=(0, 1), word=r"[\w./-]+")),
        }
    ),
    "iscsiadm": reads(
        "-m=/session|node|iface|host/ -P=/[0-3]/ --mode=/session|node|iface|host/ --print=/[0-3]/",
        words=(0, 0),
        needs="-m --mode",
    ),
    "btrfs": Group(
        {
            "filesystem": Group(
                {
                    name: reads("-[bhHkmgtdT] --raw --human-readable", words=(0, 3))
                    for name in ("df", "show", "usage", "du")
                }
            ),
            "subvolume": Group(
                {"list": reads("-[apcgutoqRsrd]", words=(1, 1)), "show": reads(words=(1, 1))}
            ),
            "device": Group(
                {"stats": reads("-c --check", words=(1, 1)), "usage": reads(words=(1, 1))}
            ),
            "scrub": Group({"status": reads("-[dR]", words=(1, 1))}),
        }
    ),
    "nvme": Group(
        {
            name: reads(
                "-o= -n= --output-format= --namespace-id= -v", word=r"[\w/.-]+", opens_disks=True
            )
            for name in (
                "list",
                "list-subsys",
                "smart-log",
                "id-ctrl",
                "id-ns",
                "error-log",
                "version",
            )
        }
    ),
    "drbdadm": Group(
        {name: reads(words=(0, 1), word=_NAME) for name in ("status", "cstate", "dstate", "role")}
    ),
    "gluster": Group(
        {
            "volume": Group(
                {name: reads(words=(0, 2), word=r"[\w-]+") for name in ("info", "list", "status")}
            ),
            "peer": Group({"status": reads(words=(0, 0))}),
            "pool": Group({"list": reads(words=(0, 0))}),
        }
    ),
}

_PROTECTION: Table = {
    "getenforce": reads(words=(0, 0)),
    "sestatus": reads("-[bv]", words=(0, 0)),
    **with_names("aa-status apparmor_status", reads("--json --verbose", words=(0, 0))),
    "getsebool": reads("-a", words=(0, 5), word=r"\w+"),
    "auditctl": _alone("-l -s -v"),
    "ausearch": reads(
        "-m=/[\\w,]+/ -ts=/[\\w:.\\/-]+/ -te=/[\\w:.\\/-]+/ -k=/[\\w-]+/ -i -r -p=/\\d+/ "
        "-ui=/\\d+/ -x=/[\\w.\\/-]+/ -sv=/yes|no/ --raw --interpret --message=/[\\w,]+/",
        clusters=False,
        dashes=False,
        words=(0, 2),
        word=r"[\d:./-]+",
    ),
    "aureport": reads(
        "-au -l -e -f -x -u -m -i -s -a -k -t --summary --failed --success --auth --login "
        "--event --file --executable --user --syscall --anomaly",
        clusters=False,
        dashes=False,
        words=(0, 0),
    ),
    "fail2ban-client": Group(
        {
            "status": reads(words=(0, 1), word=r"[\w-]+"),
            "banned": reads(words=(0, 0)),
            "ping": reads(words=(0, 0)),
            "version": reads(words=(0, 0)),
        }
    ),
    "keytool": reads(
        "-printcert -file=@ -rfc -v",
        clusters=False,
        dashes=False,
        words=(0, 0),
        needs="-printcert",
        check=_check_certificate,
    ),
    "ssh-keygen": reads("-[lv] -f=@ -E=/\\w+/", words=(0, 0), needs="-l"),
    "gpg": _alone("--version"),
}


def _nvidia_words() -> dict[str, Entry]:
    return {
        "topo": reads("-m", words=(0, 0), needs="-m"),
        "nvlink": reads("-s --status", words=(0, 0), needs="-s --status"),
        **{
            name: reads(
                "-c=/\\d+/ -s=/[a-z]+/ -i=/[\\d,]+/",
                lasts=every("", "-c"),
                words=(0, 0),
                is_endless=lambda parsed: not parsed.has("-c"),
            )
            for name in ("dmon", "pmon")
        },
    }


_NVIDIA = (
    "-q -L -x -i=/[\\w:.,-]+/ -d=/[A-Z_,]+/ -l=/\\d+/ --loop=/\\d+/ --list-gpus --query "
    "--query-gpu=/[\\w.,]+/ --query-compute-apps=/[\\w.,]+/ --format=/[\\w,]+/ --id=/[\\w:.,-]+/ "
    "--help"
)

_MACHINE: Table = {
    "prlimit": reads(
        "-p=/\\d+/ --pid=/\\d+/ -o=/[\\w,]+/ --output=/[\\w,]+/ --noheadings --raw",
        words=(0, 0),
        needs="-p --pid",
    ),
    "pmap": reads("-[xXdqp] --extended --device --quiet --show-path", words=(1, 5), word=r"\d+"),
    "slabtop": reads(
        "-o -s=/[a-z]/ -d=/\\d+/ --once --sort=/[a-z]/ --delay=/\\d+/",
        words=(0, 0),
        is_endless=lambda parsed: not parsed.has("-o", "--once"),
    ),
    "nvidia-smi": Group(
        _nvidia_words(),
        bare=reads(_NVIDIA, clusters=False, dashes=False, words=(0, 0), endless="-l --loop"),
        shared=_NVIDIA,
        clusters=False,
    ),
    "ipmitool": Group(
        {
            "sensor": reads(words=(0, 1), word="list|info"),
            "sdr": Group(
                {
                    **dict.fromkeys(("list", "elist", "info"), reads(words=(0, 0))),
                    "type": reads(words=(0, 2), word=r"[A-Za-z]+"),
                },
                bare=reads(words=(0, 0)),
            ),
            "sel": reads(words=(0, 1), word="list|elist|info"),
            "fru": reads(words=(0, 1), word="print"),
            **{name: reads(words=(1, 1), word="status") for name in ("chassis", "power")},
            "mc": reads(words=(1, 1), word="info"),
        }
    ),
    "lshw": reads(
        "-short -businfo -json -numeric -quiet -sanitize -C=/\\w+/ -c=/\\w+/ -class=/\\w+/",
        clusters=False,
        dashes=False,
        words=(0, 0),
    ),
    "lstopo-no-graphics": reads(words=(0, 0)),
    "turbostat": _alone("--version -v"),
    "perf": _alone("--version"),
    "bpftool": Group(
        {
            "version": reads(words=(0, 0)),
            **{
                name: Group(dict.fromkeys(("list", "show"), reads(words=(0, 0))))
                for name in ("prog", "map", "net", "link", "btf", "perf")
            },
        },
        "-[jp] --json --pretty",
    ),
    "systemd-delta": reads("--no-pager --type=/[a-z,]+/", words=(0, 0)),
    "systemd-resolve": _alone("--statistics --status --version"),
    "busctl": Group(
        {
            "list": reads("--acquired --unique --activatable", words=(0, 0)),
            "status": reads(words=(0, 1), word=_NAME),
            "tree": reads("--list", words=(0, 3), word=_NAME),
        },
        "--no-pager --no-legend --user --system",
    ),
    "fc-list": reads(words=(0, 3), word=r"[\w: ,=.-]+"),
    "tmux": Group(
        dict.fromkeys(
            ("ls", "list-sessions", "list-windows", "list-panes"), reads("-a", words=(0, 0))
        )
    ),
    "update-alternatives": reads(
        "--display=/[\\w.-]+/ --list=/[\\w.-]+/ --query=/[\\w.-]+/ --get-selections",
        words=(0, 0),
        needs="--display --list --query --get-selections",
        check=_check_alone,
    ),
    "zypper": Group(
        {
            **dict.fromkeys(
                ("lr", "repos", "lu", "list-updates", "pa", "packages", "ps", "ll", "locks"),
                reads(words=(0, 0)),
            ),
            **dict.fromkeys(
                ("se", "search", "if", "info"), reads("-i -s", words=(0, 5), word=r"[\w.+*-]+")
            ),
        },
        "--no-refresh --non-interactive",
    ),
    "ovs-vsctl": Group(
        {
            "show": reads(words=(0, 0), dashes=False),
            "list-br": reads(words=(0, 0), dashes=False),
            "list-ports": reads(words=(1, 1), word=r"[\w.-]+", dashes=False),
        }
    ),
    "tshark": _alone("-D -v --version"),
}

# Only of the configuration that the server itself uses: one of somebody else's can load code.
_SERVERS: Table = {
    "nginx": _alone("-t -T -v -V"),
    **with_names(
        "apachectl apache2ctl",
        Group(
            {"configtest": reads(words=(0, 0), dashes=False)},
            bare=_alone("-S -M -v -V -l -L -t"),
            clusters=False,
        ),
    ),
    "haproxy": reads(
        "-c -f=/\\/etc\\/haproxy\\/[\\w-]+\\.cfg/ -v -vv --version",
        clusters=False,
        dashes=False,
        words=(0, 0),
        needs="-c -v -vv --version",
    ),
    "sshd": _alone("-t -T -V"),
    "visudo": _alone("-c"),
    "php-fpm": _alone("-t -tt -v"),
    "named-checkconf": reads(words=(0, 1), files_from=0),
    "named-checkzone": reads(words=(2, 2), files_from=1),
    "postconf": reads("-[ndh]", words=(0, 20), word=r"\w+"),
    "postqueue": _alone("-p -j"),
    **with_names("exim exim4", _alone("-bp -bpc -bpr -bV")),
    "supervisorctl": Group(
        {
            "status": reads(words=(0, 10), word=r"[\w:.*-]+"),
            "avail": reads(words=(0, 0)),
            "version": reads(words=(0, 0)),
        }
    ),
    "promtool": Group(
        {
            "check": Group(dict.fromkeys(("config", "rules"), reads(words=(1, 10), files_from=0))),
            "query": Group({"instant": reads(words=(2, 2), dashes=False, check=_check_prometheus)}),
        },
        bare=_alone("--version"),
    ),
    "amtool": Group(
        {
            "alert": Group(
                {"query": reads(words=(0, 5), word=r"[\w.=~!\"-]+")}, bare=reads(words=(0, 0))
            ),
            "silence": Group({"query": reads(words=(0, 5), word=r"[\w.=~!\"-]+")}),
        }
    ),
    "nodetool": Group(
        {
            name: reads(words=(0, 2), word=r"[\w.]+")
            for name in (
                "status",
                "info",
                "tpstats",
                "ring",
                "describecluster",
                "netstats",
                "compactionstats",
                "tablestats",
                "gossipinfo",
                "version",
                "listsnapshots",
                "statusbackup",
                "statusgossip",
                "statusbinary",
                "cfstats",
                "tablehistograms",
                "cfhistograms",
                "proxyhistograms",
                "failuredetector",
                "getlogginglevels",
                "getcompactionthroughput",
            )
        }
    ),
}

HOSTS: Table = {**_STORAGE, **_PROTECTION, **_MACHINE, **_SERVERS}
