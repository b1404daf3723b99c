def evaluate(node):
    kind = node[0]
    if kind == "number":
        return node[1]
    if kind == "add":
        return (evaluate(node[1]) + evaluate(node[2])) % 10007
    return (evaluate(node[1]) * evaluate(node[2])) % 10007


def build(depth, seed):
    if depth == 0:
        return ("number", seed % 10)
    if seed % 2 == 0:
        return ("add", build(depth - 1, seed + 1), build(depth - 1, seed + 3))
    return ("multiply", build(depth - 1, seed + 1), build(depth - 1, seed + 2))


def bench(n):
    tree = build(n, 3)
    total = 0
    for _ in range(20):
        total += evaluate(tree)
    return total
