"""What clients choose of an answer by a query of their own: fields as they are, no part of a text.

The languages are closed ones: jq as `gh` has it, JMESPath of `aws` and `az`, the formats of
`gcloud`. Of each, what is not known to keep texts is refused.
"""

import re
from itertools import pairwise

from safety.commands.contents import refuse_parts
from safety.word_lists import word_set

# A text comes out of these as it went in, or does not come out at all.
_JQ_KEEPS = word_set("""
    select map map_values length sort sort_by group_by unique unique_by keys keys_unsorted has in
    first last limit min max min_by max_by any all not and or null true false if then elif else end
    empty to_entries from_entries with_entries tostring tonumber tojson fromjson join add flatten
    range values nulls strings numbers arrays objects type test contains startswith endswith inside
    index now fromdate todate fromdateiso8601 todateiso8601 strftime date as reduce foreach try
    catch error isempty paths recurse getpath del floor round
""")
_JQ_FORMATS = word_set("@text @json @csv @tsv")
_JQ_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_JQ_INSERTED = re.compile(r"\\\(([^()\"]*)\)")
_JQ_FIRST_ITEMS = re.compile(r"\s*\.\[\d*:\d*\]")
_JQ_SLICE = re.compile(r"\[[^\[\]]*:[^\[\]]*\]")
_JQ_WORD = re.compile(r"(?<![\w.$@])[A-Za-z_]\w*|@\w+")
_JQ_KEY = re.compile(r"([{,]\s*)[A-Za-z_]\w*(?=\s*[:,}])")
_TURNS_TEXT = re.compile(r"\breverse\s*\((?!\s*sort(?:_by)?\s*\()")
_TRANSFORMS = re.compile(r"\.\s*(\w+)\s*\(")
_GCLOUD_KEEPS = word_set("basename scope date duration size len count list yesno join map flatten")
_CUT_COLUMN = re.compile(r":(?:[\w=,]*,)?(?:width|wrap)\b")


def check_jq_choice(program: str) -> None:
    """Raises `Refused` unless a program of jq prints texts of its input as they are."""
    inserted = " ".join(_JQ_INSERTED.findall(program))
    bare = _JQ_STRING.sub('""', _JQ_FIRST_ITEMS.sub(".", program))
    # What is put into a text is a program, too, and where it ends must be plain.
    if "\\(" in _JQ_INSERTED.sub("", program):
        raise refuse_parts("a jq program within a text")
    for code in (bare, inserted):
        called = _JQ_WORD.findall(_JQ_KEY.sub(r"\1", code))
        if _JQ_SLICE.search(code) or not set(called) <= _JQ_KEEPS | _JQ_FORMATS:
            raise refuse_parts("this jq program")


def check_jmespath(query: str) -> None:
    """Raises `Refused` where a query may turn a text around."""
    if _TURNS_TEXT.search(query):
        raise refuse_parts("this query")


def check_gcloud_format(text: str) -> None:
    """Raises `Refused` unless a format of `gcloud` prints whole fields, or what ends a path."""
    unknown = set(_TRANSFORMS.findall(text)) - _GCLOUD_KEEPS
    if unknown or _CUT_COLUMN.search(text):
        raise refuse_parts("this format")


def without_query(
    arguments: tuple[str, ...], left_out: tuple[str, ...], whole: tuple[str, ...]
) -> tuple[str, ...]:
    """The arguments of a client that prints all of its answer; empty where they already do.

    `left_out` are options with a value each, `whole` says in which form all of it is printed.
    """
    kept: list[str] = []
    place, is_chosen = 0, False
    while place < len(arguments):
        name, equals, _ = arguments[place].partition("=")
        if name in left_out:
            is_chosen = True
            place += 1 if equals else 2
            continue
        kept.append(arguments[place])
        place += 1
    return (*kept, *whole) if is_chosen else ()


def values_of(arguments: tuple[str, ...], name: str) -> tuple[str, ...]:
    """What an option is given, joined to it or as the next word."""
    found = [word.partition("=")[2] for word in arguments if word.startswith(f"{name}=")]
    behind = pairwise(arguments)
    return (*found, *(value for option, value in behind if option == name))
