"""Alerts become incidents: at most one investigation of each waits or runs.

`taking.py` takes the alerts of a post; `batch.py` holds the rows that it decides about,
`opening.py` opens, joins and reopens incidents, `investigating.py` does what follows for their
investigations, `holds.py` says what waits, and `telling.py` what agents hear while they work.
"""
