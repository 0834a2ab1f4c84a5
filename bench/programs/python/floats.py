def warm(grid, size):
    after = [row[:] for row in grid]
    for i in range(1, size - 1):
        above, row, below = grid[i - 1], grid[i], grid[i + 1]
        out = after[i]
        for j in range(1, size - 1):
            out[j] = row[j] + 0.125 * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4.0 * row[j])
    return after


def main():
    size = 40
    grid = [[float((i * 31 + j * 17) % 23) for j in range(size)] for i in range(size)]
    for _ in range(250):
        grid = warm(grid, size)
    total = 0.0
    for row in grid:
        for value in row:
            total += value * value
    return round(total, 6)
