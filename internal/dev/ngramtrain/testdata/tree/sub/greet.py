import sys


def greet(name):
    """Greets one person."""
    print(f"hello, {name}: ünïcode too")


if __name__ == "__main__":
    greet(sys.argv[1])
