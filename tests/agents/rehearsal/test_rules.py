import openai
import pytest

from tests.agents.rehearsal.asking import ask, called, offer, result, system, user

pytestmark = pytest.mark.asyncio


async def test_the_first_rule_that_fits_answers(rehearse, connect):
    server = rehearse("[{reply: {text: first}}, {reply: {text: second}}]")

    assert await ask(await connect(server), [user()]) == "first"


async def test_the_agent_is_the_one_the_system_prompt_names(rehearse, connect):
    server = rehearse(
        """
        - {when: {agent: ^Disk}, reply: {text: disks}}
        - {when: {agent: Memory}, reply: {text: memory}}
        - {reply: {text: somebody}}
        """
    )
    client = await connect(server)

    assert await ask(client, [system("DiskAgent"), user()]) == "disks"
    assert await ask(client, [system("MemoryAgent-2"), user()]) == "memory"
    assert await ask(client, [system("None"), user("Agent: DiskAgent")]) == "somebody"
    agents = [request.agent for request in server.requests]
    assert agents == ["DiskAgent", "MemoryAgent-2", "None"]
    assert [request.rule for request in server.requests] == [0, 1, 2]


async def test_where_no_system_prompt_may_be_the_first_message_names_the_agent(rehearse, connect):
    server = rehearse(
        """
        - {when: {agent: ^Disk}, reply: {text: disks}}
        - {reply: {text: somebody}}
        """
    )
    client = await connect(server)

    assert await ask(client, [user("Agent: DiskAgent\nWhat is full?")]) == "disks"
    assert await ask(client, [user("What is full?"), user("Agent: DiskAgent")]) == "somebody"


async def test_the_turn_counts_the_assistant_messages(rehearse, connect):
    server = rehearse(
        """
        - {when: {turn: 0}, reply: {text: begin}}
        - {when: {turn: 1-2}, reply: {text: middle}}
        - {when: {turn: 3+}, reply: {text: end}}
        """
    )
    client = await connect(server)
    conversation = [user()]
    answers = []

    for _ in range(5):
        answers.append(await ask(client, conversation))
        conversation += [{"role": "assistant", "content": answers[-1]}, user("go on")]

    assert answers == ["begin", "middle", "middle", "end", "end"]


async def test_content_is_sought_in_the_last_input_or_anywhere(rehearse, connect):
    server = rehearse(
        """
        - {when: {contains: "(?i)no space"}, reply: {text: full}}
        - {when: {anywhere: OOM}, reply: {text: killed}}
        - {reply: {text: unknown}}
        """
    )
    client = await connect(server)
    spoken = [user("OOM in pod"), called("c1", "ops__read"), result("c1", "[T1] No space left")]

    assert await ask(client, spoken) == "full"
    assert await ask(client, [*spoken, user("and now?")]) == "killed"
    assert await ask(client, [user("hello")]) == "unknown"


async def test_offered_tools_and_model_decide(rehearse, connect):
    server = rehearse(
        """
        - {when: {model: ^mini}, reply: {text: small}}
        - {when: {tools: [ops__read, ops__storage]}, reply: {text: both}}
        - {when: {tools: ["ops__*"]}, reply: {text: some}}
        - {when: {tools: []}, reply: {text: none}}
        - {reply: {text: other}}
        """
    )
    client = await connect(server)

    assert await ask(client, [user()], model="mini-1") == "small"
    assert await ask(client, [user()], tools=offer("ops__read", "ops__storage")) == "both"
    assert await ask(client, [user()], tools=offer("ops__read")) == "some"
    assert await ask(client, [user()]) == "none"
    assert await ask(client, [user()], tools=offer("kubernetes__get")) == "other"


async def test_a_rule_is_used_up_after_its_times(rehearse, connect):
    server = rehearse(
        """
        - {times: 2, reply: {error: {status: 503}}}
        - {reply: {text: recovered}}
        """
    )
    client = await connect(server)

    for _ in range(2):
        with pytest.raises(openai.InternalServerError):
            await ask(client, [user()])

    assert await ask(client, [user()]) == "recovered"


async def test_a_request_no_rule_answers_is_refused_by_name(rehearse, connect):
    server = rehearse("[{when: {agent: Disk}, reply: {text: disks}}]")

    with pytest.raises(openai.BadRequestError, match="turn 0 of agent Memory"):
        await ask(await connect(server), [system("Memory"), user()])
