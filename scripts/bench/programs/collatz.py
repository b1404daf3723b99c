def bench(n):
    longest = 0
    for start in range(1, n + 1):
        value = start
        steps = 0
        while value != 1:
            if value % 2 == 0:
                value = value // 2
            else:
                value = 3 * value + 1
            steps += 1
        if steps > longest:
            longest = steps
    return longest
