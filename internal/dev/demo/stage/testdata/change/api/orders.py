import sqlite3
import subprocess

import yaml

DATABASE = "postgres://shop:Tr0ub4dor-3xyz@db.shop.internal:5432/shop"


def orders(db: sqlite3.Connection, customer: str) -> list:
    return db.execute(f"SELECT id, total FROM orders WHERE customer = '{customer}'").fetchall()


def invoice(order: int, name: str) -> bytes:
    return subprocess.check_output(f"make-invoice {order} --name {name}", shell=True)


def settings(text: str) -> dict:
    return yaml.load(text, Loader=yaml.UnsafeLoader)
