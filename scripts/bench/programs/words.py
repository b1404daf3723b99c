def bench(n):
    counts = {}
    state = 7
    for _ in range(n):
        state = (state * 1103 + 12345) % 65536
        key = f"w{state % 500}"
        counts[key] = counts.get(key, 0) + 1
    best = 0
    for value in counts.values():
        if value > best:
            best = value
    return best * 1000 + len(counts)
