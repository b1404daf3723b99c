def bench(n):
    parts = []
    for i in range(n):
        parts.append(f"item {i}: {i * 7 % 13}")
    text = "\n".join(parts)
    digits = 0
    for line in text.split("\n"):
        if line.endswith("0") or ": 7" in line:
            digits += 1
    return digits * 10 + len(text) % 10
