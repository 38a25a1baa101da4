"""Runbooks from outside: which addresses are opened, how, and what is kept of them.

Knows neither Django nor the configuration; what the operator allows is handed in.
"""
