"""Every name within a pack that must be the name of something, and loops between its parts."""

from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from config.checks.findings import Findings
from config.schema.expressions import explain_unknown, names_in, names_in_template
from config.schema.packs import (
    FactConfig,
    FormConfig,
    LookConfig,
    PackConfig,
    RuleConfig,
    WayConfig,
)
from config.tree import Path, match
from config.words import suggest

_ALWAYS = frozenset({"alert", "now", "onset"})
_RESERVED = _ALWAYS | {"it", "rows", "count"}


def check_pack(findings: Findings, pack: PackConfig) -> None:
    """Report each name that names nothing, and each part that depends on itself."""
    _check_names(findings, ("needs",), pack.needs, pack.ways, "way")
    if pack.only_for is not None:
        _check_expression(findings, ("only_for",), pack.only_for, _ALWAYS)
    for name, look in pack.looks.items():
        _check_look(findings, pack, ("looks", name), look)
    for name, fact in pack.facts.items():
        _check_fact(findings, pack, ("facts", name), fact)
    for name, rule in pack.rules.items():
        _check_rule(findings, pack, ("rules", name), rule)
    for index, well in enumerate(pack.well):
        place: Path = ("well", index)
        _check_names(findings, (*place, "each"), [well.each], pack.facts, "fact")
        _check_names(findings, (*place, "unless"), well.unless, pack.rules, "rule")
        known = {*_ALWAYS, "rows", "count"}
        if well.when is not None:
            _check_expression(findings, (*place, "when"), well.when, known)
        _check_template(findings, (*place, "says"), well.says, known)
    _check_order(findings, pack)


def check_pack_names(findings: Findings, packs: Collection[str]) -> None:
    """Report agents that name a pack which is not there, and keys without effect."""
    for path, agent in match(findings.root, "agents.*"):
        named = agent.get("packs")
        for index, node in enumerate(named.items if named else ()):
            _check_names(findings, (*path, "packs", index), [node.text], packs, "pack")
        is_used = agent.text_at("type") == "rules" or agent.text_at("fallback") == "rules"
        if named is not None and named.items and not is_used:
            findings.warn((*path, "packs"), "has no effect without type: rules or fallback: rules")
    for path, noise in match(findings.root, "known_noise.*.rule"):
        pack, mark, _ = noise.text.partition(".")
        if not mark and "*" not in pack:
            findings.wrong(path, "names a rule as pack.rule; a * stands for any text")


def _check_look(findings: Findings, pack: PackConfig, place: Path, look: LookConfig) -> None:
    if bool(look.way) == bool(look.ask):
        findings.wrong(place, "needs either way or ask")
    if look.way:
        _check_names(findings, (*place, "way"), [look.way], pack.ways, "way")
    if look.over:
        _check_names(findings, (*place, "over"), [look.over], pack.facts, "fact")
        if not look.keep:
            text = (
                "a look over a fact needs keep: the fields that tell one of its calls from another"
            )
            findings.wrong(place, text)
    _check_names(findings, (*place, "after"), look.after, pack.looks, "look")
    known = {*_ALWAYS, *(["it"] if look.over else [])}
    for name, value in look.values.items():
        _check_template(findings, (*place, "values", name), value, known)
    if look.when is not None:
        _check_expression(findings, (*place, "when"), look.when, known)
    for index, way in enumerate(look.ask):
        _check_way(findings, (*place, "ask", index), way, {*known, *look.values})
    for index, way in enumerate(pack.ways.get(look.way, ())):
        _check_way(findings, ("ways", look.way, index), way, {*known, *look.values})


def _check_way(findings: Findings, place: Path, way: WayConfig, known: Collection[str]) -> None:
    for name, value in way.arguments.items():
        for text in [value] if isinstance(value, str) else value if isinstance(value, list) else ():
            if isinstance(text, str):
                _check_template(findings, (*place, "arguments", name), text, known)


def _check_fact(findings: Findings, pack: PackConfig, place: Path, fact: FactConfig) -> None:
    if bool(fact.looks) == bool(fact.of):
        findings.wrong(place, "is read from looks, or is of other facts; write one of the two")
    if fact.failed and any(form.pattern is None for form in fact.forms):
        findings.wrong((*place, "failed"), "is read from words, so its forms are patterns")
    if fact.looks and not fact.forms:
        findings.wrong(place, "needs forms that say how its rows are read")
    _check_names(findings, (*place, "looks"), fact.looks, pack.looks, "look")
    _check_names(findings, (*place, "of"), fact.of, pack.facts, "fact")
    for index, form in enumerate(fact.forms):
        _check_form(findings, pack, (*place, "forms", index), form)
    known = {*_ALWAYS, "it"}
    for name, join in fact.join.items():
        _check_names(findings, (*place, "join", name, "fact"), [join.fact], pack.facts, "fact")
        _refuse_reserved(findings, (*place, "join", name), name)
    if fact.where is not None:
        _check_expression(findings, (*place, "where"), fact.where, {*known, *fact.join})
    for name, source in fact.add.items():
        _check_expression(findings, (*place, "add", name), source, known)
    for text in (*([fact.entity] if fact.entity else []), *fact.needs, *fact.needed_by):
        _check_template(findings, place, text, known)


def _check_form(findings: Findings, pack: PackConfig, place: Path, form: FormConfig) -> None:
    reads_log = form.log not in ("", "run")
    kinds = [form.rows is not None, bool(form.columns), form.pattern is not None, reads_log]
    if sum(kinds) != 1:
        findings.wrong(place, "is one of rows, columns, pattern and log")
    if form.rows is not None and not form.fields:
        findings.wrong(place, "rows need fields")
    if form.rows is None and (form.fields or form.each):
        findings.wrong(place, "fields and each go with rows")
    if form.log == "run" and form.pattern is None:
        findings.wrong((*place, "log"), "run goes with a pattern")
    _check_names(findings, (*place, "of"), form.of, pack.looks, "look")


def _check_rule(findings: Findings, pack: PackConfig, place: Path, rule: RuleConfig) -> None:
    known = {*_ALWAYS, *(["it"] if rule.each else [])}
    if rule.each:
        _check_names(findings, (*place, "each"), [rule.each], pack.facts, "fact")
    for name, join in rule.join.items():
        _check_names(findings, (*place, "join", name, "fact"), [join.fact], pack.facts, "fact")
        _refuse_reserved(findings, (*place, "join", name), name)
        if join.on and not rule.each:
            findings.wrong(
                (*place, "join", name), "joins by fields of it, and the rule has no each"
            )
    known |= set(rule.join)
    for name, source in rule.let.items():
        _refuse_reserved(findings, (*place, "let", name), name)
        _check_expression(findings, (*place, "let", name), source, known)
        known.add(name)
    _check_expression(findings, (*place, "when"), rule.when, known)
    if rule.since is not None:
        _check_expression(findings, (*place, "since"), rule.since, known)
    for name, source in rule.doubt.items():
        _check_expression(findings, (*place, "doubt", name), source, known)
    for index, cite in enumerate(rule.cites):
        _check_names(findings, (*place, "cites", index, "row"), [cite.row], known, "name")
        _check_expression(findings, (*place, "cites", index, "quote"), cite.quote, known)
    if rule.repair is not None:
        where = (*place, "repair")
        for name, value in rule.repair.arguments.items():
            if isinstance(value, str):
                _check_template(findings, (*where, "arguments", name), value, known)
        _check_template(findings, (*where, "does"), rule.repair.does, known)
    texts = {
        "says": (rule.says,), "at": (rule.at,), "group": (rule.group,) if rule.group else (),
        "affects": rule.affects,
        "rules_out": rule.rules_out, "next": rule.next, "tells_more": rule.tells_more,
    }  # fmt: skip
    for key, templates in texts.items():
        for text in templates:
            _check_template(findings, (*place, key), text, known)
    _check_names(findings, (*place, "explains"), rule.explains, pack.rules, "rule")
    _check_names(findings, (*place, "yields_to"), rule.yields_to, pack.rules, "rule")
    for index, example in enumerate(rule.examples):
        where = (*place, "examples", index, "answers")
        _check_names(findings, where, example.answers, pack.looks, "look")


def _refuse_reserved(findings: Findings, place: Path, name: str) -> None:
    if name in _RESERVED or not name.isidentifier():
        findings.wrong(place, f"'{name}' cannot be the name of a value here")


def _check_names(
    findings: Findings, place: Path, names: Iterable[str], known: Collection[str], kind: str
) -> None:
    for name in names:
        if name not in known:
            findings.wrong(place, f"there is no {kind} '{name[:60]}'{suggest(name, known)}")


def _check_expression(findings: Findings, place: Path, source: str, known: Collection[str]) -> None:
    if wrong := explain_unknown(names_in(source), known):
        findings.wrong(place, wrong)


def _check_template(findings: Findings, place: Path, text: str, known: Collection[str]) -> None:
    try:
        names = names_in_template(text)
    except ValueError as error:
        findings.wrong(place, str(error))
        return
    if wrong := explain_unknown(names, known):
        findings.wrong(place, wrong)


def _check_order(findings: Findings, pack: PackConfig) -> None:
    """Looks wait for facts and facts for looks: somewhere it has to begin."""
    needs: dict[Path, set[Path]] = {}
    for name, look in pack.looks.items():
        waits: set[Path] = {("looks", other) for other in look.after}
        needs[("looks", name)] = waits | ({("facts", look.over)} if look.over else set())
    for name, fact in pack.facts.items():
        looked: set[Path] = {("looks", other) for other in fact.looks}
        others = (*fact.of, *(join.fact for join in fact.join.values()))
        needs[("facts", name)] = looked | {("facts", other) for other in others}
    _refuse_loop(findings, needs)
    yields: Mapping[Path, set[Path]] = {
        ("rules", name): {("rules", other) for other in rule.yields_to}
        for name, rule in pack.rules.items()
    }
    _refuse_loop(findings, yields)


def _refuse_loop(findings: Findings, needs: Mapping[Path, set[Path]]) -> None:
    try:
        tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        names = [str(step[-1]) for step in error.args[1]]
        findings.wrong(error.args[1][0], f"waits for itself: {' -> '.join(names)}")
