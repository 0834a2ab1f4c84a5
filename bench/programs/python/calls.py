def cross(x, y, z):
    if y >= x:
        return z
    return cross(cross(x - 1, y, z), cross(y - 1, z, x), cross(z - 1, x, y))


def main():
    return [cross(20, 13, limit) for limit in range(6, 12)]
