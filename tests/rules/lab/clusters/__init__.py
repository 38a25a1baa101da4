"""Clusters that are objects behind a stand-in of the Kubernetes API, for real programs to ask."""
