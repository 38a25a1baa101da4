"""Files that grant access or run by themselves are known by their paths, below any root."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safety.paths.powerful_paths import find_access_reason, find_kernel_reason, find_runner
from tests.cases import for_each

ACCESS = (
    "/etc/passwd", "/etc/passwd-", "/etc/group.bak", "/etc/pam.d/sshd", "/usr/lib/pam.d/login",
    "/etc/pam.conf", "/usr/share/polkit-1/actions/a.policy", "/etc/polkit-1/rules.d/1.rules",
    "/etc/sudo.conf", "/etc/sudoers.d/x", "/etc/hosts.equiv", "/root/.rhosts", "/home/a/.shosts",
    "/home/a/.k5login", "/etc/sssd/sssd.conf", "/etc/krb5.conf", "/etc/krb5.conf.d/x",
    "/etc/security/access.conf", "/etc/login.access", "/etc/nologin", "/etc/ssh/sshd_config",
    "/usr/local/etc/ssh/sshd_config", "/boot/vmlinuz", "/boot/config-6.1", "/efi/EFI/x",
    "/etc/default/grub", "/etc/grub.d/40_custom", "/etc/ld.so.preload", "/etc/ld.so.conf.d/x.conf",
    "/etc/nsswitch.conf", "/etc/fstab", "/etc/dbus-1/system.d/x.conf", "/etc/PAM.D/sshd",
)  # fmt: skip
RUN = (
    "/etc/cron.d/x", "/etc/crontab", "/var/spool/cron/root", "/var/spool/cron/crontabs/root",
    "/etc/systemd/system/x.service", "/usr/lib/systemd/system/x.timer",
    "/home/a/.config/systemd/user/x.service", "/etc/init.d/x", "/etc/rc.local",
    "/etc/udev/rules.d/9.rules", "/etc/modprobe.d/x.conf", "/etc/sysctl.d/9.conf",
    "/etc/sysctl.conf", "/etc/profile", "/etc/profile.d/x.sh", "/home/a/.bashrc",
    "/home/a/.bash_profile", "/root/.zshrc", "/root/.profile", "/home/a/.bash_aliases",
    "/home/a/.gitconfig", "/srv/repo/.git/hooks/post-merge", "/srv/repo.git/hooks/update",
    "/etc/logrotate.d/x", "/etc/apt/apt.conf.d/99x", "/etc/NetworkManager/dispatcher.d/9x",
    "/etc/network/if-up.d/x", "/home/a/.config/autostart/x.desktop", "/usr/local/bin/backup",
    "/srv/app/deploy.sh", "/srv/app/main.py", "/usr/lib/libx.so.1.2", "/etc/environment",
    "/etc/update-motd.d/00-x", "/etc/xinetd.d/x",
)  # fmt: skip
ORDINARY = (
    "/srv/app/config.yml", "/srv/app/etc/passwd-manager/config.yml", "/opt/app/etc/ssh-tunnel.conf",
    "/etc/nginx/nginx.conf", "/etc/hosts", "/etc/resolv.conf", "/srv/app/boot/config.yml",
    "/home/a/notes.txt", "/var/lib/app/settings.ini", "/srv/dev/app.conf", "/home/a/proc/notes.txt",
    "/etc/mysql/my.cnf", "/mnt/data/dev/app.conf", "/srv/sys/readme",
)  # fmt: skip
KERNEL = (
    "/proc/1/status", "/sys/power/state", "/dev/sda", "/host/proc/sysrq-trigger",
    "/rootfs/sys/kernel/x", "/host/dev/sda", "/proc/1/root/etc/hosts", "/mnt/a/proc/sys/kernel/x",
)  # fmt: skip
ROOTS = (
    "/host", "/rootfs", "/mnt/sysroot", "/proc/1/root", "/var/lib/docker/overlay2/ab12/merged",
    "/media/usb", "/srv/restore/of/some/machine",
)  # fmt: skip


@for_each(ACCESS)
def test_a_file_that_grants_access_is_known(path):
    assert find_access_reason(path)


@for_each(RUN)
def test_a_file_that_runs_by_itself_is_known(path):
    assert find_runner(path)


@pytest.mark.parametrize("path", ORDINARY)
def test_an_ordinary_file_is_none_of_them(path):
    assert find_access_reason(path) is None
    assert find_runner(path) is None
    assert find_kernel_reason(path) is None


@pytest.mark.parametrize("path", KERNEL)
def test_what_the_kernel_shows_is_no_file_of_a_disk(path):
    assert find_kernel_reason(path)


@given(root=st.sampled_from(ROOTS), path=st.sampled_from(ACCESS))
def test_below_another_root_a_file_grants_access_as_well(root, path):
    # A directory that nothing names as a root may have a `boot` of its own.
    if path.startswith("/boot/config") and root.startswith("/srv"):
        return
    assert find_access_reason(f"{root}{path}")


@given(root=st.sampled_from(ROOTS), path=st.sampled_from(RUN))
def test_below_another_root_a_file_runs_by_itself_as_well(root, path):
    assert find_runner(f"{root}{path}")


@given(path=st.sampled_from(ACCESS), data=st.data())
def test_no_spelling_with_dots_and_slashes_hides_a_file(path, data):
    parts = path.strip("/").split("/")
    between = data.draw(st.lists(st.sampled_from(["/", "//", "/./"]), min_size=len(parts),
                                 max_size=len(parts)))  # fmt: skip
    assert find_access_reason("".join(gap + part for gap, part in zip(between, parts, strict=True)))
