"""Pictures of every page of the product, taken from a world that is made for them.

clock.py     a session's moments, moved to when its story says
story.py     what a session is made of: agents, turns, tool calls
teller.py    a story told through the product's own services
stories/     the world
sights.py    which pages are taken, and what has to be seen on each
camera.py    the browser
"""
