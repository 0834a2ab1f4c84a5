def distance(a, b):
    before = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            best = before[j] if x == y else before[j] + 1
            if before[j + 1] + 1 < best:
                best = before[j + 1] + 1
            if row[j] + 1 < best:
                best = row[j] + 1
            row.append(best)
        before = row
    return before[-1]


def letters(seed, length):
    out = []
    for _ in range(length):
        seed = (seed * 1103515245 + 12345) % 2147483648
        out.append(seed // 65536 % 4)
    return out


def main():
    return distance(letters(1, 900), letters(2, 900))
