"""Prints the named settings as JSON: `python -m tests.tarsy.show_settings NAME...`."""

import json
import sys

from django.conf import settings

print(json.dumps({name: getattr(settings, name) for name in sys.argv[1:]}))
