"""A series in the result of a tool is drawn, in whatever shape its server gives it."""

import json

import pytest

from investigations.rendering.charts import draw_chart
from investigations.rendering.series import find_series, may_begin_series
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.conftest import add_tool_call

T0 = 1_760_000_000
ISO = ("2026-11-30T03:00:00Z", "2026-11-30T03:01:00Z", "2026-11-30T03:02:00Z")
PROMETHEUS = {
    "status": "success",
    "data": {"resultType": "matrix", "result": [
        {"metric": {"__name__": "up", "pod": "basket-7"},
         "values": [[T0, "1"], [T0 + 15.5, "NaN"], [T0 + 30, "3.5"], [T0 + 45, "2"]]},
        {"metric": {"pod": "basket-8"}, "values": [[T0, "4"], [T0 + 15, "5"], [T0 + 30, "6"]]},
    ]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (PROMETHEUS, [("__name__=up, pod=basket-7", [1, 3.5, 2]), ("pod=basket-8", [4, 5, 6])]),
        ([{"target": "cpu", "datapoints": [[1, T0], [None, T0 + 6], [2, T0 + 12], [3, T0 + 18]]}],
         [("cpu", [1, 2, 3])]),
        ({"points": [{"time": at, "errors": n, "host": "a"} for n, at in enumerate(ISO)]},
         [("points, errors", [0, 1, 2])]),
        ([[T0 * 1000 + 2000, 7], [T0 * 1000 + 1000, 8], [T0 * 1000, 9]], [("", [9, 8, 7])]),
        ({"newest": {"rows": [[at, "1e3"] for at in ISO]}}, [("newest", [1000] * 3)]),
        ([[T0, 1], [T0 + 1, 2]], []),
        ([[1, 2], [3, 4], [5, 6]], []),
        ([[T0, 1], [T0 + 9, 2], [T0 + 3, 3]], []),
        ([[T0, "a"], [T0 + 1, "b"], [T0 + 2, "c"]], []),
        ([[T0, True], [T0 + 1, False], [T0 + 2, True]], []),
        ([[T0, 1], [T0 + 1, 2], "x"], []),
        ({"items": [{"at": ISO[0], "n": 1}, {"n": 2, "at": ISO[1]}, {"at": ISO[2], "n": 3}]}, []),
        ([[f"0001-01-01T00:00:0{n}+14:00", n] for n in range(3)], []),
        ([[f"9999-12-31T23:59:5{n}-14:00", n] for n in range(3)], []),
        ("a text", []),
    ],
)  # fmt: skip
def test_points_are_found_by_their_form(result, found):
    series = find_series(json.dumps(result))

    assert [(each.name, [value for _, value in each.points]) for each in series] == found


@pytest.mark.parametrize("text", ["", "[", "[[[" * 500, '{"a": 1', "[1e999,1,2]", "NaN", "\x00[1]"])
def test_what_is_no_whole_json_has_no_series(text):
    assert find_series(text) == ()


def test_a_chart_keeps_the_highest_and_lowest_of_a_long_series():
    values = [5.0] * 10_000
    values[777], values[8_000] = 99.0, -3.0
    chart = draw_chart(find_series(json.dumps([[T0 + n, v] for n, v in enumerate(values)])))

    assert chart is not None
    (line,) = chart.lines
    assert (chart.low, chart.high, line.last) == ("-3", "99", "5")
    assert len(line.places.split()) <= 300
    assert {place.split(",")[1] for place in line.places.split()} >= {"0.0", "120.0"}


@pytest.mark.parametrize("values", [[1e308, -1e308, 0], [5, 5, 5], [1e-9, 2e-9, 3e-9]])
def test_values_of_any_size_have_a_place_in_the_box(values):
    chart = draw_chart(find_series(json.dumps([[T0 + n, v] for n, v in enumerate(values)])))

    assert chart is not None
    places = [tuple(map(float, each.split(","))) for each in chart.lines[0].places.split()]
    assert all(0 <= x <= chart.width and 0 <= y <= chart.height for x, y in places)


def test_of_many_series_six_are_drawn_and_the_others_counted():
    result = [{"name": f"n{n}", "values": [[T0 + t, t * n] for t in range(3)]} for n in range(9)]

    chart = draw_chart(find_series(json.dumps(result)))

    assert chart is not None
    assert (len(chart.lines), chart.left_out) == (6, 3)


def test_a_beginning_tells_whether_the_rest_is_worth_a_look():
    text = json.dumps(PROMETHEUS)

    assert may_begin_series(text[:190])
    assert not may_begin_series(json.dumps({"items": [{"pod": "basket-7"}] * 9}))


@pytest.mark.django_db
def test_a_short_result_comes_with_its_chart_and_a_long_one_with_a_way_to_it(viewer):
    session = SessionFactory(completed=True)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 1, json.dumps(PROMETHEUS))
    values = [[T0 + n, "7"] for n in range(2_000)]
    long = add_tool_call(execution, 2, json.dumps({"<b>evil": {"x": "1"}, "values": values}))
    add_tool_call(execution, 3, '{"pod": "basket-7"}')

    page = viewer.get(f"/sessions/{session.pk}/").content.decode()
    drawn = viewer.get(f"/sessions/{session.pk}/events/{long.pk}/chart/").content.decode()
    beside = viewer.get(f"/sessions/{session.pk}/calls/2/quote/").content.decode()

    assert page.count('class="t-chart"') == 1
    assert "__name__=up, pod=basket-7</span> lowest 1, highest 3.5, last 2" in page
    assert page.count(">Draw a chart</a>") == 1
    for html in (drawn, beside):
        assert html.count("<polyline") == 2
        assert "lowest 7, highest 7, last 7" in html
        assert "style=" not in html
    plain = session.timeline_events.get(metadata__tool_number=3)
    answer = viewer.get(f"/sessions/{session.pk}/events/{plain.pk}/chart/").content.decode()
    assert "no series of values over time" in answer
