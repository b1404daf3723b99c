def bench(n):
    total = 0.0
    width = 1.0 / n
    for i in range(n):
        x = (i + 0.5) * width
        total += 4.0 / (1.0 + x * x)
    return round(total * width * 1000000.0)
