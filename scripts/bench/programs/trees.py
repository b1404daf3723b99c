def build(depth):
    if depth == 0:
        return {"left": None, "right": None}
    return {"left": build(depth - 1), "right": build(depth - 1)}


def weigh(tree):
    if tree["left"] is None:
        return 1
    return 1 + weigh(tree["left"]) + weigh(tree["right"])


def bench(n):
    total = 0
    for _ in range(10):
        total += weigh(build(n))
    return total
