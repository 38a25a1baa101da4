"""Installs what pip is asked for, and says how far it is: `python .ci/install.py -r FILE ...`.

pip alone says either nothing for minutes or a line for each file.
"""

import re
import subprocess
import sys
from collections import deque
from pathlib import Path

_PIP = (
    "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--require-hashes",
    "--progress-bar", "off",
)  # fmt: skip
_PINNED = re.compile(r"^[A-Za-z0-9][\w.\[\]-]*==", re.MULTILINE)
_BEGUN = re.compile(r"(?:Collecting|Processing|Requirement already satisfied:) ")
_EVERY = 20
_LAST_WORDS = 30


def main(arguments: list[str]) -> int:
    files = [Path(name) for name in arguments if name.endswith(".txt")]
    total = len({name for file in files for name in _PINNED.findall(file.read_text())})
    pip = subprocess.Popen(
        [sys.executable, *_PIP, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    assert pip.stdout is not None
    said: deque[str] = deque(maxlen=_LAST_WORDS)
    count = 0
    for line in pip.stdout:
        said.append(line)
        if _BEGUN.match(line):
            count += 1
            if count % _EVERY == 0:
                print(f"  {count} of about {total} packages", flush=True)
        elif line.startswith("Installing collected packages"):
            print("  all are here, unpacking them: a minute or two", flush=True)
    code = pip.wait()
    if code:
        sys.stderr.writelines(said)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
