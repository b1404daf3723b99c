# Python has no tail calls: the hand-written form is the loop.
def is_even(n):
    even = True
    while n != 0:
        even = not even
        n -= 1
    return even


def count_down(n):
    total = 0
    while n != 0:
        total = (total + n) % 1000003
        n -= 1
    return total


def bench(n):
    flag = 1 if is_even(n) else 0
    return count_down(n * 10) * 10 + flag
