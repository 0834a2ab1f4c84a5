function cross(x, y, z) {
  return y >= x ? z : cross(cross(x - 1, y, z), cross(y - 1, z, x), cross(z - 1, x, y));
}

function main() {
  return [6, 7, 8, 9].map((limit) => cross(19, 13, limit));
}
