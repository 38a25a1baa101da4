"""Templates of packs, filled with what was found."""

from datetime import UTC, datetime

from rules.evaluation import Scope
from rules.functions import workload

TOLD = "It ends{{it.code > 0 ? ' with exit code ' + string(int(it.code)) : ''}}."


def tell(template: str, **it: object) -> str:
    return Scope({"it": it}, datetime(2026, 11, 30, tzinfo=UTC)).tell(template)


def test_a_part_that_is_there_only_sometimes_is_parted_by_its_own_blank():
    assert tell(TOLD, code=3) == "It ends with exit code 3."
    assert tell(TOLD, code=0) == "It ends."


def test_a_value_stays_on_its_line():
    assert tell("Its log ends with: {{it.line}}", line="out of\n  memory ") == (
        "Its log ends with: out of memory"
    )


def test_a_run_of_a_cron_job_and_its_pods_belong_to_the_cron_job():
    assert workload("", "export-29408000") == "export"
    assert workload("", "export-29408000-p8z2m") == "export"
    assert workload("", "db-0") == "db"
