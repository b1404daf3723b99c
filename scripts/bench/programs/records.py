def bench(n):
    people = []
    for i in range(n):
        people.append({"id": i, "age": i * 7 % 90, "score": i * 13 % 100, "active": i % 3 != 0})
    total = 0
    for _ in range(10):
        for person in people:
            if person["active"] and person["age"] > 30:
                total += person["score"] - person["age"]
    return total
