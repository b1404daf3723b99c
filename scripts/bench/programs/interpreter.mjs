function evaluate(node) {
  switch (node.kind) {
    case 'number':
      return node.value;
    case 'add':
      return (evaluate(node.left) + evaluate(node.right)) % 10007;
    default:
      return (evaluate(node.left) * evaluate(node.right)) % 10007;
  }
}

function build(depth, seed) {
  if (depth === 0) return { kind: 'number', value: seed % 10 };
  if (seed % 2 === 0) return { kind: 'add', left: build(depth - 1, seed + 1), right: build(depth - 1, seed + 3) };
  return { kind: 'multiply', left: build(depth - 1, seed + 1), right: build(depth - 1, seed + 2) };
}

export function bench(n) {
  const tree = build(n, 3);
  let total = 0;
  for (let i = 0; i < 20; i++) total += evaluate(tree);
  return total;
}
