"""The review of answers, on generated sentences that no rule was written for, and its cost."""

import random
import resource
import time

from benchmarks.figures import Report
from benchmarks.lab import Lab
from safety.evidence import Evidence, SettledCall
from safety.grounding.judge import find_unsupported
from tests.safety.grounding.prose.measuring import Tally, add_up, measure_fresh
from tests.safety.grounding.prose.measuring import measure as measure_half

SEED = 1
HALVES = {"known half": False, "kept back": True}


def measure(lab: Lab) -> Report:
    rows: list[list[str | int | float]] = []
    figures: dict[str, float | int | None] = {}
    for name, kept_back in HALVES.items():
        tallies = measure_half(SEED, lab.choose(4_000, 400), kept_back=kept_back)
        rows += [_row(f"{name}, {kind}", tally) for kind, tally in sorted(tallies.items())]
        total = add_up(tallies.values())
        rows.append(_row(f"{name}, all", total))
        key = name.replace(" ", "_")
        figures[f"{key}_true_marked_percent"] = round(100 * total.marked / total.true, 2)
        figures[f"{key}_true_held"] = total.held
        figures[f"{key}_false_marked_percent"] = round(100 * total.caught / total.false, 1)
    tallies = measure_fresh(SEED, lab.choose(4_000, 400))
    rows += [_row(f"third set, {kind}", tally) for kind, tally in sorted(tallies.items())]
    total = add_up(tallies.values())
    rows.append(_row("third set, all", total))
    figures["third_set_true_marked_percent"] = round(100 * total.marked / total.true, 2)
    figures["third_set_false_marked_percent"] = round(100 * total.caught / total.false, 1)
    for name, size, report in (("640 kB", 640_000, 6_000), ("10 MB", 10_000_000, 1_000_000)):
        figures[f"judge_{name.replace(' ', '_')}_s"] = round(_judge(size, report), 2)
    figures["resident_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    columns = ("sentences", "true", "marked", "held back", "false", "marked ", "%")
    notes = (
        "Goals: 0.5 % of true sentences marked, none held back; 95 % of false figures marked.",
        f"CPU: {figures['judge_640_kB_s']} s for 640 kB of evidence, {figures['judge_10_MB_s']} s "
        f"for a report of 1 MB against 10 MB; {figures['resident_mb']} MB resident in all.",
    )
    return Report(columns, rows, figures, notes)


def _row(name: str, tally: Tally) -> list[str | int | float]:
    share = 100 * tally.caught / tally.false if tally.false else 0.0
    return [name, tally.true, tally.marked, tally.held, tally.false, tally.caught, share]


def _judge(size: int, length: int) -> float:
    """Seconds of CPU to hold a report against results of so many characters."""
    rng = random.Random(SEED)
    line = "2026-10-06T09:{0:02}:{1:02}Z worker-{1} took={2}ms used_bytes:{3} {1}% status=Running\n"
    result = "".join(
        line.format(number // 60 % 60, number % 60, rng.randrange(999), rng.randrange(10**9))
        for number in range(size // 400)
    )
    evidence = Evidence()
    for number in range(4):
        call = SettledCall(f"c{number}", "ops", "read", "read", {}, "succeeded", result)
        evidence.add(call)
    said = "- worker-{0} took {1} ms at 09:{0:02}:11 and uses {1} MB (41 %) [T1].\n"
    report = "".join(said.format(number % 50, number) for number in range(length // 60))
    began = time.process_time()
    find_unsupported(report, evidence)
    return time.process_time() - began
