import subprocess

import yaml


def receipt(order: int) -> bytes:
    return subprocess.check_output(["make-receipt", str(order)])


def limits(text: str) -> dict:
    return yaml.load(text, Loader=yaml.UnsafeLoader)
