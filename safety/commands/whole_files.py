"""Commands of git that print some lines of files, and what prints all of these files instead.

A line of a key, or the value below its name, is no secret to the masker without what surrounds it.
"""

import os
from collections.abc import Collection, Iterator

from safety.commands.git_filters import place_of_subcommand
from safety.commands.grammar import Parsed
from safety.word_lists import word_set

_ALL_LINES = "1000000"
_AROUND_CHANGES = "100"
_NAMES_ONLY = word_set("-c -l -L --count --name-only --files-with-matches")
_OF_SEARCH = word_set("-i --ignore-case -E -F -G -P -a -r --cached --untracked --max-depth")
_OF_HISTORY = word_set("--all --branches --tags --remotes")
_OF_CHANGES = word_set("log show diff whatchanged reflog list diff-tree diff-index diff-files")
_PATCHES = word_set("-p -u -U --patch --unified --check")
_SUMMARIES = word_set("""
    -s -q --no-patch --quiet --stat --numstat --shortstat --name-only --name-status --raw --summary
    --dirstat --compact-summary
""")
# As the repository names drivers, and so that a line looks the same in whatever change it stands.
_PLAIN = (
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--ignore-submodules=all",
    *(f"--output-indicator-{kind}= " for kind in ("new", "old", "context")),
)


def whole_files_of(names: tuple[str, ...], parsed: Parsed) -> tuple[str, ...]:
    """The command that prints the files of which this one prints lines; empty where it prints no
    lines, or enough of them. `names` is all in front of the arguments."""
    place = place_of_subcommand(names)
    if place is None:
        return ()
    front, command = names[:place], names[place]
    if command == "grep":
        return () if parsed.has(*_NAMES_ONLY) else (*front, "grep", *_search(parsed))
    if command == "blame":
        return _blamed(front, parsed)
    if names[-1] not in _OF_CHANGES:
        return ()
    if parsed.has("-L"):
        return (*front, "log", *_history(parsed))
    if _prints_patches(names[-1], parsed, is_stash=command == "stash"):
        kept = _options(parsed, left_out=("-U", "--unified", "--check"))
        return (*names, *_PLAIN, f"-U{_AROUND_CHANGES}", *kept, *_divided(parsed, parsed.words))
    return ()


def _prints_patches(command: str, parsed: Parsed, *, is_stash: bool) -> bool:
    """Of the lines around a change few are printed, the name of a value perhaps not among them."""
    if parsed.has(*_PATCHES):
        return True
    if is_stash or parsed.has(*_SUMMARIES):
        return False
    prints_files = command == "show" and parsed.words and all(":" in word for word in parsed.words)
    return command in ("diff", "show") and not prints_files


def _search(parsed: Parsed) -> tuple[str, ...]:
    """All files in which one of the patterns is found, or anything where one must be missing."""
    patterns = parsed.values("-e") or parsed.words[:1]
    places = parsed.words if parsed.has("-e") else parsed.words[1:]
    if parsed.has("-v", "--not"):
        patterns = ("",)
    kept = _options(parsed, only=_OF_SEARCH)
    return (
        *("--no-textconv", "-h", "-C", _ALL_LINES, *kept),
        *(word for pattern in patterns for word in ("-e", pattern)),
        *_divided(parsed, tuple(word for word in places if word not in ("(", ")"))),
    )


def _blamed(front: tuple[str, ...], parsed: Parsed) -> tuple[str, ...]:
    *revisions, path = parsed.words
    begins = [revision for revision in revisions if not revision.startswith("^")]
    if not revisions:
        return ("cat", "--", os.path.join(*_directories(front), path))  # noqa: PTH118 - of text
    revision = begins[0].rpartition("..")[2] if begins else "HEAD"
    return (*front, "show", "--no-textconv", f"{revision or 'HEAD'}:./{path}")


def _directories(front: tuple[str, ...]) -> Iterator[str]:
    yield "/"
    for place, word in enumerate(front):
        if word == "-C":
            yield front[place + 1]
        elif word.startswith("-C"):
            yield word.removeprefix("-C").removeprefix("=")


def _history(parsed: Parsed) -> tuple[str, ...]:
    paths = (value.rpartition(":")[2] for value in parsed.values("-L"))
    kept = _options(parsed, only=_OF_HISTORY)
    return ("-p", f"-U{_ALL_LINES}", "--format=", *_PLAIN, *kept, *parsed.words, "--", *paths)


def _options(
    parsed: Parsed, *, only: Collection[str] = (), left_out: Collection[str] = ()
) -> Iterator[str]:
    for option, values in parsed.options:
        if (only and option not in only) or option in left_out:
            continue
        if option == "-#":
            yield f"-{values[0]}"
        elif values and option.startswith("--"):
            yield f"{option}={values[0]}"
        else:
            yield option + "".join(values)


def _divided(parsed: Parsed, left: tuple[str, ...]) -> tuple[str, ...]:
    """The words that are left, divided as they were."""
    place = len(left) - len(parsed.behind)
    return (*left[:place], "--", *left[place:]) if parsed.behind else left
