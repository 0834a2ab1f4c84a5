import json
import re


def main():
    seed = 7
    words = []
    for _ in range(20000):
        seed = (seed * 1103515245 + 12345) % 2147483648
        words.append("w" + str(seed // 65536 % 3000))
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    text = ""
    for _ in range(8):
        text = json.dumps([{"word": word, "count": count} for word, count in ranked])
        ranked = [(entry["word"], entry["count"]) for entry in json.loads(text)]
    sevens = re.findall(r'"w(\d*7)", "count": (\d+)', text)
    return [len(text), ranked[0][0], len(sevens), sum(int(count) for _, count in sevens)]
