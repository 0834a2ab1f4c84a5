// Stops between and inside operations on numbers of thousands of digits.
let a = 0n;
let b = 1n;
for (let i = 0; i < 1500; i++) [a, b] = [b, a + b];
let factorial = 1n;
for (let i = 1n; i <= 200n; i++) factorial *= i;
const power = (base, exponent, modulus) => {
  let result = 1n;
  for (let x = base % modulus, e = exponent; e > 0n; e >>= 1n, x = (x * x) % modulus) if (e & 1n) result = (result * x) % modulus;
  return result;
};
const prime = (1n << 127n) - 1n;
console.log(String(a).length, String(factorial).slice(0, 30), power(3n, prime - 1n, prime), BigInt.asIntN(64, a), -7n / 2n, -7n % 3n);
return [a % 1000007n, factorial >> 1200n, 2n ** 200n];
