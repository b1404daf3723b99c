def escape(cr, ci, limit):
    x = 0.0
    y = 0.0
    count = 0
    while count < limit:
        xx = x * x
        yy = y * y
        if xx + yy > 4.0:
            return count
        y = 2.0 * x * y + ci
        x = xx - yy + cr
        count += 1
    return limit


def bench(n):
    total = 0
    for row in range(n):
        ci = 2.0 * row / n - 1.0
        for column in range(n):
            cr = 3.0 * column / n - 2.0
            total += escape(cr, ci, 100)
    return total
