"""What becomes of alerts, decided from what is known of them. Pure Python: no rows, no framework.

`episodes.py` says whether a post is about something new, `grouping.py` which alerts belong together
and whose they are, `holding.py` what has to wait. `investigations.services.incidents` asks them and
writes what they say.
"""
