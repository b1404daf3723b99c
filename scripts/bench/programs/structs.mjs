class Vector {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
  plus(other) {
    return new Vector(this.x + other.x, this.y + other.y);
  }
  dot(other) {
    return this.x * other.x + this.y * other.y;
  }
}

export function bench(n) {
  let position = new Vector(0, 0);
  const step = new Vector(1, 2);
  let total = 0;
  for (let i = 0; i < n; i++) {
    position = position.plus(step);
    total = (total + position.dot(step)) % 1000003;
  }
  return total;
}
