from functools import reduce


def compose(f, g):
    return lambda x: g(f(x))


def bench(n):
    numbers = list(range(n))
    step = compose(lambda x: x + 1, lambda x: x * 3)
    total = 0
    for _ in range(10):
        mapped = map(lambda x: step(x), numbers)
        kept = filter(lambda x: x % 2 == 0, mapped)
        total += reduce(lambda acc, x: (acc + x) % 1000003, kept, 0)
    return total
