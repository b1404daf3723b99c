def matrix(n, seed):
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append((i * seed + j) % 17)
        rows.append(row)
    return rows


def bench(n):
    a = matrix(n, 3)
    b = matrix(n, 5)
    total = 0
    for i in range(n):
        row = a[i]
        for j in range(n):
            cell = 0
            for k in range(n):
                cell += row[k] * b[k][j]
            total = (total + cell) % 1000007
    return total
