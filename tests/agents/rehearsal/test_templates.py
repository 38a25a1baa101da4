import json

import openai
import pytest

from tests.agents.rehearsal.asking import (
    Spoken,
    ask,
    called,
    listen_to,
    offer,
    result,
    system,
    user,
)

ENVELOPE = json.dumps(
    {
        "ok": True,
        "data": {"filesystems": [{"path": "/var", "used_percent": 93.5}]},
        "error": None,
        "meta": {"host": "web-1"},
    }
)
FAILURE = json.dumps({"ok": False, "data": None, "error": {"message": "no such unit"}, "meta": {}})


def fenced(number: int, text: str) -> str:
    return f"[T{number}]\n<<<outside 3f2a tool result>>>\n{text}\n<<<end outside 3f2a>>>"


def conversation(content: str) -> list[Spoken]:
    return [
        system("Disk"),
        user("look"),
        called("c1", "ops__storage", '{"action": "usage"}'),
        result("c1", content),
    ]


async def test_a_report_quotes_the_result_and_cites_its_number(rehearse, connect):
    server = rehearse(
        """
        - reply:
            text: >-
              {% set fs = result('ops__storage', action='usage').data.filesystems[0] %}
              {{ fs.path }} is {{ fs.used_percent }} % full {{ results[0].cite }}
        """
    )

    answer = await ask(await connect(server), conversation(fenced(5, ENVELOPE)))

    assert answer == "/var is 93.5 % full [T5]"


async def test_a_report_cites_with_the_words_of_the_result_where_it_says_so(rehearse, connect):
    server = rehearse(
        """
        - reply:
            text: >-
              {{ results[0].quote('used_percent', 93.5) }} {{ results[0].quote('path', '/var') }}
              {{ results[0].quote('used_percent', 93) }} {{ results[0].quote('path', nothing) }}
        """
    )

    answer = await ask(await connect(server), conversation(fenced(5, ENVELOPE)))

    assert answer == '[T5 "used_percent: 93.5"] [T5 "path: /var"] [T5] [T5]'


async def test_the_last_result_of_the_same_call_counts(rehearse, connect):
    server = rehearse(
        """
        - reply:
            text: "{{ result('*').number }} {{ result('ops__storage', action='usage').number }}
              {{ result('ops__read') }} {{ results | map(attribute='name') | join('+') }}"
        """
    )
    messages = conversation(fenced(5, ENVELOPE))
    messages += [called("c2", "ops__storage", '{"action": "usage"}'), result("c2", "[T6] {}")]
    messages += [called("c3", "ops__metrics"), result("c3", "[T7] {}")]

    answer = await ask(await connect(server), messages)

    assert answer == "7 6 None ops__storage+ops__storage+ops__metrics"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (fenced(5, ENVELOPE), "ok"),
        (fenced(5, FAILURE), "no such unit"),
        (fenced(5, ENVELOPE[:40]), "its result could not be read"),
        (fenced(5, "connection refused"), "its result could not be read"),
        (fenced(5, '{"n": ' + "9" * 10_000 + "}"), "its result could not be read"),
        (fenced(5, '{"a":' * 50_000), "its result could not be read"),
        ("{not json} " + ENVELOPE, "ok"),
        ("", "its result could not be read"),
    ],
    ids=["ok", "failed", "cut", "text", "huge number", "deep", "braces before", "empty"],
)
async def test_a_result_says_what_is_wrong_with_it(rehearse, connect, content, expected):
    server = rehearse("[{reply: {text: \"{{ results[0].error or 'ok' }}\"}}]")

    assert await ask(await connect(server), conversation(content)) == expected


async def test_tool_arguments_are_filled_and_unoffered_calls_left_out(rehearse, connect):
    server = rehearse(
        """
        - reply:
            tool_calls:
              - name: ops__read
                arguments: {path: "{{ alert | upper }}", lines: 5}
                if_offered: true
              - {name: ops__docker, if_offered: true}
              - {name: unknown__tool}
        """
    )
    question = "Investigate.\n<<<outside 9c alert data>>>\n/var/log\n<<<end outside 9c>>>\nGo."

    heard = await listen_to(await connect(server), [user(question)], tools=offer("ops__read"))

    assert [call["name"] for call in heard.calls] == ["ops__read", "unknown__tool"]
    assert json.loads(heard.calls[0]["arguments"]) == {"path": "/VAR/LOG", "lines": 5}


async def test_macros_are_seen_by_every_template(rehearse, connect):
    server = rehearse(
        """
        macros: |
          {% macro greet(name) %}hello {{ name }} of {{ agent }}{% endmacro %}
          {% set size = 1610612736 | human_bytes %}
        rules:
          - reply: {text: "{{ greet('you') }}: {{ size }}"}
        """
    )

    assert (
        await ask(await connect(server), [system("Disk"), user()]) == "hello you of Disk: 1.5 GiB"
    )


async def test_findings_of_earlier_agents_can_be_quoted(rehearse, connect):
    server = rehearse(
        """
        - reply:
            text: "{% for f in findings %}{{ f.agent }}: {{ f.conclusion }}
              ({{ f.confidence }}) {{ f.claims | join(';') }}|{% endfor %}"
        """
    )
    reports = (
        "### Agent: DiskAgent (completed)\n## Conclusion\n/var is nearly full.\n\n"
        "Confidence: high (measured)\n\n## Evidence\n1. /var is 93 % full [T2]\n"
        "2. not cited\n\n## Next steps\n- clean\n"
        "### Agent: MemoryAgent\n## Conclusion\nMemory is fine. **Confidence: low** (guess)\n"
    )

    answer = await ask(await connect(server), [system("SynthesisAgent"), user(reports)])

    assert answer.split("|")[0] == "DiskAgent: /var is nearly full. (high) /var is 93 % full [T2]"
    assert answer.split("|")[1] == "MemoryAgent: Memory is fine. (low) "


@pytest.mark.parametrize("template", ["{{ 1 / 0 }}", "{{ ''.__class__.__mro__ }}{{ 1 + none }}"])
async def test_a_template_that_fails_says_which(rehearse, connect, template):
    server = rehearse(f'[{{name: broken one, reply: {{text: "{template}"}}}}]')

    with pytest.raises(openai.InternalServerError, match="a template of broken one failed"):
        await ask(await connect(server), [user()])


async def test_outside_text_is_never_taken_for_a_template(rehearse, connect):
    server = rehearse('[{reply: {text: "{{ last }}"}}]')

    assert await ask(await connect(server), [user("{{ 7 * 7 }}")]) == "{{ 7 * 7 }}"
