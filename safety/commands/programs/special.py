"""Programs that run other programs, and those whose arguments follow no common rule."""

import math
import re
from dataclasses import replace
from itertools import pairwise

from safety.commands.durations import last_of, seconds_of
from safety.commands.grammar import Grammar, Parsed, parse, read_options
from safety.commands.languages.escapes import refuse_escapes
from safety.commands.languages.find import read_find
from safety.commands.loopback import needs_no_lookup
from safety.commands.policy import Proving, Table, Wrapper
from safety.commands.program_traits import ProgramTraits
from safety.commands.refusal import Category, Refused
from safety.commands.script import pipelines_of
from safety.commands.shell import parse_script
from safety.word_lists import word_set

_READS_ESCAPES = re.compile(r"-[neE]*e[neE]*")
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
# None of their options changes or prints anything that a file holds, so a file name that looks
# like an option is harmless.
_LISTERS = word_set("ls stat basename dirname echo")
# These print what is in the files, or in one that an option names, so it must be known which
# files those can be.
_READERS = word_set("grep egrep fgrep cat head tail file wc du md5sum sha1sum sha256sum")
_KEEP_NAMES = frozenset(["head", "tail", "sort"])
# Files by an expression, by another file or a link to it, or written in another way.
_NAMES_UNSEEN = word_set("-regex -iregex -samefile -inum -lname -ilname -printf")
# These keep or order lines; with the name of a file they would read that instead.
PS = Grammar(
    read_options(
        """-[aAcdefFHjlLmMNTVwyZ] -o=- -O=- -p= -q= -C= -G= -g= -s= -t= -u= -U= --sort=-
        --format=- --pid= --ppid= --quick-pid= --user= --User= --group= --Group= --tty= --sid=
        --forest --headers --no-headers --no-heading --cols= --columns= --width= --rows= --lines=
        --cumulative --deselect --info --version -[xr]"""
    ),
    dashes=False,
)
_KEEPS_LINES = re.compile(r"(?: -(?:\d+|[nz]|[bdfghiMnrRVuz]+|[ktn] ?[\d,]+|-lines=\d+))*")


def _inner(arguments: tuple[str, ...], table: str, *, clusters: bool = True) -> Parsed:
    """The options of a wrapper, and as words the program that it runs."""
    parsed = parse(arguments, Grammar(read_options(table), clusters=clusters, stops=True))
    if not parsed.words:
        raise Refused("it runs no program")
    return parsed


def _before(argv: tuple[str, ...], inner: tuple[str, ...]) -> tuple[str, ...]:
    return argv[: len(argv) - len(inner)]


def _prove_timeout(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    table = """-[v] -k=/[0-9.]+[smhd]?/ -s=/[A-Z0-9]+/ --kill-after=/[0-9.]+[smhd]?/
    --signal=/[A-Z0-9]+/ --preserve-status --foreground --verbose"""
    parsed = _inner(argv[1:], table)
    duration, *rest = parsed.words
    if not _DURATION.fullmatch(duration) or not rest:
        raise Refused("timeout needs a duration and a program")
    # 0 means no limit at all.
    limit = seconds_of(duration) or math.inf
    limit += last_of(parsed, "-k", "--kill-after")
    traits = prover.prove_argv(tuple(rest))
    is_bounded = traits.is_bounded or (limit < math.inf and not traits.hands_to_shell)
    return replace(
        traits,
        argv=(*_before(argv, tuple(rest)), *traits.argv),
        is_bounded=is_bounded,
        seconds=min(traits.seconds if traits.is_bounded else math.inf, limit),
    )


def _prove_plain(table: str) -> Wrapper:
    def prove(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
        inner = _inner(argv[1:], table).words
        traits = prover.prove_argv(inner)
        return replace(traits, argv=(*_before(argv, inner), *traits.argv))

    return Wrapper(prove)


def _prove_time(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    """`time` is a word of the shell; what it measures is not needed, so only the rest is run."""
    return prover.prove_argv(_inner(argv[1:], "-p").words)


def _prove_command(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    """`command -v x` asks where a program is, which `which` answers without a shell."""
    parsed = parse(argv[1:], Grammar(read_options("-[vV]"), stops=True))
    if not parsed.options or not parsed.words:
        raise Refused("command without -v runs a program by a search path of its own")
    return prover.prove_argv(("which", *parsed.words))


def _prove_type(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    """The shell's own question where a program is, asked of `which` as well."""
    return prover.prove_argv(("which", *argv[1:]))


def _prove_watch(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    """It hands its words to a shell, so they are read as one command again, which may be a list."""
    parsed = _inner(
        argv[1:], "-[bcdetw] -n=/[0-9.]+/ --interval=/[0-9.]+/ --differences --no-title"
    )
    step = prover.prove_step(parse_script(" ".join(parsed.words)))
    if any(len(pipeline.commands) == 0 for pipeline in pipelines_of(step)):
        raise Refused("watch runs no program")
    return ProgramTraits(argv=argv, is_bounded=False, hands_to_shell=True)


def _prove_xargs(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    table = """-[0rtx] -n=/\\d+/ -L=/\\d+/ -P=/\\d+/ -s=/\\d+/ -d=/\\\\[n0]/ -I=/[{}%@A-Za-z]+/
    --null --no-run-if-empty --verbose --max-args=/\\d+/ --max-lines=/\\d+/ --max-procs=/\\d+/
    --delimiter=/\\\\[n0]/"""
    parsed = _inner(argv[1:], table)
    inner = parsed.words
    if any(mark in inner[0] for mark in parsed.values("-I")):
        raise Refused("xargs would put together the name of a program")
    if parsed.has("-I") and any(word.startswith("--printf") for word in inner):
        raise Refused("what would be printed with its escapes is not known")
    _refuse_fed_escapes(prover, inner)
    if inner[0] in _READERS:
        _judge_feed(prover)
    elif inner[0] not in _LISTERS:
        raise Refused(f"xargs would hand {inner[0]} arguments that are not known here")
    traits = prover.prove_argv(inner)
    return replace(
        traits,
        argv=(*_before(argv, inner), *traits.argv),
        is_filter=True,
        is_conditional=True,
        takes_names=inner[0] in _READERS,
    )


def _judge_feed(prover: Proving) -> None:
    """What comes down the pipe must be names from `find`, below directories that may be read."""
    feed = prover.feed
    is_known = (
        bool(feed)
        and feed[0][0] == "find"
        and not _NAMES_UNSEEN.intersection(feed[0])
        and ("-type", "l") not in pairwise(feed[0])
        and all(
            argv[0] in _KEEP_NAMES and _KEEPS_LINES.fullmatch("".join(f" {w}" for w in argv[1:]))
            for argv in feed[1:]
        )
    )
    starts, names = read_find(feed[0][1:]) if is_known else ((), ())
    if not starts or any(not start.startswith("/") for start in starts):
        raise Refused("which files xargs would have read is not known")
    for start in starts:
        prover.paths.judge_tree(start)
    for name in names:
        prover.paths.judge_pattern(name)


def _refuse_fed_escapes(prover: Proving, inner: tuple[str, ...]) -> None:
    """What is fed becomes arguments, and one of them may be the option that reads escapes."""
    if inner[0] == "echo" and any(map(_READS_ESCAPES.fullmatch, inner)):
        raise Refused("what would be printed with its escapes is not known")
    for argv in prover.feed:
        if argv[0] in ("echo", "printf", "yes", "seq"):
            refuse_escapes(argv[1:])


def _prove_find(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    starts, _ = read_find(argv[1:])
    for start in starts:
        prover.paths.judge_mention(start)
    refuse_escapes(text for test, text in pairwise(argv) if test == "-printf")
    return ProgramTraits(argv=argv, is_conditional=True)


def _prove_echo(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    if any(map(_READS_ESCAPES.fullmatch, argv[1:])):
        refuse_escapes(argv[1:])
    return ProgramTraits(argv=argv)


def _prove_test(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    """`test` computes nothing as a program of its own; names in brackets are only for a shell."""
    if len(argv) > 6 or "-v" in argv or "-R" in argv or any("$" in word for word in argv):
        raise Refused("this kind of test can run code or is not known")
    return ProgramTraits(argv=argv)


def _prove_env(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    if any(argument not in ("-0", "--null") for argument in argv[1:]):
        raise Refused("env with arguments runs a program in a changed environment")
    return ProgramTraits(argv=argv)


def _prove_ps(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    """`ps` mixes three styles; the letter e without a dash prints environments, with secrets."""
    parsed = parse(argv[1:], PS)
    # Where no user or terminal of that name exists, all letters are read in the other style.
    letters = "".join(re.findall(r"^-(?!-)(\w+)", "\n".join(argv[1:]), re.MULTILINE))
    may_fail = parsed.has("-u", "-U", "-g", "-G", "-t", "-s", "-O") or not all(
        re.fullmatch(r"[0-9, ]+", value) for value in parsed.values("-p", "-q")
    )
    if "e" in letters and may_fail:
        raise Refused("ps could print environments")
    formats = [*parsed.values("-o", "-O", "--format")]
    takes_format = False
    for word in parsed.words:
        if takes_format:
            formats.append(word)
            takes_format = False
        elif re.fullmatch(r"[0-9, ]+", word):
            continue
        elif re.fullmatch(r"[aAcfgGhHjlmnrStTuUvVwxXLN]*[oO]?", word):
            takes_format = word[-1:] in ("o", "O")
        else:
            raise Refused(f"ps with {word!r} could print environments, or is not known")
    if takes_format or any(re.search(r"environ", text) for text in formats):
        raise Refused("ps lacks a format, or would print environments")
    return ProgramTraits(argv=argv)


_IP_SHOWS = frozenset({"show", "sh", "sho", "list", "lst", "ls"})
_IP_OBJECTS = word_set("""
    a ad addr address l li link r ro route n nei neigh neighbor neighbour ru rule maddr
    maddress mroute netconf tunnel tuntap vrf nexthop tcp_metrics addrlabel ntable netns
""")


def _prove_ip(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    table = """-4 -6 -0 -s -d -j -p -o -h -r -c -t -br -brief -f=/inet6?|link|bridge|mpls/
    -family=/inet6?|link|bridge|mpls/ -color=? -json -pretty -oneline -details -stats -statistics
    -human -iec -resolve -timestamp -ts -V -Version"""
    grammar = Grammar(read_options(table), clusters=False, stops=True, dashes=False)
    parsed = parse(argv[1:], grammar)
    if not parsed.words:
        if parsed.has("-V", "-Version"):
            return ProgramTraits(argv=argv)
        raise Refused("ip lacks an object")
    thing, *rest = parsed.words
    if any(not re.fullmatch(r"[A-Za-z0-9_.:/@-]+", word) or word[0] == "-" for word in rest):
        raise Refused("ip with these words is not known to be a read")
    if thing in ("monitor", "mon") and all(word in _IP_OBJECTS or word == "all" for word in rest):
        return ProgramTraits(argv=argv, is_bounded=False)
    is_get = thing in ("r", "ro", "route") and rest[:1] == ["get"]
    if is_get and any("." in word and not needs_no_lookup(word) for word in rest):
        raise Refused("ip route get with a name is not known to be a read")
    if thing not in _IP_OBJECTS or (rest and rest[0] not in _IP_SHOWS and not is_get):
        raise Refused(f"ip {thing} with these words is not known to be a read")
    return ProgramTraits(argv=argv)


def _prove_ssh(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    parsed = parse(
        argv[1:],
        Grammar(
            read_options(
                "-[46AaCfGgKkMNnqsTtVvXxYy] -b= -c= -D= -E= -e= "
                "-F= -I= -i= -J= -L= -l= -m= -O= -o= -p= -Q= -R= -S= -W= -w="
            ),
            stops=True,
        ),
    )
    category = Category.INTERACTIVE_REPL if len(parsed.words) < 2 else None
    raise Refused("ssh runs what it is told on another machine, through its shell", category)


SPECIAL: Table = {
    "timeout": Wrapper(_prove_timeout),
    "nice": _prove_plain("-n=/-?\\d+/ --adjustment=/-?\\d+/"),
    "ionice": _prove_plain("-[t] -c=/[0-3]|idle|best-effort/ -n=/\\d/ --class=/[0-3]/"),
    "stdbuf": _prove_plain("-i=/[0L]|\\d+[KM]?/ -o=/[0L]|\\d+[KM]?/ -e=/[0L]|\\d+[KM]?/"),
    "time": Wrapper(_prove_time),
    "command": Wrapper(_prove_command),
    "type": Wrapper(_prove_type),
    "watch": Wrapper(_prove_watch),
    "xargs": Wrapper(_prove_xargs),
    "find": Wrapper(_prove_find),
    "echo": Wrapper(_prove_echo),
    "test": Wrapper(_prove_test),
    "env": Wrapper(_prove_env),
    "ps": Wrapper(_prove_ps),
    "ip": Wrapper(_prove_ip),
    "ssh": Wrapper(_prove_ssh),
}
