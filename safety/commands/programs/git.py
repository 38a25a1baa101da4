"""git, with what a repository's own configuration could run taken away (see `running.py`)."""

import re
from collections.abc import Iterator
from dataclasses import replace

from safety.commands.contents import refuse_lone_values
from safety.commands.grammar import Parsed
from safety.commands.languages.git_formats import check_git_formats
from safety.commands.paths import is_wide
from safety.commands.policy import Group, Table, reads
from safety.commands.refusal import Refused
from safety.paths.sensitive_paths import EXAMPLES_OF_SECRETS

_REVISION = r"[\w.:/@{}^~%+*,=\[\] -]+"
_LOG = """
    -[ipuwbzsM] -n=/\\d+/ -S=- -G=- -L= -U=/\\d+/ --oneline --graph --all --decorate=?
    --max-count=/\\d+/
    --skip=/\\d+/ --since=- --until=- --after=- --before=- --author=- --committer=- --grep=- --patch
    --stat=? --numstat --shortstat --name-only --name-status --no-merges --merges --pretty=?
    --format=
    --date= --abbrev-commit --no-abbrev-commit --abbrev=? --follow --reverse --first-parent --cached
    --staged --no-color --color=? --ignore-space-change --ignore-all-space --word-diff=?
    --color-words=? --word-diff-regex=-
    --diff-filter= --no-patch --unified=/\\d+/ --summary --raw --no-renames --find-renames=?
    --source
    --tags=? --branches=? --remotes=? --left-right --cherry-pick --topo-order --date-order --check
    --quiet --exit-code --minimal --patience --histogram --no-ext-diff --no-textconv --full-index
    --no-prefix --compact-summary --dirstat --no-decorate --invert-grep --walk-reflogs --no-notes
    --merge-base --count --objects
"""
_PARTS = "--word-diff --color-words --word-diff-regex"
# In front of a pattern of paths: `:(icase)`, `:/`, `:!`.
_MAGIC = re.compile(r"^:(?:\([^)]*\)|[/!^]+)")
_HASH = re.compile(r"[0-9a-fA-F]{4,64}")
# A driver named by the repository would be run otherwise.
_PLAIN = ("--no-ext-diff", "--no-textconv", "--submodule=short")
# A submodule has a configuration of its own, which nothing of this reaches.
_ALONE = ("--ignore-submodules=all",)


def _check_format(parsed: Parsed) -> None:
    check_git_formats(parsed.values("--format", "--pretty"))


def _named(parsed: Parsed) -> Iterator[str]:
    """The files of a repository that are named: `HEAD:x`, `-L1,5:x`, behind `--`, or x as a word.

    A word without a dot is more likely a branch, unless it is the very name of a file with keys.
    """
    for word in parsed.behind:
        yield from _paths_of(word)
    for word in (*parsed.words, *parsed.values("-L")):
        bare = _MAGIC.sub("", word)
        name = bare.rpartition("/")[2]
        if ".." in bare and ":" not in bare and ".." not in bare.split("/"):
            continue
        if ":" in word or re.search(r"[.*?\[]", name) or name in EXAMPLES_OF_SECRETS:
            yield from _paths_of(word)


def _paths_of(word: str) -> Iterator[str]:
    """The path behind a revision or the signs of a pattern, and the directory that it lies in."""
    path = _MAGIC.sub("", word).rpartition(":")[2].lstrip("/")
    directory, _, name = path.rpartition("/")
    if name:
        yield f"/repository/{path}"
    if directory:
        yield f"/repository/{directory}"


def _named_in_log(parsed: Parsed) -> Iterator[str]:
    """Without a patch, a log says only who changed a file."""
    if parsed.has("-p", "-u", "-U", "--patch", "--unified", "-L", "--check"):
        yield from _named(parsed)


def _named_in_search(parsed: Parsed) -> Iterator[str]:
    words = parsed.words if parsed.has("-e") else parsed.words[1:]
    yield from _named(replace(parsed, options=(), words=words))


def _check_object(parsed: Parsed) -> None:
    if parsed.has("-p") and any(map(_HASH.fullmatch, parsed.words)):
        raise Refused(
            "the hash may be that of any file; name it by its path behind a revision (HEAD:path), "
            "or say what it is (HASH^{commit}, HASH^{tree})"
        )


def _check_diff(parsed: Parsed) -> None:
    """Two paths of which one is in no repository are compared with all that is in them."""
    _check_format(parsed)
    for word in parsed.words:
        if word.startswith("/") or ".." in word.split("/") or is_wide(f"/{word.strip('/')}"):
            raise Refused("git would compare files that belong to no repository")


def _check_branch(parsed: Parsed) -> None:
    _check_format(parsed)
    lists = ("--list", "--merged", "--no-merged", "--contains", "--no-contains", "--points-at")
    if parsed.words and not parsed.has(*lists):
        raise Refused("git branch with a name makes a branch")


def _check_tag(parsed: Parsed) -> None:
    _check_format(parsed)
    if parsed.words and not parsed.has("-l", "--list"):
        raise Refused("git tag with a name makes a tag")


def _check_config(parsed: Parsed) -> None:
    limit = 0 if parsed.has("-l", "--list") else 2 if parsed.has("--get", "--get-all") else 1
    if len(parsed.words) > limit or (limit and not parsed.words):
        raise Refused("git config with a value sets it")
    if parsed.has("-z", "--null") and not parsed.has("--name-only"):
        raise Refused("names would be divided from their values: leave out -z")
    if parsed.has("--get-regexp"):
        return
    if any(
        word in ("edit", "set", "unset", "rename-section", "remove-section")
        for word in parsed.words
    ):
        raise Refused("this sub-command of git config changes it")
    if not parsed.has("-l", "--list", "--name-only"):
        refuse_lone_values(parsed.words[:1])


_log = reads(
    _LOG,
    numbers=True,
    word=_REVISION,
    hardening=_PLAIN,
    check=_check_format,
    contents=_named_in_log,
    parts=_PARTS,
)
_show = replace(_log, contents=_named)
_diff = replace(_show, files_from=0, check=_check_diff, hardening=(*_PLAIN, *_ALONE))

GIT: Table = {
    "git": Group(
        {
            "log": _log,
            **dict.fromkeys(("show", "whatchanged"), _show),
            "diff": _diff,
            **dict.fromkeys(
                ("diff-tree", "diff-index", "diff-files"),
                reads(
                    f"{_LOG} -r -t --root --no-commit-id",
                    word=_REVISION,
                    words=(0, 20),
                    hardening=(*_PLAIN, *_ALONE),
                    check=_check_format,
                    contents=_named,
                    parts=_PARTS,
                ),
            ),
            "rev-list": reads(_LOG, numbers=True, word=_REVISION, check=_check_format),
            "shortlog": reads(
                "-[sne] -w=? --summary --numbered --email --since=- --until=- --no-merges",
                word=_REVISION,
                words=(1, 5),
                parts="-w",
            ),
            "status": reads(
                "-[sbuz] --short --branch --porcelain=? --untracked-files=? --ignored=? "
                "--long --show-stash --ahead-behind",
                word=r"[\w./-]+",
                hardening=_ALONE,
            ),
            "blame": reads(
                "-[lstfnpcewMC] -L= --since=- --date= --porcelain --line-porcelain --show-email",
                words=(1, 3),
                word=_REVISION,
                hardening=("--no-textconv",),
                contents=_named,
                parts="-p --porcelain --line-porcelain",
            ),
            "rev-parse": reads(
                """-q --short=? --abbrev-ref --verify --show-toplevel --git-dir
                --is-inside-work-tree
                --show-prefix --all --branches --tags --symbolic-full-name --is-bare-repository
                --absolute-git-dir --quiet""",
                word=_REVISION,
            ),
            "branch": reads(
                """-[arv] --all --remotes --list --show-current --merged=? --no-merged=? --contains=
                --no-contains= --points-at= --sort=- --format= --no-color --color=? --verbose
                --column=? --no-column --abbrev=?""",
                word=_REVISION,
                check=_check_branch,
            ),
            "tag": reads(
                "-l -n=? --list --sort=- --format= --contains= --points-at= --merged=",
                word=_REVISION,
                check=_check_tag,
            ),
            "remote": Group(
                {"get-url": reads("--all --push", words=(1, 1), word=r"[\w.-]+")},
                "-v --verbose",
                bare=reads("-v --verbose", words=(0, 0)),
            ),
            "stash": Group({"list": _log, "show": _show}),
            "reflog": Group({"show": _log}, "-n=/\\d+/", bare=_log),
            "ls-files": reads(
                "-[cdmosiutvz] --cached --deleted --modified --others --stage --unmerged "
                "--exclude-standard --full-name --error-unmatch --eol",
                word=r"[\w./*-]+",
            ),
            "ls-tree": reads(
                "-[rdtlz] --name-only --name-status --long --full-name --full-tree",
                words=(1, 20),
                word=_REVISION,
            ),
            "describe": reads(
                "--tags --all --always --dirty=? --long --abbrev=? --contains --match= "
                "--exact-match",
                words=(0, 2),
                word=_REVISION,
            ),
            "cat-file": reads(
                "-[tsep]",
                words=(1, 2),
                word=_REVISION,
                needs="-t -s -e -p",
                contents=_named,
                check=_check_object,
            ),
            "config": reads(
                "-[lz] --list --get --get-all --get-regexp --global --local --system "
                "--show-origin --show-scope --null --name-only --type=/\\w+/ --bool --int",
                word=r"[\w.*^$-]+",
                check=_check_config,
            ),
            "grep": reads(
                "-[niwvcElFGPhHIaopqr] -e=- -A=/\\d+/ -B=/\\d+/ -C=/\\d+/ -m=/\\d+/ -L "
                "--line-number --count --name-only --files-with-matches --ignore-case "
                "--cached --untracked --show-function --heading --break --no-color "
                "--and --or --not --all-match --max-depth= --only-matching",
                words=(0, 20),
                hardening=("--no-textconv",),
                contents=_named_in_search,
                parts="-o --only-matching",
            ),
            "name-rev": reads("--tags --name-only --always", words=(1, 5), word=_REVISION),
            "merge-base": reads(
                "--all --octopus --is-ancestor --fork-point", words=(1, 5), word=_REVISION
            ),
            "for-each-ref": reads(
                "--format= --sort=- --count=/\\d+/ --contains= --points-at= --merged= --no-merged=",
                word=_REVISION,
                check=_check_format,
            ),
            "show-ref": reads("-[dqs] --head --heads --tags --verify --hash=?", word=_REVISION),
            "show-branch": reads("-[ar] --all --remotes --current --sha1-name", word=_REVISION),
            "cherry": reads("-v", words=(0, 3), word=_REVISION),
            "count-objects": reads("-[vH]", words=(0, 0)),
            "check-ignore": reads("-[vnq]", words=(1, 20), word=r"[\w./-]+"),
            "worktree": Group({"list": reads("-v --porcelain", words=(0, 0))}),
            "submodule": Group(
                {"status": reads("--cached", words=(0, 3), word=r"[\w./-]+", needs="--cached")}
            ),
            "notes": Group(
                {
                    "list": reads(words=(0, 1), word=_REVISION),
                    "show": reads(words=(0, 1), word=_REVISION),
                }
            ),
            "version": reads("--build-options", words=(0, 0)),
        },
        "-C=@ -P --no-pager --no-optional-locks --no-replace-objects --literal-pathspecs",
        bare=reads("--version", needs="--version", words=(0, 0)),
    ),
}
