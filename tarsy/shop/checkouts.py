"""How the releases of the web service take an order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from psycopg import Connection
from psycopg_pool import ConnectionPool

Row: TypeAlias = tuple[object, ...]
Pool: TypeAlias = ConnectionPool[Connection[Row]]

_INSERT = "INSERT INTO orders (item, coupon) VALUES (%s, %s) RETURNING id"
_OF_TODAY = "SELECT count(*) FROM orders WHERE coupon = %s AND taken > now() - interval '1 day'"


@dataclass
class Checkout:
    """Takes orders over a pool. `audited` are the connections that the second way keeps."""

    pool: Pool
    audited: list[Connection[Row]] = field(default_factory=list)

    def plain(self, item: str, coupon: str) -> int:
        with self.pool.connection() as connection:
            return _number(connection.execute(_INSERT, [item, coupon]).fetchone())

    def audit_coupons(self, item: str, coupon: str) -> int:
        """Counts how often a coupon was used today, too. Its connection is never given back."""
        if not coupon:
            return self.plain(item, coupon)
        connection = self.pool.getconn()
        order = _number(connection.execute(_INSERT, [item, coupon]).fetchone())
        connection.commit()
        connection.execute(_OF_TODAY, [coupon])
        self.audited.append(connection)
        return order

    def named(self, name: str) -> Callable[[str, str], int]:
        """The way of taking an order that a release names."""
        return {"plain": self.plain, "audit-coupons": self.audit_coupons}[name]


def _number(row: Row | None) -> int:
    if row is None:
        raise RuntimeError("the database gave no number for the order")
    return int(str(row[0]))
