function build(depth) {
  if (depth === 0) return { left: undefined, right: undefined };
  return { left: build(depth - 1), right: build(depth - 1) };
}

function weigh(tree) {
  if (tree.left === undefined) return 1;
  return 1 + weigh(tree.left) + weigh(tree.right);
}

export function bench(n) {
  let total = 0;
  for (let i = 0; i < 10; i++) total += weigh(build(n));
  return total;
}
