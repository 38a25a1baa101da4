"""Stand-ins for the programs that lead elsewhere: they note what they were called with, answer what
was recorded, and run here what they would have run over there."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python} -SE
import json, os, subprocess, sys
here, name = os.path.split(os.path.abspath(__file__))
argv = sys.argv[1:]
with open(f"{{here}}/{{name}}.calls", "a") as calls:
    calls.write(json.dumps({{"argv": argv, "environ": sorted(os.environ)}}) + "\\n")
for answer in json.load(open(f"{{here}}/{{name}}.json")):
    wanted = answer["words"]
    if [word for word in argv if word in wanted] == wanted:
        sys.stdout.write(answer["stdout"]); sys.stderr.write(answer["stderr"])
        sys.exit(answer["exit_code"])
if name == "ssh":
    os.execv("{login}", ["{login}", "-c", argv[-1]])
if "sh" not in argv:
    sys.exit(f"{{name}}: nothing was recorded for {{argv}}")
inner = argv[argv.index("sh"):]
if name != "qm":
    os.execvp(inner[0], inner)
done = subprocess.run(inner, capture_output=True)
print(json.dumps({{"exited": 1, "exitcode": done.returncode, "out-data": done.stdout.decode(),
                   "err-data": done.stderr.decode()}}))
"""


@dataclass
class FakePrograms:
    """A directory of such programs."""

    directory: Path

    def add(self, name: str, login: str = "/bin/sh") -> None:
        self.directory.mkdir(exist_ok=True)
        program = self.directory / name
        program.write_text(_PROGRAM.format(python=sys.executable, login=login))
        program.chmod(0o755)
        (self.directory / f"{name}.json").write_text("[]")

    def answer(
        self,
        name: str,
        words: str | list[str],
        stdout: Any,
        *,
        stderr: str = "",
        exit_code: int = 0,
    ) -> None:
        """What to say to a call with these words in this order. What is said first goes first."""
        text = stdout if isinstance(stdout, str) else json.dumps(stdout)
        file = self.directory / f"{name}.json"
        answers = json.loads(file.read_text())
        answers.append(
            {
                "words": words.split() if isinstance(words, str) else words,
                "stdout": text,
                "stderr": stderr,
                "exit_code": exit_code,
            }
        )
        file.write_text(json.dumps(answers))

    def calls(self, name: str) -> list[dict[str, Any]]:
        file = self.directory / f"{name}.calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def argv(self, name: str) -> list[list[str]]:
        return [call["argv"] for call in self.calls(name)]
