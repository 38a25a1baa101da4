"""Reports that were not written for the rules: random results, told in many ways.

The rules and this package know nothing of each other. The ways to say things are in two halves
(`phrases.is_kept_back`): one is looked at when a rule is mended, the other never is.
"""
