class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


def bench(n):
    position = Vector(0, 0)
    step = Vector(1, 2)
    total = 0
    for _ in range(n):
        position = position.plus(step)
        total = (total + position.dot(step)) % 1000003
    return total
