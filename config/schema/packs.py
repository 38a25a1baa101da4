"""Packs: what an agent without a model looks at, and what it makes of what it sees."""

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from config.schema.alert_sources import Expression
from config.schema.expressions import Condition, NamedPattern, Pattern, Template, words_in
from config.schema.fields import (
    Block,
    Boolean,
    Count,
    Entry,
    FilledText,
    Integer,
    List,
    Moment,
    Table,
    Text,
    nothing,
    one_of,
)
from config.tree import Scalar

MOST_CALLS_OF_A_LOOK = 20


def _as_argument(value: object) -> object:
    """An argument as it is written: a text, a number, a switch, or a list of such."""
    if isinstance(value, Scalar):
        return str(value) if isinstance(value.value, str) else value.value
    if isinstance(value, list | tuple):
        return [_as_argument(each) for each in value]
    if isinstance(value, str | int | float | bool):
        return value
    raise PydanticCustomError("wrong", "must be a text, a number, a switch or a list of such")


Argument = Annotated[Any, BeforeValidator(_as_argument)]


class AlertWord(Block):
    """Where an alert says what something is called."""

    labels: List[FilledText] = ()
    """Labels, the likeliest first. The case and what parts their words do not matter."""
    text: NamedPattern | None = None
    """What finds it in the alert's text: the first named group."""


class WayConfig(Block):
    """A tool that can be asked, and how."""

    tool: FilledText
    """The tool's name at its server."""
    server: Text = ""
    """The server's name in the configuration. Empty: any that has such a tool with these
    parameters."""
    arguments: Table[Argument] = Field(default_factory=nothing)
    """The arguments. In a text, `{{...}}` is an expression; an argument that comes out empty is
    left out."""


class LookConfig(Block):
    """One look at the world: a tool call, or one for each row of a fact."""

    way: Text = ""
    """The name of the ways to ask."""
    ask: List[WayConfig] = ()
    """The ways to ask, where no other look has the same."""
    values: Table[Template] = Field(default_factory=nothing)
    """Values by name for the arguments of the way."""
    over: Text = ""
    """A fact: one call for each of its rows, `it`."""
    most: Annotated[Integer, Field(ge=1, le=MOST_CALLS_OF_A_LOOK)] = 5
    """How many rows are looked at, at most."""
    keep: List[FilledText] = ()
    """Fields of `it` that the rows read from the answer get, where they have none of their own."""
    when: Condition | None = None
    """Whether to look, with `it` where there is one."""
    after: List[FilledText] = ()
    """Looks without which this one is not made: one of them has to have brought something."""
    expects: Pattern | None = None
    """What stands in every answer that is worth reading. One without it counts as failed: many
    programs tell of an error as if it were their answer."""
    also: Boolean = False
    """Whether all ways are tried, not only the first that answers."""


class FormConfig(Block):
    """How rows are read from one kind of answer. One of `rows`, `columns`, `pattern` and `log`; a
    pattern with `log: run` reads the end of a log."""

    rows: Expression | None = None
    """JSON or YAML: the list of rows."""
    each: Expression | None = None
    """A list within each row: each of its entries becomes a row, and expressions of `fields` begin
    with `row` or `each`."""
    fields: Table[Expression] = Field(default_factory=nothing)
    """JSON or YAML: the fields of a row."""
    columns: Table[FilledText] = Field(default_factory=nothing)
    """A table as kubectl prints it: fields, each with the head of its column."""
    pattern: NamedPattern | None = None
    """Text: each place that matches is a row, with the named groups as its fields."""
    log: Annotated[Literal["", "reason", "complaints", "words", "run"], one_of()] = ""
    """A log. `reason`: the one message that tells why it ends. `complaints`: each kind of message
    that tells of a failure. `words`: what the program said last, as one row. `run`, beside a
    pattern: that reads only what was said shortly before the end of the last run."""
    of: List[FilledText] = ()
    """Looks whose answers have this form. Empty: any."""


class JoinConfig(Block):
    fact: FilledText
    """The fact whose rows are joined."""
    on: Table[Text]
    """Fields of the joined rows, each with the field of `it` that is the same."""
    most: Annotated[Integer, Field(ge=1, le=200)] = 40
    """How many rows are joined at most."""


class FactConfig(Block):
    """Rows that were read from looks, or chosen from another fact."""

    looks: List[FilledText] = ()
    """The looks that it is read from."""
    forms: List[FormConfig] = ()
    """The forms of the answers; the first one that fits an answer reads it."""
    failed: Boolean = False
    """Whether it is read from what the looks said when they failed, in place of their answers: a
    database that takes no more clients says so to whoever looks."""
    all_forms: Boolean = False
    """Whether every form that fits reads it."""
    of: List[FilledText] = ()
    """Facts whose rows it takes, in place of looks."""
    join: Table[JoinConfig] = Field(default_factory=nothing)
    """Rows of other facts that `where` reads, each by its name."""
    where: Condition | None = None
    """Which rows stay, with the row as `it`."""
    numbers: List[FilledText] = ()
    """Fields that are numbers; one that is not there or cannot be read is -1."""
    key: List[FilledText] = ()
    """Fields that tell one thing from another: of two rows with the same, the first one stays, and
    takes from the second what it lacks."""
    add: Table[Condition] = Field(default_factory=nothing)
    """More fields, each by an expression over the row, `it`."""
    entity: Template | None = None
    """What a row is: `kind:name`."""
    needs: List[Template] = ()
    """What the thing depends on, each as `kind:name`. One that ends in `:` or `/` is none."""
    needed_by: List[Template] = ()
    """What depends on it."""
    most: Count = 20_000
    """Rows beyond this number are left out, and that is said."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of what is computed for a row: the fields that it reads are among them."""
        return words_in((self.add, self.where))


class CiteConfig(Block):
    """What is quoted."""

    row: FilledText
    """The name of the row that it was read into."""
    quote: Condition
    """The text that stands in the answer."""


Role = Annotated[Literal["cause", "symptom", "note"], one_of()]
Sureness = Annotated[Literal["certain", "likely", "possible"], one_of()]
Severity = Annotated[Literal["critical", "warning", "info"], one_of()]


class ExampleConfig(Block):
    """Recorded answers, and what the rule makes of them."""

    answers: Table[Text]
    """The answer to each look by its name, as the tool gave it."""
    alert: Table[Text] = Field(default_factory=nothing)
    """The labels of the alert."""
    at: Text = ""
    """When it was: the moment that counts as now."""
    finds: Boolean = True
    """Whether the rule has to find something."""
    says: List[FilledText] = ()
    """What has to stand in the finding's text."""


class RepairConfig(Block):
    """What would mend it: one call that changes something. Only an agent with `proposes` asks for
    it, and the gate decides about it as about every write."""

    tool: FilledText
    """The tool's name at its server."""
    server: Text = ""
    """The server's name in the configuration. Empty: any that has such a tool."""
    arguments: Table[Argument] = Field(default_factory=nothing)
    """The arguments; `{{...}}` is an expression. Where one comes out empty, nothing is asked."""
    does: Template
    """What it is, as a sentence names it: `a restart of web`."""


class RuleConfig(Block):
    """What makes a finding. All of its texts are templates."""

    each: Text = ""
    """A fact: the rule judges each of its rows, `it`. Empty: it judges once."""
    join: Table[JoinConfig] = Field(default_factory=nothing)
    """Rows of other facts that belong to `it`, by a name of yours."""
    let: Table[Condition] = Field(default_factory=nothing)
    """Values by name, in order; where one cannot be had, the rule finds nothing."""
    when: Condition
    """Whether it finds something."""
    says: Template
    """The finding: one sentence with figures."""
    at: Template
    """Where it is: `kind:name`."""
    role: Role = "cause"
    """`cause`: it stands for itself. `symptom`: something else may explain it. `note`: it explains
    nothing and is only mentioned."""
    severity: Severity = "warning"
    """How bad it is."""
    sure: Sureness = "likely"
    """How sure it is."""
    doubt: Table[Condition] = Field(default_factory=nothing)
    """What makes it less sure by one step, each reason with a condition."""
    since: Condition | None = None
    """Since when: a moment, or an age such as `5m`."""
    is_event: Boolean = False
    """Whether it is something that happened, not a state that lasts: one that is much older than
    the alert explains less."""
    cites: List[CiteConfig] = ()
    """What it rests on."""
    affects: List[Template] = ()
    """What depends on the thing at which it is found, each as `kind:name`."""
    group: Template | None = None
    """Findings of this rule with the same text here are one."""
    explains: List[FilledText] = ()
    """Rules whose findings it explains wherever the thing depends on this one, though they are
    causes themselves."""
    yields_to: List[FilledText] = ()
    """Rules that say the same of the same thing more exactly: where one of them finds something,
    this one does not."""
    rules_out: List[Template] = ()
    """What it rules out."""
    next: List[Template] = ()
    """What to do, the first thing first."""
    tells_more: List[Template] = ()
    """Checks that would tell more."""
    repair: RepairConfig | None = None
    """What would mend it."""
    examples: List[ExampleConfig] = ()
    """Recorded answers with what the rule makes of them, which run as tests."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of its expressions and templates: what they read is among them."""
        return words_in(
            getattr(self, name) for name in type(self).model_fields if name != "examples"
        )


class WellConfig(Block):
    """What is said to be well where it was looked at and no rule spoke against it."""

    each: FilledText
    """The fact whose rows were looked at, `rows`."""
    when: Condition | None = None
    """Whether it may be said."""
    unless: List[FilledText] = ()
    """Rules that speak against it."""
    says: Template
    """What is well. `rows` are the first of them, `count` says how many there are."""


class PackConfig(Entry):
    """Looks, facts and rules about one kind of system."""

    pack: FilledText
    """Its name. A pack of yours takes the place of a built-in one of the same name."""
    about: FilledText
    """What it knows, in a few words."""
    needs: List[FilledText] = ()
    """Ways without which the pack is of no use: one of their tools has to be offered."""
    only_for: Condition | None = None
    """The alerts it is for, with `alert`; unset: all."""
    alert: Table[AlertWord] = Field(default_factory=nothing)
    """Names in the alert, as `alert.NAME` in expressions; empty where it has none."""
    ways: Table[List[WayConfig]] = Field(default_factory=nothing)
    """How something can be asked, by name: the first way whose tool is offered, and the next where
    it fails."""
    looks: Table[LookConfig]
    """Looks by name."""
    facts: Table[FactConfig]
    """Facts by name."""
    rules: Table[RuleConfig]
    """Rules by name."""
    well: List[WellConfig] = ()
    """What may be said to be well."""


class KnownNoiseConfig(Block):
    """Findings that somebody knows and does not want to be told as a cause for a while."""

    rule: FilledText
    """The rule, as `pack.rule`; a `*` stands for any text."""
    where: FilledText = "*"
    """What it is found at, as the finding names it; a `*` stands for any text."""
    reason: FilledText
    """Why it is no cause."""
    author: FilledText
    """Who says so."""
    until: Moment
    """The day or moment until which it holds."""
