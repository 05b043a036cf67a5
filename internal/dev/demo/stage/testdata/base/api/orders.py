import sqlite3


def orders(db: sqlite3.Connection, customer: str) -> list:
    return db.execute("SELECT id, total FROM orders WHERE customer = ?", (customer,)).fetchall()
