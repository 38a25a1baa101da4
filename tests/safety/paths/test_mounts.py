"""What is mounted in several places is found in each of them."""

from pathlib import Path

import pytest

from safety.paths.mounts import find_other_paths, read_mounts

TABLE = r"""
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
28 27 254:0 /srv/tarsy/var /mnt/back\040up rw,relatime - ext4 /dev/vda rw
29 27 254:0 /etc/passwd /srv/users rw,relatime - ext4 /dev/vda rw
30 27 254:1 / /data rw,relatime - ext4 /dev/vdb rw
31 27 254:1 /app /srv/app rw,relatime - ext4 /dev/vdb rw
"""


def others(path: str, directory: Path) -> set[str]:
    table = directory / "mountinfo"
    table.write_text(TABLE.strip())
    return set(find_other_paths(path, read_mounts(table)))


def test_a_directory_is_found_where_else_it_is_mounted(tmp_path):
    assert others("/mnt/back up/key", tmp_path) == {"/srv/tarsy/var/key"}
    assert others("/srv/tarsy/var/key", tmp_path) == {"/mnt/back up/key"}
    assert others("/srv/app/a.conf", tmp_path) == {"/data/app/a.conf"}


def test_a_single_file_is_found_where_else_it_is_mounted(tmp_path):
    assert others("/srv/users", tmp_path) == {"/etc/passwd"}


def test_a_file_that_is_mounted_once_has_no_other_path(tmp_path):
    assert others("/etc/hosts", tmp_path) == set()
    assert others("/data/b", tmp_path) == set()


def test_without_a_table_nothing_is_mounted_elsewhere(tmp_path):
    assert read_mounts(tmp_path / "none") == ()


def test_a_mount_that_a_later_one_hides_does_not_hide_what_the_later_one_shows(tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "28 27 254:1 / /mnt/a/b rw - ext4 /dev/vdb rw\n"
        "29 27 254:0 /etc /mnt/a rw - ext4 /dev/vda rw\n"
    )

    assert "/etc/b/pam.conf" in find_other_paths("/mnt/a/b/pam.conf", read_mounts(table))


def test_of_mounts_at_one_point_and_within_each_other_the_topmost_holds_the_file(tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "28 27 254:0 /etc /mnt rw - ext4 /dev/vda rw\n"
        "29 28 254:0 /srv /mnt rw - ext4 /dev/vda rw\n"
        "30 29 254:0 /opt /mnt/inner rw - ext4 /dev/vda rw\n"
    )
    mounts = read_mounts(table)

    assert set(find_other_paths("/mnt/x", mounts)) == {"/srv/x"}
    assert set(find_other_paths("/mnt/inner/x", mounts)) == {"/opt/x"}


@pytest.mark.parametrize("sign", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_a_sign_that_could_end_a_line_hides_no_mount(sign, tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
        f"28 27 254:0 /etc /mnt/a{sign}b rw - ext4 /dev/vda rw\n",
        encoding="utf-8",
        newline="\n",
    )

    assert set(find_other_paths(f"/mnt/a{sign}b/x", read_mounts(table))) == {"/etc/x"}
