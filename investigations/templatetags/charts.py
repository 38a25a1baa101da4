"""Charts of what tools answered."""

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from investigations.rendering.charts import draw_chart
from investigations.rendering.series import find_series, may_begin_series

register = template.Library()


@register.filter
def chart(result: str) -> SafeString:
    """The series of a whole result in one box; nothing where it has none."""
    drawn = draw_chart(find_series(result))
    return (
        render_to_string("investigations/chart.html", {"chart": drawn}) if drawn else SafeString("")
    )


@register.filter
def may_be_charted(beginning: str) -> bool:
    """Whether the whole of a result that begins like this may have series in it."""
    return may_begin_series(beginning)
