"""Scripts for the rehearsal server that the end-to-end tests share."""

REPORT = """## Conclusion
{agent} found the load to be normal. Confidence: high

## Evidence
1. The host answered. [T1]

## Next steps
1. Nothing.
"""

ANSWERS = """
  - when: {agent: ^SynthesisAgent}
    reply:
      text: |
        ## Conclusion
        Both agree that the load is normal. Confidence: high
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: The load was normal.}
"""

TOOLS_THEN_REPORT = (
    """
rules:
"""
    + ANSWERS
    + """
  - when: {turn: 0}
    reply:
      thinking: I should look at the host first.
      text: Looking at the host.
      tool_calls:
        - {name: ops__metrics, arguments: {action: load}}
        - {name: ops__storage, arguments: {action: usage}}
      usage: {input_tokens: 100, output_tokens: 20, thinking_tokens: 5}
  - when: {turn: 1+}
    reply:
      text: |
        ## Conclusion
        {{ agent }} found the load to be normal. Confidence: high

        ## Evidence
        1. The host answered. [T{{ results[0].number }}]
      usage: {input_tokens: 200, output_tokens: 40}
"""
)

HELD_AT_FIRST_ANSWER = (
    """
rules:
"""
    + ANSWERS
    + """
  - when: {turn: 0}
    reply:
      text: Looking at the host, word after word after word, slowly and with care.
      hold: first
      hold_after: 3
      tool_calls: [{name: ops__metrics, arguments: {action: load}}]
  - when: {turn: 1+}
    reply:
      text: |
        ## Conclusion
        The load is normal. Confidence: high
"""
)

TOOLS_BY_TEXT = (
    """
rules:
"""
    + ANSWERS
    + """
  - when: {turn: 0, tools: []}
    reply:
      text: |
        Thought: I should look at the load first.
        Action: ops.metrics
        Action Input: {"action": "load"}
        Observation: the load is 99
  - when: {turn: 1, tools: []}
    times: 1
    reply: {text: The load is normal.}
  - when: {turn: 1, tools: []}
    reply:
      text: |
        **Action:** ops.storage
        **Action Input:** action: usage
  - when: {turn: 2+, tools: []}
    reply:
      text: |
        Thought: That is enough.
        Final Answer:
        ## Conclusion
        {{ agent }} found the load to be normal. Confidence: high

        ## Evidence
        1. The host answered. [T{{ results[0].number }}] [T{{ results[1].number }}]
"""
)
