"""Files that grant access, and files that something runs without being asked: told by their paths.

A path is judged wherever it stands in a longer one, because the same tree is met below other
directories too: `/host/etc/pam.d` in a container, `/mnt/sysroot/etc/passwd` on a rescue system,
`/var/lib/docker/overlay2/<id>/merged/etc/sudo.conf` on a host.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from safety.word_lists import word_list, word_set

ACCESS = "it decides who may log in, become root or start the machine"
MAX_PATH = 4096
"""Characters of a path that Linux takes; what is longer is the name of nothing."""

_Parts = tuple[str, ...]


def _sequences(text: str) -> frozenset[_Parts]:
    return frozenset(tuple(path.split("/")) for path in word_list(text))


_ACCESS_TREES = _sequences("""
    pam.d pam-configs polkit-1 sudoers.d apparmor.d selinux sssd dbus-1 grub.d systemd-boot
    etc/security etc/ssh etc/pam etc/tcb etc/krb5.conf.d etc/ldap etc/openldap etc/freeipa etc/ipa
    etc/authselect etc/ld.so.conf.d etc/default/grub.d etc/dracut.conf.d etc/initramfs-tools
    etc/dropbear etc/tinyssh boot/grub boot/grub2 boot/efi boot/loader efi/efi efi/loader
""")
"""Of no file below them may the content be changed."""
_ACCESS_FILES = _sequences("""
    etc/passwd etc/group etc/nsswitch.conf etc/subuid etc/subgid etc/login.defs etc/login.access
    etc/doas.conf etc/pam.conf etc/sudo.conf etc/sudo_logsrvd.conf etc/krb5.conf etc/nslcd.conf
    etc/ldap.conf etc/hosts.equiv etc/hosts.allow etc/hosts.deny etc/nologin run/nologin
    etc/securetty etc/shells etc/ld.so.preload etc/ld.so.conf etc/ld.so.cache etc/fstab
    etc/crypttab etc/inittab etc/default/grub etc/dracut.conf etc/mkinitcpio.conf etc/nixos
    etc/default/useradd etc/adduser.conf etc/deluser.conf etc/environment.d
    sssd.conf sshd_config hosts.equiv ld.so.preload .rhosts .shosts .k5login .k5users .k5identity
    .pam_environment .google_authenticator .yubico .doas.conf
""")
_ACCESS_NAMES = re.compile(r"^(?:vmlinu[xz]|initrd|initramfs|kernel\.img|grub(?:env|\.cfg))")
_BOOT_TREES = frozenset({"boot", "efi"})
_KERNEL_TREES = frozenset({"proc", "sys", "dev"})
_KERNEL_ENTRIES = _sequences("""
    proc/sys proc/sysrq-trigger proc/self proc/thread-self proc/irq proc/bus
    sys/kernel sys/power sys/class sys/block sys/fs sys/module sys/firmware sys/devices sys/bus
    sys/hypervisor sys/dev
""")
_ROOTS = word_set(
    "host hostfs host-fs hostroot host-root rootfs sysroot merged diff chroot snapshot"
)
"""Directories in which a whole machine's root is commonly found."""
_BACKUP = re.compile(r"(?:[-~]|\.(?:bak|old|orig|rpmsave|rpmnew|dpkg-\w+))$")


@dataclass(frozen=True)
class _Runner:
    """What runs the files of some places, and when."""

    sentence: str
    trees: frozenset[_Parts] = frozenset()
    names: re.Pattern[str] | None = None


_RUNNERS = (
    _Runner(
        "cron or at runs it at the times it names",
        _sequences("""
            cron.d cron.hourly cron.daily cron.weekly cron.monthly cron.yearly crontabs spool/cron
            spool/at spool/cronjobs etc/crontab etc/anacrontab etc/periodic etc/fcron etc/cron.allow
            etc/cron.deny
        """),
    ),
    _Runner(
        "the init system starts what it says at the next reload, start or boot",
        _sequences("""
            etc/systemd systemd/system systemd/user systemd/system.conf systemd/user.conf
            systemd/system-generators systemd/user-generators systemd/system-shutdown
            systemd/system-sleep systemd/network
            init.d rc.local etc/rc etc/rc.conf etc/rc.d rc0.d rc1.d rc2.d rc3.d rc4.d rc5.d
            rc6.d rcs.d etc/init etc/inittab etc/sv etc/s6 etc/runit etc/conf.d etc/xinetd.d
            etc/xinetd.conf
            etc/inetd.conf etc/default tmpfiles.d sysusers.d binfmt.d system.conf.d
            launchdaemons launchagents supervisor/conf.d supervisord.d etc/monit etc/cloud
            containers/systemd
        """),
        re.compile(r"\.(?:service|socket|timer|path|mount|automount|target|slice|scope)$"),
    ),
    _Runner(
        "the kernel or its device rules act on it when a device appears or at boot",
        _sequences("""
            udev hotplug.d modprobe.d modules-load.d depmod.d sysctl.d etc/sysctl.conf etc/modules
            etc/acpi etc/pm
        """),
        re.compile(r"\.ko(?:\.[xg]z|\.zst)?$"),
    ),
    _Runner(
        "the network is set up by it, and hooks beside it run then",
        _sequences("""
            networkmanager if-up.d if-down.d if-pre-up.d if-post-down.d networkd-dispatcher
            dhclient-enter-hooks.d dhclient-exit-hooks.d dhcpcd.hooks ppp/ip-up.d ppp/ip-down.d
            etc/network etc/netplan etc/openvpn
        """),
    ),
    _Runner(
        "every shell or session that starts reads it",
        _sequences("""
            etc/profile profile.d etc/bash.bashrc etc/bashrc bash_completion.d etc/zsh etc/zshrc
            etc/zshenv etc/zprofile etc/csh.cshrc etc/csh.login etc/environment environment.d
            etc/fish fish/config.fish fish/conf.d autostart x11/xsession.d x11/xinit etc/skel
            update-motd.d .config/systemd .local/bin
        """),
        re.compile(
            r"^\.(?:.*(?:rc|profile|login|logout|env|aliases)(?:\.local)?|exrc|emacs|gdbinit|"
            r"lldbinit|xsession|gitconfig|tmux\.conf)$"
        ),
    ),
    _Runner(
        "package tools, log rotation or git run hooks from it",
        _sequences("""
            apt.conf.d etc/apt dpkg.cfg.d etc/dpkg yum.repos.d etc/yum etc/dnf etc/zypp pacman.d
            logrotate.d etc/logrotate.conf git/hooks .git/hooks .githooks .husky .git/config
            etc/gitconfig
            kernel/postinst.d kernel/postrm.d kernel/install.d needrestart etc/ca-certificates
            dpkg/info etc/alternatives
        """),
    ),
    _Runner(
        "programs are found and loaded from there",
        _sequences("bin sbin site-packages dist-packages lib/modules lib/systemd"),
        re.compile(
            r"\.(?:so(?:\.[\d.]+)?|sh|bash|zsh|ksh|fish|py|pyc|pth|pl|pm|rb|php|lua|jar|exe|ps1|cgi|"
            r"node)$"
        ),
    ),
)


def find_access_reason(path: str) -> str | None:
    """Why nobody but a person at the machine changes this file; None where nothing says so."""
    parts = _parts(path)
    if not parts:
        return None
    unsaved = (*parts[:-1], _BACKUP.sub("", parts[-1]) or parts[-1])
    is_access = (
        _is_below(parts, _ACCESS_TREES)
        or _ends_with(unsaved, _ACCESS_FILES)
        or _is_below(parts, _ACCESS_FILES)
        or _ACCESS_NAMES.match(parts[-1]) is not None
        or _is_in_tree_of(parts, _BOOT_TREES, _is_mounted_root)
    )
    return ACCESS if is_access else None


def find_kernel_reason(path: str) -> str | None:
    """Why a path is none of a disk's: it shows the kernel, a process or a device."""
    parts = _parts(path)
    is_kernels = (
        _is_in_tree_of(parts, _KERNEL_TREES, _is_named_root)
        or _is_below(parts, _KERNEL_ENTRIES)
        or any(first == "proc" and second.isdigit() for first, second in pairwise(parts))
    )
    return "it is no file of a disk" if is_kernels else None


def find_runner(path: str) -> str | None:
    """What runs this file, or acts on it, without being asked, and when; in a few words."""
    # A repository without a work tree is named like `app.git`.
    parts = tuple(".git" if part.endswith(".git") else part for part in _parts(path))
    if not parts:
        return None
    for runner in _RUNNERS:
        if _is_below(parts, runner.trees):
            return runner.sentence
        if runner.names is not None and runner.names.search(parts[-1]):
            return runner.sentence
    return None


def is_root_of_a_machine(path: str) -> bool:
    """Whether a directory is named as those are in which a whole machine's root is found."""
    return _is_named_root(_parts(path))


def paths_from_inner_roots(path: str) -> Iterator[str]:
    """The path as a machine has it whose root is likely a directory on the way: `/host/etc/x`."""
    parts = tuple(part for part in path.split("/") if part and part != ".")
    left = sum(len(part) + 1 for part in parts)
    first: _Parts = ()
    last: _Parts = ()
    for place, part in enumerate(parts[:-1], start=1):
        left -= len(part) + 1
        above = (*first, *_parts(part))
        # Whether a root is mounted there is told by the last name and how few there are.
        first, last = above[:2], above[2:][-1:] or last
        if left <= MAX_PATH and _is_mounted_root((*first, *last)):
            yield "/" + "/".join(parts[place:])


def _parts(path: str) -> _Parts:
    folded = unicodedata.normalize("NFKC", path).casefold()
    return tuple(part for part in folded.split("/") if part and part != ".")


def _is_below(parts: _Parts, trees: frozenset[_Parts]) -> bool:
    """Whether some directory on the way, or the file itself, is one of these."""
    return any(
        parts[start : start + length] in trees
        for start in range(len(parts))
        for length in (1, 2, 3)
    )


def _ends_with(parts: _Parts, files: frozenset[_Parts]) -> bool:
    return parts[-1:] in files or parts[-2:] in files or parts[-3:] in files


def _is_in_tree_of(parts: _Parts, trees: frozenset[str], is_root: Callable[[_Parts], bool]) -> bool:
    return any(part in trees and is_root(parts[:place]) for place, part in enumerate(parts))


def _is_named_root(parts: _Parts) -> bool:
    """Whether a path is named like the root of a machine; `/root` is the home of root."""
    return not parts or parts[-1] in _ROOTS or (parts[-1] == "root" and len(parts) > 1)


def _is_mounted_root(parts: _Parts) -> bool:
    """Whether a disk with a machine's root may well be mounted there."""
    return _is_named_root(parts) or (parts[0] in ("mnt", "media", "target") and len(parts) <= 2)
