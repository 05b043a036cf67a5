import subprocess

import yaml


def receipt(order: int) -> bytes:
    return subprocess.check_output(f"make-receipt {order}", shell=True)


def limits(text: str) -> dict:
    return yaml.load(text, Loader=yaml.UnsafeLoader)
