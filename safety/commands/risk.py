"""How much a command that is not a read could break, for the person who is asked to approve it."""

import re
from enum import StrEnum

from safety.word_lists import word_set


class Risk(StrEnum):
    READ_ONLY = "read_only"
    MEDIUM_WRITE = "medium_write"
    HIGH_WRITE = "high_write"


_HIGH_PROGRAMS = word_set("""
    rm rmdir shred shutdown reboot poweroff halt init telinit apt apt-get yum dnf pacman apk
    brew kill killall pkill dd mkswap fdisk parted sfdisk wipefs iptables ip6tables nft
    firewall-cmd ufw truncate chmod chown chgrp useradd userdel usermod passwd chpasswd
    visudo vipw mount umount modprobe rmmod insmod sudo su doas service
""")
_HIGH = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(sorted(map(re.escape, _HIGH_PROGRAMS)))})(?![\w-])"
    r"|(?<![\w-])mkfs"
    r"|\bsystemctl\b.*\b(?:restart|stop|start|enable|disable|mask|isolate)\b"
    r"|\b(?:pip3?|npm|cargo|gem)\s+(?:un)?install\b"
    r"|\b(?:docker|podman)\s+(?:\S+\s+)?(?:rm|stop|kill|restart|prune)\b"
    r"|\bkubectl\b.*\b(?:delete|drain|replace)\b"
    r"|\bsysctl\b.*(?:-w|=)|\bcrontab\s+-|\bfind\b.*-(?:delete|exec)"
    r"|/dev/tcp/",
    re.IGNORECASE | re.DOTALL,
)
_HARMLESS_REDIRECT = re.compile(r"[12&]?>>?\s*/dev/null|[12]?>&[12]")


def judge_risk(command: str) -> Risk:
    """The risk of a command that is not a read. A guess from its words: it only informs."""
    if _HIGH.search(command) or ">" in _HARMLESS_REDIRECT.sub("", command):
        return Risk.HIGH_WRITE
    return Risk.MEDIUM_WRITE
