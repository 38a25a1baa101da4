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
    """The variable that holds the token for runbooks in private repositories."""


class RunbooksConfig(Block):
    """Without `repo_url` runbooks are not listed; addresses in alerts still work."""

    repo_url: OptionalUrl = None
    """A folder of a GitHub repository whose runbooks the form that submits alerts lists."""
    cache_ttl: PositiveDuration = timedelta(minutes=1)
    """How long the list and a fetched runbook are remembered."""
    allowed_domains: List[FilledText] = ("github.com", "raw.githubusercontent.com")
    """The hosts that runbooks may come from, as bare names."""


class SlackConfig(Block):
    enabled: Boolean = False
    """Whether Slack is told of sessions that begin and end."""
    token_env: VariableName = "SLACK_BOT_TOKEN"
    """The variable that holds the token of the bot."""
    channel: Text = ""
    """The channel that is told, by its id."""


class RateConfig(Block):
    """US dollars for a million tokens."""

    input_per_million: Rate
    """What a million tokens of questions cost, in US dollars."""
    output_per_million: Rate
    """What a million tokens of answers cost, in US dollars."""


class PromotionConfig(RateConfig):
    """Other rates for a model from `start` (None: ever since) until just before `end`."""

    id: Text = ""
    """A name of its own for the promotion."""
    model: FilledText
    """The model that the rates are for."""
    start: Moment | None = None
    """From when on the rates hold. Unset: ever since."""
    end: Moment
    """Until just before when the rates hold."""


class CostEstimationConfig(Block):
    enabled: Boolean = True
    """Whether the cost of each call of a model is estimated."""
    model_rates: Table[RateConfig] = Field(default_factory=nothing)
    """Rates of your own by the name of the model, in US dollars for a million tokens. They count
    before the bundled prices, which know no model behind a `base_url`."""
    promotions: List[PromotionConfig] = ()
    """Rates that hold for a while."""

    def price(
        self, model: str, input_tokens: int | None, output_tokens: int | None
    ) -> float | None:
        """Dollars for a call by the rates here; None where they say nothing of its model, and for a
        call whose tokens are not known."""
        rate = self.model_rates.get(model)
        if rate is None or (input_tokens is None and output_tokens is None):
            return None
        asked = (input_tokens or 0) * rate.input_per_million
        return (asked + (output_tokens or 0) * rate.output_per_million) / 1_000_000


class RetentionConfig(Block):
    session_retention_days: Integer = 365
    """After how many days a session that has ended is hidden. It is deleted 30 days later. Notes
    about resources are deleted at this age."""
    delivery_retention_days: Integer = 30
    """After how many days posts of alert sources are deleted; the incidents stay."""
    event_ttl: Duration = timedelta(hours=1)
    """How long after the end of a session its stream messages are kept."""
    cleanup_interval: Duration = timedelta(hours=12)
    """How often old things are looked for."""


class LimitsConfig(Block):
    """What one source may ask in a minute: a token, a person, else an address. `null` is no limit.

    `logins` are attempts for one account from one address.
    """

    alerts: Limit = 6000
    """How many alerts one source may send."""
    requests: Limit = 6000
    """How many other requests of the API one source may make."""
    questions: Limit = 20
    """How many questions one source may ask in the chat."""
    decisions: Limit = 60
    """How many times one source may approve or deny."""
    logins: Limit = 10
    """How many times one account may be tried from one address. All accounts together may be tried
    ten times as often."""


class HolidayConfig(Block):
    """A day of every year, as `MM-DD`."""

    date: FilledText
    """The day, as `MM-DD`."""
    name: FilledText
    """What the day is called."""


class SystemConfig(Block):
    dashboard_url: Url = "http://localhost:5173"
    """Where another dashboard for this API is served from."""
    allowed_ws_origins: List[FilledText] = ()
    """Places whose pages may follow the stream besides our own, stars allowed."""
    github: GithubConfig = GithubConfig()
    """Access to GitHub."""
    runbooks: RunbooksConfig = RunbooksConfig()
    """Where runbooks come from."""
    slack: SlackConfig = SlackConfig()
    """Messages to Slack."""
    cost_estimation: CostEstimationConfig = Field(default_factory=CostEstimationConfig)
    """What calls of models are said to cost."""
    retention: RetentionConfig = RetentionConfig()
    """How long things are kept."""
    limits: LimitsConfig = LimitsConfig()
    """How much one source may ask in a minute. A source is a token, a person, else an address;
    `null` is no limit."""
    holidays: List[HolidayConfig] = (
        HolidayConfig(date="01-01", name="New Year's Day"),
        HolidayConfig(date="12-25", name="Christmas Day"),
    )
    """Days of every year on which agents are told that few people are on duty."""
