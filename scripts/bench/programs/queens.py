def safe(columns, row, column):
    for r in range(row):
        c = columns[r]
        if c == column:
            return False
        if abs(c - column) == row - r:
            return False
    return True


def place(columns, row, n):
    if row == n:
        return 1
    found = 0
    for column in range(n):
        if safe(columns, row, column):
            found += place(columns + [column], row + 1, n)
    return found


def bench(n):
    return place([], 0, n)
