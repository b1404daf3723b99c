export function bench(n) {
  const people = [];
  for (let i = 0; i < n; i++) {
    people.push({ id: i, age: (i * 7) % 90, score: (i * 13) % 100, active: i % 3 !== 0 });
  }
  let total = 0;
  for (let round = 0; round < 10; round++) {
    for (const person of people) {
      if (person.active && person.age > 30) total += person.score - person.age;
    }
  }
  return total;
}
