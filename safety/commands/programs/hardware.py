"""Hardware and disks: what is built in, how it does, and how storage is laid out on it."""

from safety.commands.durations import reports, reports_for_ever
from safety.commands.grammar import Parsed
from safety.commands.policy import Group, Table, reads, with_names
from safety.commands.refusal import Refused


def _check_snapshots(parsed: Parsed) -> None:
    # With one name, or one that is no snapshot, it makes a snapshot of its own to compare with.
    if not all("@" in word for word in parsed.words):
        raise Refused("zfs diff is a read only between two snapshots")


HARDWARE: Table = {
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
                "-[deDgiLPpstvxj]", word=r"[\w.:-]+", is_endless=reports_for_ever, lasts=reports
            ),
            "list": reads(
                "-[gHjLpPv] -o= -T=", word=r"[\w.:-]+", is_endless=reports_for_ever, lasts=reports
            ),
            "get": reads("-[Hp] -o=", word=r"[\w.:,@-]+"),
            "history": reads("-[il]", word=r"[\w.:-]+"),
            "iostat": reads(
                "-[gHLpPvlqrwy] -T= -n",
                word=r"[\w.:-]+",
                is_endless=reports_for_ever,
                lasts=reports,
            ),
        }
    ),
    "zfs": Group(
        {
            "diff": reads("-[FHth]", words=(2, 2), word=r"[\w.:/@%-]+", check=_check_snapshots),
            "list": reads("-[rHpjv] -d= -o= -s= -S= -t=", word=r"[\w.:/@%-]+"),
            "get": reads("-[rHp] -d= -o= -s= -t=", word=r"[\w.:/@,%-]+"),
        }
    ),
}
