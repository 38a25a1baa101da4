"""The files that the arguments of a program name, each of them judged before it may be read."""

from safety.commands.grammar import Parsed
from safety.commands.paths import PathJudge
from safety.commands.policy import Policy
from safety.commands.refusal import Refused


def files_of(policy: Policy, parsed: Parsed) -> tuple[str, ...] | None:
    """The words that name files whose content is read; None where none of them can."""
    if policy.files_from is None:
        return None
    if policy.pattern_options and parsed.has(*policy.pattern_options):
        return parsed.words
    return parsed.words[policy.files_from :]


def reads_trees(policy: Policy, parsed: Parsed) -> bool:
    """Whether it reads everything below the directories that it is given."""
    if isinstance(policy.recursive, bool):
        return policy.recursive
    return parsed.has(*policy.recursive)


def texts_of(policy: Policy, parsed: Parsed) -> tuple[str, ...]:
    """The files whose text a filter prints, or could."""
    if not policy.is_filter:
        return ()
    options = policy.grammar.options
    given = [
        value
        for option, values in parsed.options
        for value in values
        if option in options and options[option].is_path
    ]
    files = (*given, *(files_of(policy, parsed) or ()))
    return tuple(file for file in files if file != "-")


def judge_front(paths: PathJudge, policy: Policy, before: tuple[str, ...]) -> None:
    """What stands before a sub-command can be a path, too, with or without a blank."""
    for place, word in enumerate(before):
        paths.judge_mention(word)
        for option, known in policy.grammar.options.items():
            if known.is_path and word == option:
                paths.judge_content(before[place + 1])
            elif known.is_path and word.startswith(option):
                paths.judge_content(word.removeprefix(option).removeprefix("="))


def judge_files(paths: PathJudge, policy: Policy, parsed: Parsed, is_fed: bool) -> None:
    """Every word and value as what it is: the path of a file, or at most one of its mentions."""
    options = policy.grammar.options
    for option, values in parsed.options:
        for value in values:
            known = options.get(option)
            if known and known.is_path:
                paths.judge_content(value)
            elif known and known.is_certificate:
                paths.judge_certificate(value)
            elif not (policy.opens_devices or policy.opens_disks):
                paths.judge_mention(value)
    files = files_of(policy, parsed)
    for word in parsed.words[: len(parsed.words) - len(files or ())]:
        paths.judge_mention(word)
    is_recursive = reads_trees(policy, parsed)
    # What is fed by a pipe still searches the working directory, if an option says so.
    if is_recursive and not files and not (is_fed and policy.recursive is True):
        raise Refused("it would read everything below the working directory; name a path")
    for file in files or ():
        if is_recursive:
            paths.judge_tree(file)
        else:
            paths.judge_content(file)


def judge_patterns(paths: PathJudge, policy: Policy, parsed: Parsed) -> None:
    """What names files in other ways than as a path of its own."""
    if policy.opens_disks:
        for word in (*parsed.words, *(value for _, given in parsed.options for value in given)):
            paths.judge_disk(word)
    for path in policy.contents(parsed) if policy.contents else ():
        paths.judge_pattern(path)
    for pattern in parsed.values(*policy.name_patterns):
        paths.judge_pattern(pattern)
