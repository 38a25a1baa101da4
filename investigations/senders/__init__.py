"""By what the posts of alert sources prove where they come from.

Knows neither Django nor the configuration in force; what the operator allows is handed in.
"""
