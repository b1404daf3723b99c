// JavaScript has no tail calls: the hand-written form is the loop.
function isEven(n) {
  let even = true;
  for (let i = n; i !== 0; i--) even = !even;
  return even;
}

function countDown(n) {
  let sum = 0;
  for (let i = n; i !== 0; i--) sum = (sum + i) % 1000003;
  return sum;
}

export function bench(n) {
  const flag = isEven(n) ? 1 : 0;
  return countDown(n * 10) * 10 + flag;
}
