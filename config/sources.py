"""The alert sources that TARSy knows by name, so that the files can be checked for them."""

from config.schema.alert_senders import FORMS

KNOWN_SOURCES = frozenset(FORMS)
