"""A machine that holds nothing but what a scene puts on it, and whose clock can be turned."""

import ctypes
import os
import shutil
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

_OF_ITS_OWN = (
    "/run", "/srv", "/opt", "/var/log", "/var/www", "/var/lib/postgresql", "/var/lib/redis",
    "/var/lib/rabbitmq", "/var/lib/nginx", "/etc/nginx", "/etc/shop",
)  # fmt: skip
_CLOCK = Path("/run/clock")
_CLOCK_LIBRARY = Path("/run/clock.so")
_PATIENCE = 60.0
_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""File systems, name, messages, processes and network: CLONE_NEWNS and so on of sched.h."""


def run_apart(work: Callable[[], str]) -> str:
    """What `work` returns in a process with namespaces of its own; nothing where it fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        if ctypes.CDLL(None, use_errno=True).unshare(_NAMESPACES) != 0:
            print(os.strerror(ctypes.get_errno()), file=sys.stderr)
            os._exit(1)
        # Only a child is in the new namespace of processes, and everything ends with it.
        first = os.fork()
        os._exit(_work_as_first(work, writing) if first == 0 else os.waitpid(first, 0)[1])
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def _work_as_first(work: Callable[[], str], writing: int) -> int:
    try:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
        text = work()
    except BaseException:
        traceback.print_exc()
        return 1
    with os.fdopen(writing, "w", encoding="utf-8") as answer:
        answer.write(text)
    return 0


class Machine:
    """Namespaces of its own: file systems, network, processes and name. It ends with its process,
    and everything that runs on it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def make(self) -> None:
        self.run("hostname", self.name)
        self.run("ip", "link", "set", "lo", "up")
        nginx = [(path, path.read_bytes()) for path in Path("/etc/nginx").glob("*.types")]
        self._age_settings()
        for path in _OF_ITS_OWN:
            self.mount(path, "1g")
        self.mount("/dev/shm", "1g", mode="1777")
        for path, content in nginx:
            path.write_bytes(content)
        _CLOCK.write_bytes(bytes(8))
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", _CLOCK_LIBRARY, source], check=True)

    def _age_settings(self) -> None:
        """What was set up on the machine that lends its programs is no change of this one."""
        copy = Path("/mnt/etc")
        self.mount("/mnt", "200m")
        shutil.copytree("/etc", copy, symlinks=True, ignore_dangling_symlinks=True)
        (copy / "hosts").write_text(f"127.0.0.1 localhost {self.name}\n")
        self.run("mount", "--bind", copy, "/etc")
        self.run("find", "/etc", "-exec", "touch", "-h", "-d", "40 days ago", "{}", "+")

    def mount(self, path: str | Path, size: str, *, mode: str = "755") -> None:
        Path(path).mkdir(parents=True, exist_ok=True)
        self.run("mount", "-t", "tmpfs", "-o", f"size={size},mode={mode}", "tmpfs", path)

    def run(self, *argv: str | Path, user: str = "", may_fail: bool = False) -> str:
        done = subprocess.run(
            self._words(argv, user), capture_output=True, text=True, env=self._environment()
        )
        if done.returncode and not may_fail:
            raise RuntimeError(f"{argv}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(
        self, name: str, *argv: str | Path, user: str = "", log: str = "", **more: str
    ) -> None:
        where = Path(log or f"/run/{name}.log")
        where.parent.mkdir(parents=True, exist_ok=True)
        with where.open("ab") as output:
            self._running[name] = subprocess.Popen(
                self._words(argv, user), stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                env={**self._environment(), **more}, start_new_session=True,
            )  # fmt: skip

    def end(self, name: str) -> None:
        self._running[name].kill()
        self._running.pop(name).wait()

    def ended(self, name: str) -> bool:
        return self._running[name].poll() is not None

    def turn_clock_back(self, by: str) -> None:
        """What runs here believes from now on that it is so much earlier: `40m`, `3d`, `0`."""
        seconds = int(by.rstrip("mhd")) * {"m": 60, "h": 3600, "d": 86400}.get(by[-1], 1)
        with _CLOCK.open("r+b") as file:
            file.write(struct.pack("=q", -seconds))

    def wait_until(self, is_so: Callable[[], object], what: str) -> None:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                if is_so():
                    return
            except Exception:
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: {what} did not come")
            time.sleep(0.05)

    def wait_for_port(self, port: int) -> None:
        self.wait_until(lambda: f":{port} " in self.run("ss", "-ltn"), f"port {port}")

    def write(self, path: str, text: str, mode: int = 0o644) -> Path:
        where = Path(path)
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)
        where.chmod(mode)
        return where

    def stand_in(self, program: str, prints: str) -> None:
        """A program that is not on the machine that lends the others, and what it prints."""
        self.mount("/usr/local/sbin", "1m")
        text = self.write(f"/run/{program}.txt", prints)
        self.write(f"/usr/local/sbin/{program}", f"#!/bin/sh\nexec cat {text}\n", 0o755)

    def give_to(self, user: str, *paths: str) -> None:
        for path in paths:
            Path(path).mkdir(parents=True, exist_ok=True)
            shutil.chown(path, user, user)

    def _words(self, argv: tuple[str | Path, ...], user: str) -> list[str]:
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"]
        has_clock = _CLOCK_LIBRARY.exists()
        clock = ["env", f"LD_PRELOAD={_CLOCK_LIBRARY}"] if has_clock else []
        return [*(as_user if user else ()), *clock, *map(str, argv)]

    def _environment(self) -> Mapping[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": "/root",
            "LAB_CLOCK": str(_CLOCK),
        }
