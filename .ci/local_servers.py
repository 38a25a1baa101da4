"""Prints DATABASE_URL=... and REDIS_URL=... if both servers answer on their loopback ports.

The tests make a database of their own; the Redis database is one that nobody is likely to use.
"""

import redis
from psycopg import OperationalError, connect

CANDIDATES = (
    "postgresql://postgres@127.0.0.1:5432",
    "postgresql://postgres:postgres@127.0.0.1:5432",
)
# Need not exist: the tests make `test_` and this name.
DATABASE = "tarsy_ci"
REDIS_URL = "redis://127.0.0.1:6379/13"


def main() -> None:
    database_url = next(filter(_postgres_answers, CANDIDATES), None)
    if database_url and _redis_answers():
        print(f"DATABASE_URL={database_url}/{DATABASE} REDIS_URL={REDIS_URL}")


def _postgres_answers(url: str) -> bool:
    try:
        connect(f"{url}/postgres", connect_timeout=3).close()
    except OperationalError:
        return False
    return True


def _redis_answers() -> bool:
    try:
        with redis.Redis.from_url(REDIS_URL, socket_timeout=3, socket_connect_timeout=3) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


if __name__ == "__main__":
    main()
