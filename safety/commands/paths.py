"""Which files a command reads, as far as its words say so, and whether they may be read."""

import os
import re
from fnmatch import fnmatchcase

from safety.commands.refusal import Refused, SensitivePath
from safety.paths.powerful_paths import is_root_of_a_machine, paths_from_inner_roots
from safety.paths.sensitive_paths import EXAMPLES_OF_SECRETS, SensitivePaths
from safety.word_lists import word_set

# Endless, but harmless.
ENDLESS_DEVICES = frozenset({"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"})
_HARMLESS_DEVICES = ENDLESS_DEVICES | {"/dev/null", "/dev/stdin"}

# Reading one of these whole reads keys and passwords of the machine, or its processes.
_WIDE = word_set("""
    / /etc /root /home /proc /sys /dev /run /var /var/run /var/lib /boot /mnt /media
    /etc/ssl /etc/pki /etc/pve /sys/kernel /var/lib/docker /var/lib/sss /sys/firmware
    /var/backups /var/lib/docker/containers /var/lib/docker/overlay2 /var/lib/containers
    /var/lib/containerd /var/lib/cloud /var/lib/jenkins /var/spool /var/spool/cron /run/user
    /etc/default /etc/sysconfig /etc/cron.d
""")
# Where programs keep their settings, tokens among them, in any home.
_SETTINGS = word_set(".config .local .cache .var snap")
# A process as a whole: its memory, environment and open files.
_PROCESS = re.compile(r"/proc/(?:\d+|self|thread-self)(?:/task(?:/\d+)?)?")
# What a question about disks may open. Opening another device can already change something.
_DISK = re.compile(
    r"/dev/(?:(?:sd|hd|vd|xvd|nvme|ng|md|dm-|mmcblk|sr|sg|loop|nbd|rbd|zd|drbd|bcache)[\w.-]*"
    r"|disk/by-[\w.:@+/-]+|bus/\d+"
    r"|(?!(?:bus|input|snd|dri|char|net|cpu|pts|vfio|usb|shm|fd|serial|v4l|infiniband)/)"
    r"[\w.+-]+/[\w.+-]+)"
)
# Where a list is printed, not what is in the files.
_LISTS_OF_A_PROCESS = re.compile(r"/proc/(?:\d+|self)/(?:fd/?|exe|cwd)")
# By its whole path. A `.pem` may as well be a key, or hold one behind its certificate.
_CERTIFICATE = re.compile(
    r"(?!.*(?:key|secret|token|pass|private|/\.))(?:.*/)?"
    r"(?:[^/]+\.(?:crt|cer|csr|crl)|[^/]*(?:cert|chain|crl)[^/]*\.pem)",
    re.IGNORECASE,
)
# They find everything, or settings of any kind, and not keys in particular.
_WIDE_PATTERNS = word_set("* ** *.* *config* *config *conf*")
_SEPARATORS = re.compile(r"[=:,]")
_TEXTS_OF_OTHER_KINDS = ("http://", "https://")


class PathJudge:
    """Refuses what is never read out. Relative paths are read from the root directory."""

    def __init__(self, sensitive: SensitivePaths) -> None:
        self._sensitive = sensitive

    def judge_content(self, path: str) -> None:
        """A file whose content the command prints."""
        if path in ("", "-"):
            return
        full = _absolute(path)
        if _is_device(full) and full not in _HARMLESS_DEVICES:
            raise Refused(f"{path} is a device; reading it can change or reveal anything")
        # Of a socket nothing can be read; what is behind it takes orders.
        if full.endswith(".sock"):
            raise Refused(f"{path} is a socket")
        self._judge(path, full)

    def judge_certificate(self, path: str) -> None:
        """A file of which only the certificate is printed, wherever it lies."""
        full = os.path.normpath(_absolute(path))
        # What lies behind a process is judged as a whole, or not looked at.
        is_plain = not full.startswith("/proc/") and not _is_device(full)
        if not is_plain or not _CERTIFICATE.fullmatch(full):
            self.judge_content(path)
        elif self._sensitive.is_protected(full):
            raise SensitivePath(f"{path} belongs to this product's own state")

    def judge_disk(self, word: str) -> None:
        """What a program opens as a disk, if it is a device at all."""
        full = os.path.normpath(_absolute(word))
        if _is_device(full) and not _DISK.fullmatch(full):
            raise Refused(f"{word} is not a disk; opening it can change or reveal anything")

    def judge_pattern(self, pattern: str) -> None:
        """Which files are read, by a name or by a pattern of names (`*.conf`)."""
        if choice := re.search(r"\{([^{}]*)\}", pattern):
            for part in choice[1].split(","):
                self.judge_pattern(pattern[: choice.start()] + part + pattern[choice.end() :])
            return
        name = pattern.casefold().rpartition("/")[2].lstrip("!")
        if not re.search(r"[*?\[{]", name):
            self.judge_content(pattern)
        elif name not in _WIDE_PATTERNS and any(
            fnmatchcase(known, name) for known in EXAMPLES_OF_SECRETS
        ):
            raise SensitivePath(f"{pattern} finds files with keys or passwords")

    def judge_mention(self, word: str) -> None:
        """Any word: where it is a path from the root or the working directory, or ends in one."""
        if "/" not in word or word.startswith(_TEXTS_OF_OTHER_KINDS):
            return
        for text in {word, *_SEPARATORS.split(word)}:
            if text.startswith(("/", "./", "../")) and not _LISTS_OF_A_PROCESS.fullmatch(text):
                self._judge(text, _absolute(text))

    def judge_tree(self, path: str) -> None:
        """A directory that is read with everything below it."""
        self.judge_content(path)
        full = os.path.normpath(_absolute(path))
        # The directory that is named may be a link, which is followed.
        if is_wide(full) or is_wide(os.path.realpath(full)):
            raise SensitivePath(
                f"{path} as a whole holds keys and passwords; name a directory below it"
            )

    def _judge(self, path: str, full: str) -> None:
        reason = self._sensitive.reason(full)
        if reason:
            raise SensitivePath(f"{path} is not read out: {reason}")


def is_wide(path: str) -> bool:
    """Whether a directory, named without links, holds secrets among everything else in it.

    Below the root of another machine the same directories do.
    """
    every = (path, *paths_from_inner_roots(path))
    return is_root_of_a_machine(path) or any(_is_wide_here(each) for each in every)


def _is_wide_here(path: str) -> bool:
    parts = path.strip("/").split("/")
    if path in _WIDE or _PROCESS.fullmatch(path) or parts[-1] in _SETTINGS:
        return True
    return len(parts) == 2 and parts[0] == "home"


def _is_device(path: str) -> bool:
    spelled = os.path.normpath(path)
    every = (path, spelled, *paths_from_inner_roots(spelled))
    return any(each.startswith("/dev/") for each in every)


def _absolute(path: str) -> str:
    # Of two slashes in front, the system's own reading of paths keeps both.
    return f"/{path.lstrip('/')}"
