def bench(n):
    total = 0
    for i in range(n):
        for j in range(100):
            total = (total + i * j) % 1000003
    return total
