"""`system`: the world around the product."""

from datetime import timedelta

from pydantic import Field

from config.schema.fields import (
    Block,
    Boolean,
    Duration,
    FilledText,
    Integer,
    Limit,
    List,
    Moment,
    OptionalUrl,
    PositiveDuration,
    Rate,
    Table,
    Text,
    Url,
    VariableName,
    nothing,
)


class GithubConfig(Block):
    token_env: VariableName = "GITHUB_TOKEN"


class RunbooksConfig(Block):
    """Without `repo_url` runbooks are not listed; addresses in alerts still work."""

    repo_url: OptionalUrl = None
    cache_ttl: PositiveDuration = timedelta(minutes=1)
    allowed_domains: List[FilledText] = ("github.com", "raw.githubusercontent.com")


class SlackConfig(Block):
    enabled: Boolean = False
    token_env: VariableName = "SLACK_BOT_TOKEN"
    channel: Text = ""


class RateConfig(Block):
    """US dollars for a million tokens."""

    input_per_million: Rate
    output_per_million: Rate


class PromotionConfig(RateConfig):
    """Other rates for a model from `start` (None: ever since) until just before `end`."""

    id: Text = ""
    model: FilledText
    start: Moment | None = None
    end: Moment


class CostEstimationConfig(Block):
    enabled: Boolean = True
    model_rates: Table[RateConfig] = Field(default_factory=nothing)
    promotions: List[PromotionConfig] = ()


class RetentionConfig(Block):
    session_retention_days: Integer = 365
    event_ttl: Duration = timedelta(hours=1)
    cleanup_interval: Duration = timedelta(hours=12)


class LimitsConfig(Block):
    """What one source may ask in a minute: a token, a person, else an address. `null` is no limit.

    `logins` are attempts for one account from one address.
    """

    alerts: Limit = 6000
    requests: Limit = 6000
    questions: Limit = 20
    decisions: Limit = 60
    logins: Limit = 10


class HolidayConfig(Block):
    """A day of every year, as `MM-DD`."""

    date: FilledText
    name: FilledText


class SystemConfig(Block):
    dashboard_url: Url = "http://localhost:5173"
    allowed_ws_origins: List[FilledText] = ()
    github: GithubConfig = GithubConfig()
    runbooks: RunbooksConfig = RunbooksConfig()
    slack: SlackConfig = SlackConfig()
    cost_estimation: CostEstimationConfig = Field(default_factory=CostEstimationConfig)
    retention: RetentionConfig = RetentionConfig()
    limits: LimitsConfig = LimitsConfig()
    holidays: List[HolidayConfig] = (
        HolidayConfig(date="01-01", name="New Year's Day"),
        HolidayConfig(date="12-25", name="Christmas Day"),
    )
