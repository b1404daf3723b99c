def bench(n):
    composite = []
    for _ in range(n + 1):
        composite.append(False)
    count = 0
    i = 2
    while i <= n:
        if not composite[i]:
            count += 1
            j = i * i
            while j <= n:
                composite[j] = True
                j += i
        i += 1
    return count
