"""Which values a question in SQL prints: whole ones under their names, or parts and lone ones."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from safety.commands.contents import refuse_lone_values, refuse_parts
from safety.commands.refusal import Refused
from safety.word_lists import word_set

# Of a text these print a part, or the whole in another way than it stands in its row.
_CUTTING = word_set("""
    lower upper trim ltrim rtrim btrim initcap substr substring left right split_part replace
    reverse repeat lpad rpad format hex ascii regexp_replace regexp_match string_to_array elt
""")
_JOINING = word_set("concat group_concat string_agg array_to_string")
# Of what stands within these nothing but a number is printed.
_MEASURING = word_set("""
    count length char_length octet_length pg_column_size array_length cardinality
    json_array_length jsonb_array_length json_length
""")
_WHOLE_TYPES = word_set("""
    int integer bigint smallint tinyint int2 int4 int8 float4 float8 signed unsigned numeric decimal
    real double float bool boolean text varchar json jsonb date time timestamp timestamptz datetime
    interval inet cidr uuid regclass regproc regtype regnamespace oid xid
""")
_SIZED_TYPES = word_set("numeric decimal timestamp time timestamptz interval datetime")
_CONDITIONS = word_set("where group having order limit offset window fetch on using")
_NO_NAMES_OF_TABLES = word_set("using on join lateral in values from and or not as exists")
_NAME = re.compile(r"%?([\w.:/-]+)%?")


@dataclass(frozen=True, slots=True)
class Spot:
    """One word of a question: `clause` it stands in, `call` whose brackets it stands in directly.

    `is_printed`: it says what is printed, as against what is compared, ordered or counted.
    """

    kind: str
    text: str
    clause: str
    call: str
    is_printed: bool

    @property
    def name(self) -> str:
        """What it names, if it names anything."""
        return self.text.strip("\"`'") if self.kind in ("word", "name") else ""


@dataclass(slots=True)
class _Level:
    """What is within one pair of brackets."""

    clause: str
    call: str
    may_print: bool
    has_select: bool = False

    def take(self, text: str, before: str) -> None:
        """Moves on to the clause that a word of the language begins.

        Some of these words may as well be names of columns, where they do not stand.
        """
        if text in ("select", "values"):
            self.clause, self.call, self.has_select = text, "", True
        elif not self.has_select:
            # Of an ordered set, what it is ordered by is printed.
            is_order = (before, text) == ("order", "by") and self.call != "group"
            if text == "where" or is_order or (before, text) == ("partition", "by"):
                self.clause = "where"
        elif text == "from":
            self.clause = self.clause if before == "distinct" else text
        elif self.clause not in ("select", "values", "when"):
            self.clause = text if text in _CONDITIONS else self.clause
        elif (self.clause, text) in (("select", "when"), ("when", "then")):
            self.clause = "when" if text == "when" else "select"


def check_values(
    tokens: Sequence[tuple[str, str]], *, has_names: bool, has_row_values: bool = False
) -> None:
    """Raises `Refused` unless one statement prints whole values under names that tell of them.

    `tokens` are kinds and texts in small letters. `has_names`: the client prints the names of the
    columns in a way that can be read. `has_row_values`: a table's name stands for its rows.
    """
    spots = _read(tokens)
    first = spots[0].text
    if first in ("show", "explain", "describe", "desc"):
        return
    stars = [place for place in range(len(spots)) if _is_star(spots, place)]
    if (stars or first == "table") and not has_names:
        raise Refused("rows would be printed without the names of their columns")
    if stars and (_renames(spots) or any(spots[place].call for place in stars)):
        raise Refused("the names of the columns would be replaced by others")
    tables = {spot.name for spot in spots if spot.clause == "from"} if has_row_values else set()
    for place, spot in enumerate(spots):
        if spot.is_printed:
            _check_printed(spots, place, tables)
    if stars or any(
        spot.is_printed and _is_column(spots, place) for place, spot in enumerate(spots)
    ):
        # `select value from settings where key = 'smtp_password'`: only the condition names it.
        # Some servers read a text between quotes of either kind.
        texts = [spot.text.strip("\"'") for spot in spots if spot.text[0] in "\"'"]
        refuse_lone_values(found[1] for text in texts if (found := _NAME.fullmatch(text)))


def _read(tokens: Sequence[tuple[str, str]]) -> list[Spot]:
    levels = [_Level(tokens[0][1], "", may_print=True)]
    spots: list[Spot] = []
    before = ""
    for kind, text in tokens:
        here = levels[-1]
        if text == ")" and len(levels) > 1:
            here = levels.pop()
        elif kind == "word":
            here.take(text, before)
        prints = here.may_print and here.clause in ("select", "values")
        spots.append(Spot(kind, text, here.clause, here.call, prints))
        if text == "(":
            goes_on = here.may_print and before not in _MEASURING
            is_condition = here.clause in _CONDITIONS | {"when"}
            call = before if re.fullmatch(r"\w+", before) else ""
            levels.append(_Level(here.clause, call, may_print=goes_on and not is_condition))
        before = text
    return spots


def _text_at(spots: Sequence[Spot], place: int) -> str:
    return spots[place].text if 0 <= place < len(spots) else ""


def _is_star(spots: Sequence[Spot], place: int) -> bool:
    is_all = _text_at(spots, place - 1) in ("select", "distinct", "all", ",", ".", "(")
    return spots[place].text == "*" and spots[place].is_printed and is_all


def _is_column(spots: Sequence[Spot], place: int) -> bool:
    """Whether a word names a value, or what is between its brackets is one."""
    spot = spots[place]
    is_word = spot.text in ("select", "values", "distinct", "as", "all")
    return bool(spot.name) and not is_word and _text_at(spots, place + 1) not in ("(", ".")


def _renames(spots: Sequence[Spot]) -> bool:
    """`... union select *`, `with x(a, b) as`, `from users as u(a, b)`."""
    for place, spot in enumerate(spots):
        if spot.kind == "word" and spot.text in ("union", "intersect", "except"):
            return True
        if spot.text != "(" or place == 0 or spot.clause not in ("with", "from"):
            continue
        named, before = spots[place - 1], _text_at(spots, place - 2)
        is_name = bool(named.name) and named.text not in _NO_NAMES_OF_TABLES | {"materialized"}
        is_call = before in ("from", "join", "lateral", ",", ".") and spot.clause == "from"
        if is_name and not is_call:
            return True
    return False


def _check_printed(spots: Sequence[Spot], place: int, tables: set[str]) -> None:
    spot, before, behind = spots[place], _text_at(spots, place - 1), _text_at(spots, place + 1)
    if spot.kind == "word" and behind == "(":
        if spot.text in _CUTTING:
            raise refuse_parts(f"the SQL function {spot.text}")
        return
    if spot.kind in ("word", "name") and spot.name in tables and "." not in (before, behind):
        raise Refused("a row as one value loses the names of its columns")
    refuse_lone_values([spot.name or (spot.text.strip("'") if spot.kind == "text" else "")])
    is_cast = spot.text == "as" and spot.call == "cast"
    is_converted = spot.text in (",", "using") and spot.call == "convert"
    if spot.text == "::" or is_cast or is_converted:
        _check_type(behind, is_sized=_text_at(spots, place + 2) == "(")
    if spot.text == "||" or (spot.text == "," and spot.call in _JOINING):
        _check_joint(spots, place)


def _check_type(name: str, *, is_sized: bool) -> None:
    """A value may become a number or a time; as bytes, or cut to a size, it is another text."""
    is_whole = name in _SIZED_TYPES if is_sized else name in _WHOLE_TYPES
    if not is_whole:
        raise refuse_parts(f"the SQL type {name}")


def _check_joint(spots: Sequence[Spot], place: int) -> None:
    """What is joined to a column must not hide where its value begins and ends."""
    left, right = spots[place - 1], spots[min(place + 1, len(spots) - 1)]
    columns = [spot for spot in (left, right) if spot.name]
    others = [spot for spot in (left, right) if not spot.name]
    separates = any(spot.kind == "text" and re.search(r"\W", spot.text[1:-1]) for spot in others)
    is_computed = any(spot.text in ("(", ")") for spot in others)
    if columns and not separates and not is_computed:
        raise refuse_parts("SQL that joins texts to a value")
