"""A small shop of real processes, in which `make demo` sets off one real fault.

A web service, a worker, a cache and a database, customers and a check from outside. All of it lies
below one directory, and every process ends with the demo, however that comes to its end.
"""
