def distance(a, b):
    left = list(a)
    right = list(b)
    previous = list(range(len(right) + 1))
    for i in range(len(left)):
        current = [i + 1]
        for j in range(len(right)):
            cost = 0 if left[i] == right[j] else 1
            best = previous[j] + cost
            if previous[j + 1] + 1 < best:
                best = previous[j + 1] + 1
            if current[j] + 1 < best:
                best = current[j] + 1
            current.append(best)
        previous = current
    return previous[-1]


def bench(n):
    return distance("the quick brown fox " * n, "a lazy dog jumps now" * n)
