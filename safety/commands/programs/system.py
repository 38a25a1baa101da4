"""Files as things, and the machine: processes, memory, disks, hardware, users, time."""

import re
from collections.abc import Iterator

from safety.commands.durations import counts_up, every, last_of, reports, sleeps
from safety.commands.grammar import Parsed
from safety.commands.languages.escapes import refuse_escapes
from safety.commands.policy import Group, Table, reads, with_names
from safety.commands.programs.hosts import ZFS_DIFF
from safety.commands.refusal import Refused

_COMMON = "--help --version"
_NAME = r"[\w.@:/+-]+"
_LS = """
    -[aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1] -I= -T= -w= --all --almost-all --author --block-size=
    --color=? --directory --dereference --classify=? --full-time --group-directories-first
    --human-readable --si --hide= --ignore= --inode --indicator-style= --format= --no-group
    --numeric-uid-gid --quoting-style= --recursive --reverse --size --sort= --time= --time-style=
    --width= --zero --context
"""
_DU = """
    -[abcDhHklLmPsSx0] -d=/\\d+/ -t= -B= --max-depth=/\\d+/ --all --apparent-size --block-size=
    --bytes --total --dereference --exclude= --exclude-from=@ --human-readable --inodes --si
    --summarize --one-file-system --threshold= --time=? --time-style= --separate-dirs --null
"""
# A variable whose name does not say that it holds a secret: its value stands alone, so that nothing
# would mask it.
_HARMLESS_VARIABLE = (
    r"(?!(?i:.*(?:secret|token|pass|key|cred|auth|dsn|ur[il]|jwt|salt|cookie|conn|cert|private)"
    r"|.*_(?:pw|pwd|pat|pin)$))\w+"
)
_TAR_OLD = re.compile(r"[tvzjJ]*t[tvzjJ]*f?")


def _ends_with_number(parsed: Parsed) -> bool:
    """An interval without a count goes on for ever."""
    numbers = [word for word in parsed.words if re.fullmatch(r"\d+(?:\.\d+)?", word)]
    return len(numbers) == 1


def _check_tar(parsed: Parsed) -> None:
    if parsed.has("-t", "--list"):
        if ":" in "".join(parsed.values("-f", "--file")):
            raise Refused("tar would fetch the archive from another machine")
        return
    if not (parsed.words and _TAR_OLD.fullmatch(parsed.words[0]) and not parsed.options):
        raise Refused("tar is a read only with -t")
    if ":" in "".join(parsed.words[1:2]):
        raise Refused("tar would fetch the archive from another machine")


def _sleep_is_endless(parsed: Parsed) -> bool:
    return any(word in ("inf", "infinity") for word in parsed.words)


def _check_locate(parsed: Parsed) -> None:
    if not parsed.words and not parsed.has("-S", "--statistics"):
        raise Refused("locate lacks a pattern")


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


FILES: Table = {
    **with_names("ls dir vdir", reads(f"{_LS} {_COMMON}", opens_devices=True)),
    "stat": reads(
        f"-[fLtZ] -c= --format= --printf= --terse --file-system --dereference {_COMMON}",
        opens_devices=True,
        formats="--printf",
    ),
    "file": reads(
        f"""-[bhiklLnNr0sS] -F= --brief --mime --mime-type --mime-encoding --dereference
        --no-dereference --keep-going --separator= {_COMMON}""",
        opens_disks=True,
    ),
    "readlink": reads(f"-[femnqsvz] --canonicalize --no-newline --zero {_COMMON}"),
    "realpath": reads(f"-[emLPqsz] --relative-to= --relative-base= --no-symlinks {_COMMON}"),
    **with_names("basename dirname", reads(f"-[az] -s= --multiple --suffix= --zero {_COMMON}")),
    "du": reads(f"{_DU} {_COMMON}"),
    "df": reads(
        f"""-[ahHiklPT] -t= -x= -B= --output=? --total --local --no-sync --human-readable --inodes
        --print-type --portability --all --type= --exclude-type= --block-size= --si {_COMMON}""",
        opens_devices=True,
    ),
    "tree": reads(
        """-[adfilpsughDFqNnrtcUCAxJX] -L=/\\d+/ -P= -I= --dirsfirst --noreport --du --prune
        --filelimit= --inodes --device --timefmt= --version --help"""
    ),
    **with_names(
        "fd fdfind",
        reads(
            """-[HIasgiFpuL0] -t= -e= -d= -E= -S= --type= --extension= --max-depth= --min-depth=
            --exclude= --hidden --no-ignore --full-path --absolute-path --size= --changed-within=
            --changed-before= --glob --fixed-strings --version"""
        ),
    ),
    **with_names(
        "locate mlocate plocate",
        reads("-[0bceiqrSwA] -n= -l= --limit= --regex --statistics", check=_check_locate),
    ),
    "which": reads("-[as]", word=_NAME, words=(1, 50)),
    "whereis": reads("-[bmsul]", word=_NAME, words=(1, 50)),
    "getfacl": reads("-[aceEsRLPtpn]", words=(1, 50)),
    "getcap": reads("-[rvn]", words=(1, 50)),
    "lsattr": reads("-[RVadlpv]"),
    "namei": reads("-[lmnovx]", words=(1, 50)),
    "findmnt": reads(
        """-[abcDefiJkAlmnOPruv] -d= -N= -o= -O= -p -S= -t= -T= -w --target= --source= --types=
        --options= --output= --json --list --df --noheadings --bytes --all --verify --raw --pairs
        --submounts --real --kernel --mtab --fstab""",
        endless="-p --poll",
        opens_devices=True,
    ),
    "mount": reads("-[lv] -t= --show-labels --version", words=(0, 0)),
    "lsblk": reads(
        """-[abdDzefilJmnOpPrsStVyMN] -o= -E= -I= -x= -e= --output= --json --fs --all --bytes --list
        --topology --perms --paths --nodeps --noheadings --output-all --sort= --discard --scsi
        --version""",
        opens_devices=True,
    ),
    "blkid": reads(
        "-[kLpi] -o= -s= -U= -L= -t= -n= -u= --output= --match-tag=",
        opens_disks=True,
        # Otherwise it writes down what it finds.
        hardening=("-c", "/dev/null"),
    ),
    "tar": reads(
        """-[tvzjJ] -f=@ --list --verbose --gzip --bzip2 --xz --zstd --file=@ --exclude=
        --wildcards --full-time --numeric-owner""",
        words=(0, 50),
        files_from=0,
        check=_check_tar,
    ),
    "unzip": reads(
        "-[lvtpqCjZ12]",
        words=(1, 20),
        files_from=0,
        contents=lambda parsed: parsed.words[1:],
        needs="-l -v -t -p -Z",
    ),
    "zipinfo": reads("-[12smlvhMtTzC]", words=(1, 20), files_from=0),
}

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
        is_endless=_ends_with_number,
        lasts=reports,
    ),
    "iostat": reads(
        "-[cdhkmNstxyzHV] -p=? -j= -o=/JSON/ -g= --human --compact --dec=? --pretty",
        word=r"[\w/.-]+",
        is_endless=_ends_with_number,
        lasts=reports,
    ),
    "mpstat": reads(
        "-[uAHV] -P= -I= -n -N= -T -o=/JSON/ --dec=?",
        words=(0, 2),
        word=r"\d+",
        is_endless=_ends_with_number,
        lasts=reports,
    ),
    "sar": reads(
        "-[AbBdFhHpqruRSvVwWyztxDC] -n= -m= -P= -I= -j= -i= -f=@ -1 -2 -3 --human --pretty "
        "-s=/\\d\\d:\\d\\d(?::\\d\\d)?/ -e=/\\d\\d:\\d\\d(?::\\d\\d)?/ "
        "--dec=? --dev= --iface=",
        words=(0, 2),
        word=r"\d+",
        is_endless=_ends_with_number,
        lasts=reports,
    ),
    "pidstat": reads(
        "-[bdhHIlrRsuUtvVwy] -p= -C= -G= -T= --human --dec=?",
        words=(0, 2),
        word=r"\d+",
        is_endless=_ends_with_number,
        lasts=reports,
    ),
    "lscpu": reads(
        "-[abcJxyBBV] -e=? -p=? -C=? --all --extended=? --parse=? --json --caches=?", words=(0, 0)
    ),
    "lsmem": reads("-[aJPrnbV] -o= -S= --all --json --output= --summary=?", words=(0, 0)),
    "lsmod": reads(words=(0, 0)),
    "modinfo": reads(
        "-[adlpn0] -F= -k= --field= --author --description --parameters",
        words=(1, 10),
        word=r"[\w.-]+",
    ),
    "lspci": reads("-[vknDbtmP] -s= -d=", words=(0, 0)),
    "lsusb": reads("-[vtV] -s= -d=", words=(0, 0)),
    "lsipc": reads("-[aclPtmqsrJeb] -i= -o=", words=(0, 0)),
    "lslocks": reads("-[bJnruV] -o= -p=", words=(0, 0)),
    "lsns": reads("-[Jlnpruw] -o= -t= -p=", words=(0, 1), word=r"\d+"),
    "lsirq": reads("-[JPn] -o= -s= -S", words=(0, 0)),
    "lslogins": reads("-[aceGmnprsuzZ] -o= -l=", words=(0, 1), word=r"[\w.-]+"),
    "lsscsi": reads("-[cdghiklpstuvw]", words=(0, 1)),
    "ipcs": reads("-[aqmsctplub] -i=", words=(0, 0)),
    "dmidecode": reads("-[qu] -s= -t= --string= --type= --quiet --no-sysfs", words=(0, 0)),
    "hwinfo": reads("--short --cpu --memory --disk --network --bios", words=(0, 0)),
    "inxi": reads("-[AbBCdDEfFGIJjlLmMnNopPrRsSuxyzZ] -v=/[0-6]/ -c=", words=(0, 1), word=r"\d+"),
    "sensors": reads("-[ufAj]", words=(0, 3), word=r"[\w.*-]+"),
    "numactl": reads("-[Hs] --hardware --show", words=(0, 0), needs="-H -s --hardware --show"),
    "numastat": reads("-[cmnvsz] -p=", words=(0, 3), word=r"[\w.-]+"),
    "cpupower": Group(
        {
            "frequency-info": reads("-[abcdeflmoprsy]", words=(0, 0)),
            "idle-info": reads("-[eosf]", words=(0, 0)),
        },
        "-c=",
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
    # With a value behind a comma, the name of a log becomes a setting (`scterc,70,70`).
    "smartctl": reads(
        """-[aHiAcxj] -l=/[a-z]+/ -d= -n= -T= -q= --all --health --info --attributes
        --capabilities --xall
        --json=? --scan --scan-open --log=/[a-z]+/ --device= --nocheck=""",
        word=r"[\w/.:-]+",
        opens_disks=True,
    ),
    "hdparm": reads("-[iI]", words=(1, 4), needs="-i -I", opens_disks=True),
    **with_names("fdisk sfdisk", reads("-l -x --list", needs="-l --list", opens_disks=True)),
    "tune2fs": reads("-l", words=(1, 1), needs="-l", opens_disks=True),
    "dumpe2fs": reads("-h", words=(1, 1), needs="-h", opens_disks=True),
    "xfs_info": reads(words=(1, 1), opens_disks=True),
    "swapon": reads(
        "-s --show=? --summary --noheadings --bytes --raw",
        words=(0, 0),
        needs="-s --show --summary",
    ),
    **with_names(
        "pvs vgs lvs",
        reads(
            "-[av] -o=/[+\\w,%*]+/ -O=- -S= --options= --units= --noheadings --separator= "
            "--nosuffix "
            "--reportformat= --all --segments",
            word=r"[\w./-]+",
            opens_disks=True,
        ),
    ),
    **with_names(
        "pvdisplay vgdisplay lvdisplay",
        reads("-[vcCsm] --units= --maps --columns", word=r"[\w./-]+", opens_disks=True),
    ),
    "mdadm": reads(
        "-[DEQ] --detail --examine --query --brief --scan",
        needs="-D -E -Q --detail --examine --query",
        opens_disks=True,
    ),
    "zpool": Group(
        {
            "status": reads(
                "-[deDgiLPpstvxj]", word=r"[\w.:-]+", is_endless=_ends_with_number, lasts=reports
            ),
            "list": reads(
                "-[gHjLpPv] -o= -T=", word=r"[\w.:-]+", is_endless=_ends_with_number, lasts=reports
            ),
            "get": reads("-[Hp] -o=", word=r"[\w.:,@-]+"),
            "history": reads("-[il]", word=r"[\w.:-]+"),
            "iostat": reads(
                "-[gHLpPvlqrwy] -T= -n",
                word=r"[\w.:-]+",
                is_endless=_ends_with_number,
                lasts=reports,
            ),
        }
    ),
    "zfs": Group(
        {
            "diff": ZFS_DIFF,
            "list": reads("-[rHpjv] -d= -o= -s= -S= -t=", word=r"[\w.:/@%-]+"),
            "get": reads("-[rHp] -d= -o= -s= -t=", word=r"[\w.:/@,%-]+"),
        }
    ),
    "lsb_release": reads(
        "-[aidrcsv] --all --description --release --codename --short", words=(0, 0)
    ),
    "crontab": reads("-l -u=", words=(0, 0), needs="-l"),
    **with_names("atq mailq runlevel", reads(words=(0, 0))),
}
