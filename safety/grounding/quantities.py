"""Numbers with their units, in base units, so that 1536Mi and 1.5 GiB are one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from safety.grounding.spelled import WORDS, read_words
from safety.grounding.units import BARE, COUNTS, Meaning, read_unit

_BLANK = r"[ \u00a0\u2009\u202f]"
_GROUPED = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+|"
    r"\d{1,3}(?:['\u2019_\u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?"
)
_PLAIN = r"\d+(?:[.,]\d+)?(?:e[+-]?\d{1,3})?"
_SIGN = r"(?<![\w)\]])[-+\u2212\u00b1]"
_UNIT = r"%|per\s?cent\b|[A-Za-zµμ]{1,15}"
_CLAIMED = re.compile(
    rf"(?:(?<![\w.:@#=\-\[])|(?<=[A-Za-z]=)|(?<=\s[x×])|(?<=\([x×]))(?<!^/)(?<!\d,)(?<!\d\u00a0)(?P<sign>{_SIGN})?"
    rf"(?P<digits>\d{{1,3}}(?: \d{{3}})+(?![\d.,]*\d)|{_GROUPED}|{_PLAIN})"
    rf"(?:(?:{_BLANK}|-(?=[A-Za-z]))?(?P<unit>{_UNIT}))?(?![\w%])(?![.,:-]\d)(?!(?<=\d)/\d+[/.-])",
    re.IGNORECASE,
)
_DATA = re.compile(
    rf"(?:(?<![\w.\-])|(?<=[(\s]x)|(?<=[A-Za-z]=)|(?<=\s-)|(?<=[:=(]-)|(?<=^-))"
    rf"(?P<digits>{_GROUPED}|{_PLAIN})"
    rf"(?:{_BLANK}?(?P<unit>{_UNIT})(?![=:\w]))?(?!\w)(?!-?[.:]\d)",
    re.IGNORECASE | re.MULTILINE,
)
_SPACED = re.compile(r"(?<![\w.,:/-])(?P<digits>\d{1,3}(?: \d{3})+)(?![\w.,:/-])")
_COMPOUND = re.compile(
    r"(?<![\w.-])(?:\d{1,6}[ywdhms](?:(?<=m)s)?){2,6}(?:\d{1,3}(?:\.\d+)?s|\d{1,3}ms)?(?![\w.])|"
    r"(?<![\w.-])\d{1,6}[ywdhm]\d{1,3}\.\d+s(?!\w)"
)
_COMPOUND_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[ywdhms])")
_UNIT_OF_KEY = re.compile(
    r"(?:^|(?<!per)(?<!Per)_|-|\.|(?<=[a-z])(?=[A-Z]))(?P<unit>[A-Za-z]{1,12})"
    r"(?:_per_s(?:ec(?:ond)?)?|_total|_sum|_max|_min|_avg)?$"
)
_CAMEL_TAIL = re.compile(r"(?<=[a-z])(?P<unit>[A-Z][A-Za-z]{1,11})$")
_PER_KEY = re.compile(r"(?P<key>[A-Za-z][\w.-]*) [Pp]er [Ss]ec(?:ond)?$")
""" "Rx Bits Per Second", as reports for people title their keys."""
_FIGURE_BEFORE = re.compile(r"\d\s?[A-Za-z%µ]{0,5}/\Z")
_BETWEEN = " \t\"'+-:="
_OF_KEY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-%")
_MOST_KEY, _MOST_LABELS = 80, 400
LARGEST = 1e200
_RATIOS = frozenset({"ratio", "fraction"})
_NO_UNITS = frozenset({"min", "days", "day", "cpu", "cores", "core", "cpus", "fraction"})
_PER_UNIT = r"(?P<per>s|sec|seconds?|m|min|minutes?|h|hr|hours?|d|days?)\b"
_PER = re.compile(
    rf"\s?(?:/\s?|per\s+|an?\s+|each\s+|every\s+|p(?=[smh]\b)){_PER_UNIT}", re.IGNORECASE
)
_COUNTED_PER = re.compile(
    rf"(?:{_BLANK}[a-z]{{2,20}}){{1,2}}(?:/|\s(?:per|an?|each|every)\s){_PER_UNIT}", re.IGNORECASE
)
_PART = re.compile(
    r"\s*(?:(?:free |used |left )?(?:of|out of)|/|to|and|or|against|versus|vs\.?|–|-)"
    r"\s*(?:the |its |a |an )?(?:total )?"
)
_OF_ITS = re.compile(r"\s+of\s+(?:its|the|all|their)\s+(?P<unit>[A-Za-z]{3,15})\b")
""" "3.6 of its cores"."""
_AND_HALF = re.compile(r"\s+and\s+a\s+half\b")
_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})(?:[ -](?:{'|'.join(WORDS)}))*\b", re.IGNORECASE)
_UNIT_BEHIND = re.compile(rf"(?:{_BLANK}|-)(?P<unit>[A-Za-z]{{1,15}})\b")
_JOINT = re.compile(r"\s*(?:,\s*)?(?:and\s+)?")
_NONE_LETTERS = frozenset({"a", "i"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it was written. `scales` are what one of its unit is in base units.

    `decimals` are the places that it was given to, below zero where it ends in "thousand".
    `others` are further ways to read the same characters.
    """

    number: float
    decimals: int
    family: str
    """`bytes`, `seconds`, `cores`, `percent`, `hertz`, `watts`, or empty."""
    scales: tuple[float, ...]
    start: int = 0
    end: int = 0
    is_word: bool = False
    others: tuple["Quantity", ...] = ()

    @property
    def bases(self) -> tuple[float, ...]:
        return tuple(self.number * scale for scale in self.scales)

    @property
    def step(self) -> float:
        """Half of the last place it was given to."""
        return 0.5 * 10.0**-self.decimals + 1e-9

    @property
    def is_of_either(self) -> bool:
        """Whether its kilo may be a thousand or 1024."""
        scales = self.scales
        return self.family == "bytes" and len(scales) > 1 and 1.02 < scales[1] / scales[0] < 1.13

    @property
    def readings(self) -> tuple["Quantity", ...]:
        return (self, *self.others)

    @property
    def is_whole(self) -> bool:
        return self.number == int(self.number) and self.decimals <= 0


def find_claimed(text: str) -> Iterator[Quantity]:
    """The quantities that a passage states, numbers in words included, in order."""
    compounds = [_read_compound(found) for found in _COMPOUND.finditer(text)]
    found = sorted(
        chain(compounds, _find_digits(text), _find_words(text)), key=lambda each: each.start
    )
    yield from _share_units(text, _join_durations(text, found))


def _find_digits(text: str) -> Iterator[Quantity]:
    for found in _CLAIMED.finditer(text):
        if _is_in_path(text, found.start()):
            continue
        meanings, end = _read_behind(text, found, is_claim=True)
        half = _AND_HALF.match(text, end) if not found["unit"] else None
        whole = _OF_ITS.match(text, end) if not meanings else None
        meanings = (BARE, *read_unit(whole["unit"])) if whole is not None else meanings
        yield _make(found["digits"], meanings, found.start("digits"), end, sign=found["sign"] or "",
                    half=half is not None)  # fmt: skip


def _is_in_path(text: str, start: int) -> bool:
    """Whether a slash stands before it that is none between two figures: `3 GB/4 GB`."""
    return text[start - 1 : start] == "/" and not _FIGURE_BEFORE.search(
        text[max(0, start - 24) : start]
    )


def _find_words(text: str) -> Iterator[Quantity]:
    for found in _WORD.finditer(text):
        number = read_words(found[0])
        if number is None:
            continue
        end, decimals = found.end(), 0
        half = _AND_HALF.match(text, end)
        if half is not None:
            number, decimals, end = number + 0.5, 1, half.end()
        behind = _UNIT_BEHIND.match(text, end)
        meanings = read_unit(behind["unit"]) if behind is not None else ()
        if behind is not None and len(behind["unit"]) > 2 and meanings:
            end = behind.end()
        else:
            meanings = ()
        if number < 2 and not meanings:
            continue
        if not meanings:
            per = _COUNTED_PER.match(text, end)
            rate = read_unit(per["per"])[0][1][0] if per is not None else 1.0
            meanings = (("", _per((1.0,), rate)),)
        quantity = _make_one(number, decimals, meanings[0], found.start(), end)
        yield replace(quantity, is_word=True)


def _join_durations(text: str, found: list[Quantity]) -> list[Quantity]:
    """Two minutes and 25 seconds are one duration."""
    joined: list[Quantity] = []
    for each in found:
        last = joined[-1] if joined else None
        if last is not None and _continues(text, last, each):
            scale = each.scales[0]
            total = (last.number * last.scales[0]) / scale + each.number
            joined[-1] = Quantity(total, each.decimals, "seconds", (scale,), last.start, each.end)
        else:
            joined.append(each)
    return joined


def _continues(text: str, last: Quantity, each: Quantity) -> bool:
    return (
        last.family == each.family == "seconds"
        and last.scales[0] > each.scales[0]
        and last.end <= each.start <= last.end + 8
        and last.is_whole
        and each.number * each.scales[0] < last.scales[0]
        and _JOINT.fullmatch(text, last.end, each.start) is not None
    )


def _share_units(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    """ "15 of 16 GiB" says GiB of both."""
    shared: list[Quantity] = []
    following: Quantity | None = None
    for each in reversed(found):
        quantity = each
        may_count = following is None or any(not other.family for other in following.others)
        if following is not None and not each.family and following.family and not may_count:
            between = text[each.end : following.start]
            if len(between) < 40 and _PART.fullmatch(between):
                unit = replace(each, family=following.family, scales=following.scales, others=())
                # "3 to 20 minutes" may as well be three of something.
                quantity = replace(unit, others=(replace(each, others=()), *each.others))
        shared.append(quantity)
        following = quantity if quantity.family else None
    yield from reversed(shared)


def find_numbers(text: str) -> Iterator[Quantity]:
    """The quantities in a tool's result."""
    taken = -1
    compounds = {found.start(): found for found in _COMPOUND.finditer(text)}
    for found in compounds.values():
        yield _read_compound(found)
    for found in _DATA.finditer(text):
        start = found.start("digits")
        if start < taken or start in compounds:
            continue
        digits = found["digits"]
        meanings: tuple[Meaning, ...] = ()
        taken = found.end()
        if found["unit"]:
            meanings, taken = _read_behind(text, found, is_claim=False)
        meanings = meanings or _read_key(text, start)
        before = text[start - 1 : start]
        if digits.isdigit() and len(meanings) < 2 and before != "-":
            # Most are plain, and reading them has to cost little.
            family, scales = meanings[0] if meanings else BARE
            yield Quantity(_as_float(digits), 0, family, scales, start, taken)
            continue
        yield _make(digits, meanings, start, taken, sign=before if before == "-" else "")
    if " " in text:
        for found in _SPACED.finditer(text):
            number = _as_float(found["digits"].replace(" ", ""))
            yield _make_one(number, 0, BARE, *found.span())


def _read_compound(found: re.Match[str]) -> Quantity:
    parts = [(_as_float(part[1]), read_unit(part[2])) for part in _COMPOUND_PART.finditer(found[0])]
    total = sum(number * meanings[0][1][0] for number, meanings in parts)
    smallest = parts[-1][1][0][1][0]
    return Quantity(total / smallest, 0, "seconds", (smallest,), *found.span())


def _read_key(text: str, start: int) -> tuple[Meaning, ...]:
    """`used_gib: 640`, `tx_mbit:8750` and `mhz: 2400` name their unit in the key."""
    end = start
    least = max(0, start - _MOST_KEY)
    while end > least and text[end - 1] in _BETWEEN:
        end -= 1
    if end == start:
        return ()
    if text[end - 1 : end] in "}]":
        # The labels of a metric stand between its name and its value.
        end = text.rfind("{" if text[end - 1] == "}" else "[", max(0, end - _MOST_LABELS), end)
    begin = end
    while begin > max(0, end - _MOST_KEY) and text[begin - 1] in _OF_KEY:
        begin -= 1
    per = _PER_KEY.search(text[max(0, begin - _MOST_KEY) : end])
    if per is not None:
        return _read_unit_of_key(per["key"])
    return _read_unit_of_key(text[begin:end]) if begin < end else ()


@lru_cache(maxsize=10_000)
def _read_unit_of_key(key: str) -> tuple[Meaning, ...]:
    for found in (_UNIT_OF_KEY.search(key), _CAMEL_TAIL.search(key)):
        if found is None or len(found["unit"]) < 2 or found["unit"].lower() in _NO_UNITS:
            continue
        if meanings := read_unit(found["unit"]):
            # A ratio is told as it is, or in per cent.
            return (*meanings, BARE) if found["unit"].lower() in _RATIOS else meanings
    return ()


def _read_behind(
    text: str, found: re.Match[str], *, is_claim: bool
) -> tuple[tuple[Meaning, ...], int]:
    """What the unit behind a number means, and where number and unit end."""
    unit, end = found["unit"] or "", found.end()
    meanings = read_unit(unit) if unit else ()
    is_apart = bool(unit) and text[found.start("unit") - 1] in " \u00a0\u202f\u2009\t\n-"
    if unit and is_apart and len(unit) == 1 and (not is_claim or unit in _NONE_LETTERS):
        # "0 1 T" in a table is no terabyte.
        meanings = meanings if unit == "%" else ()
    if unit and not meanings:
        unit, end = "", found.end("digits")
    if unit.lower() in COUNTS:
        meanings, end = _read_counted(text, meanings, end)
    if not meanings:
        meanings = (BARE,)
    per = _PER.match(text, end)
    is_counted = per is None and meanings[0][0] == ""
    per = per or (_COUNTED_PER.match(text, end) if is_counted and is_claim else None)
    if per is not None and meanings[0][0] in ("", "bytes"):
        rate = read_unit(per["per"])[0][1][0]
        meanings = tuple((family, _per(scales, rate)) for family, scales in meanings)
        end = end if is_counted else per.end()
    return (meanings if meanings != (BARE,) else ()), end


def _per(scales: tuple[float, ...], seconds: float) -> tuple[float, ...]:
    """What goes by the minute may be given by the second."""
    return scales if seconds == 1.0 else (*scales, *(scale / seconds for scale in scales))


def _read_counted(
    text: str, meanings: tuple[Meaning, ...], end: int
) -> tuple[tuple[Meaning, ...], int]:
    """ "3 million bytes" has a unit behind its thousands."""
    behind = _UNIT_BEHIND.match(text, end)
    unit = read_unit(behind["unit"]) if behind is not None and len(behind["unit"]) > 2 else ()
    if behind is None or not unit:
        return meanings, end
    factor = meanings[0][1][0]
    (family, scales), *_ = unit
    return ((family, tuple(scale * factor for scale in scales)),), behind.end()


def _make(
    digits: str,
    meanings: tuple[Meaning, ...],
    start: int,
    end: int,
    *,
    sign: str = "",
    half: bool = False,
) -> Quantity:
    """Every way to read these digits with this unit; the first is the likeliest."""
    ways = [
        _make_one(number, decimals, meaning, start, end)
        for number, decimals in _read_digits(digits, half=half)
        for meaning in meanings or (BARE,)
    ]
    if sign in ("-", "\u2212"):
        ways += [replace(way, number=-way.number) for way in ways]
    return replace(ways[0], others=tuple(ways[1:])) if len(ways) > 1 else ways[0]


def _make_one(number: float, decimals: int, meaning: Meaning, start: int, end: int) -> Quantity:
    family, scales = meaning
    if not family and scales[0] >= 100:
        factor = scales[0]
        places = len(f"{factor:.0f}") - 1
        rates = (1.0, *(scale / factor for scale in scales[1:]))
        return Quantity(number * factor, decimals - places, "", rates, start, end)
    return Quantity(number, decimals, family, scales, start, end)


def _as_float(digits: str) -> float:
    """A number that can be reckoned with, however many digits somebody wrote."""
    return min(float(digits), LARGEST)


def _read_digits(digits: str, *, half: bool = False) -> list[tuple[float, int]]:
    """The numbers that these digits may be: 1.234 is a thousand where commas are points."""
    bare = re.sub(r"['\u2019_ \u00a0\u2009\u202f]", "", digits)
    commas, points = bare.count(","), bare.count(".")
    ways: list[str] = []
    if commas and points:
        ways = [bare.replace(",", "")] if bare.rfind(".") > bare.rfind(",") else [
            bare.replace(".", "").replace(",", ".")
        ]  # fmt: skip
    elif commas:
        is_grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+", bare) is not None
        ways = [bare.replace(",", "") if is_grouped else bare.replace(",", ".")]
    elif points > 1:
        ways = [bare.replace(".", "")]
    else:
        ways = [bare]
        if points and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", bare):
            ways.append(bare.replace(".", ""))
    found = []
    for way in ways:
        number = _as_float(way) + (0.5 if half else 0.0)
        mantissa = way.lower().partition("e")[0]
        found.append((number, len(mantissa.partition(".")[2]) or int(half)))
    return found
