"""Files as things: what there is, who owns it, what holds it, and what archives have in them."""

import re

from safety.commands.durations import waits
from safety.commands.grammar import Parsed
from safety.commands.policy import Table, reads, with_names
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
_TAR_OLD = re.compile(r"[tvzjJ]*t[tvzjJ]*f?")


def _check_tar(parsed: Parsed) -> None:
    if parsed.has("-t", "--list"):
        if ":" in "".join(parsed.values("-f", "--file")):
            raise Refused("tar would fetch the archive from another machine")
        return
    if not (parsed.words and _TAR_OLD.fullmatch(parsed.words[0]) and not parsed.options):
        raise Refused("tar is a read only with -t")
    if ":" in "".join(parsed.words[1:2]):
        raise Refused("tar would fetch the archive from another machine")


def _check_locate(parsed: Parsed) -> None:
    if not parsed.words and not parsed.has("-S", "--statistics"):
        raise Refused("locate lacks a pattern")


def _waits_without_limit(parsed: Parsed) -> bool:
    return not any(int(seconds) for seconds in parsed.values("-t", "--timeout"))


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
    "inotifywait": reads(
        "-[mrq] -e= -t=/\\d+/ --monitor --recursive --quiet --event= --timeout=/\\d+/ "
        "--format= --timefmt= --exclude=",
        words=(1, 10),
        endless="-m --monitor",
        is_endless=_waits_without_limit,
        lasts=waits("-t", "--timeout"),
    ),
}
