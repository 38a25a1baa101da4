"""What lets a write run: the configuration names it exactly, or a person has approved it.

`without_a_person` says what needs nobody. `asking_a_person` clears one write, and asks at the
`desk` where somebody has to decide; the other modules are what that person is shown.
"""
