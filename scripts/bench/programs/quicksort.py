def bench(n):
    items = []
    state = 42
    for _ in range(n):
        state = (state * 16807) % 2147483647
        items.append(state % 100000)
    stack = [0, n - 1]
    while stack:
        high = stack.pop()
        low = stack.pop()
        if low < high:
            pivot = items[(low + high) // 2]
            i = low
            j = high
            while i <= j:
                while items[i] < pivot:
                    i += 1
                while items[j] > pivot:
                    j -= 1
                if i <= j:
                    items[i], items[j] = items[j], items[i]
                    i += 1
                    j -= 1
            stack.append(low)
            stack.append(j)
            stack.append(i)
            stack.append(high)
    return items[0] + items[n // 2] * 3 + items[n - 1]
