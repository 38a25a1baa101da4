"""What a repository's own configuration would have git run over the files of its work tree.

Diff drivers, hooks and monitors are switched off by options and by the environment. Filters cannot
be, but by their names: so git is asked for these first, and told to use none of them.
"""

from safety.word_lists import word_set

_LOOK_AT_FILES = word_set(
    "status diff diff-files diff-index blame describe ls-files stash submodule"
)
_KEYS = ("clean", "smudge", "process")


class Armed(Exception):
    """A filter has a name that git cannot be told to leave out."""


def filters_question(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command that lists the filters of a repository; None where git would use none."""
    place = place_of_subcommand(argv)
    if place is None or argv[place] not in _LOOK_AT_FILES:
        return None
    return (*argv[:place], "config", "--null", "--name-only", "--get-regexp", r"^filter\.")


def without_filters(argv: tuple[str, ...], listed: bytes) -> tuple[str, ...]:
    """The same command, in which each of the listed filters does nothing."""
    names = {name.partition(".")[2].rpartition(".")[0] for name in _texts(listed)}
    if any("=" in name or not name.isprintable() for name in names):
        raise Armed("the repository has a filter that cannot be switched off")
    settings = [
        text
        for name in sorted(names)
        for text in (*(f"filter.{name}.{key}=" for key in _KEYS), f"filter.{name}.required=false")
    ]
    return (argv[0], *(word for text in settings for word in ("-c", text)), *argv[1:])


def _texts(listed: bytes) -> list[str]:
    return [text for text in listed.decode("utf-8", "replace").split("\0") if text]


def place_of_subcommand(argv: tuple[str, ...]) -> int | None:
    """Where git's own options end; None where it is not git, or there is no sub-command."""
    if argv[0] != "git":
        return None
    place = 1
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] == "-C" else 1
    return place if place < len(argv) else None
