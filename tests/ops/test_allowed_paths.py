"""Below any directory, and in any spelling, what must not be changed is not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.envelope import ToolFailure
from ops.file_edits.allowed_paths import EditablePaths
from safety.commands.proof import prove
from safety.paths.sensitive_paths import SensitivePaths

OWN = Path("/srv/tarsy")
PATHS = EditablePaths(SensitivePaths(), (OWN,), is_here=False)
PROTECTED = (
    "/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/sudoers.d/x", "/etc/ssh/sshd_config",
    "/etc/pam.d/sshd", "/root/.ssh/authorized_keys", "/etc/security/limits.conf", "/etc/pam.conf",
    "/etc/ld.so.preload", "/usr/share/polkit-1/rules.d/a.rules", "/home/a/.rhosts",
)  # fmt: skip
ROOTS = ("/host", "/rootfs", "/mnt/host", "/proc/1/root", "/var/lib/docker/overlay2/ab1/merged")
_parts = st.lists(st.text("abcdxyz0123456789-", min_size=1, max_size=8), max_size=4)


@given(prefix=_parts, path=st.sampled_from(PROTECTED), data=st.data())
def test_below_any_directory_and_in_any_spelling_a_protected_path_is_refused(prefix, path, data):
    detours = st.sampled_from(["", ".", "nowhere/..", "a/b/../.."])
    parts = [*prefix, *path.strip("/").split("/")]
    spelled = "".join(f"/{data.draw(detours)}/{part}" for part in parts)

    with pytest.raises(ToolFailure, match="is not touched"):
        PATHS.check(spelled, writes=True)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("writes", [True, False])
def test_our_own_files_are_found_below_the_root_of_a_machine(root, writes):
    with pytest.raises(ToolFailure):
        PATHS.check(f"{root}{OWN}/manage.py", writes=writes)


@pytest.mark.parametrize(
    "path",
    ["/srv/app/etc/passwd-manager/config.yml", "/opt/app/etc/ssh-tunnel.conf", "/etc/hosts",
     "/srv/tarsy-notes/a.txt", "/var/log/app/app.log", "/mnt/data/app/settings.ini"],
)  # fmt: skip
def test_an_ordinary_file_stays_editable(path):
    PATHS.check(path, writes=True)


@pytest.mark.parametrize(
    "command",
    ["cat /host/etc/shadow", "cat /rootfs/root/.ssh/id_rsa", "cat /mnt/x/etc/kubernetes/admin.conf",
     "head /host/proc/1/environ", "grep -r a /host/etc", "grep -r a /rootfs", "cat /host/dev/sda",
     "grep -r a /var/lib/docker/overlay2/ab1/merged/root"],
)  # fmt: skip
def test_no_command_reads_another_roots_secrets(command):
    assert not prove(command).is_read


@pytest.mark.parametrize(
    "command",
    ["cat /host/var/log/syslog", "grep -r error /var/log/nginx", "grep -r a /mnt/data/app",
     "cat /host/etc/os-release"],
)  # fmt: skip
def test_a_command_reads_another_roots_ordinary_files(command):
    assert prove(command).is_read


@pytest.mark.parametrize("path", ["/a" * 2_000, "/" * 300 + "a", "/" + "a" * 4_096])
def test_a_path_as_no_file_has_it_is_refused_before_it_is_looked_at(path):
    with pytest.raises(ToolFailure, match="at most 4096 of them and 256 directories deep"):
        PATHS.check(path, writes=False)
