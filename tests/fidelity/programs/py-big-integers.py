# Stops between and inside operations on numbers of thousands of digits, fractions and decimals.
import fractions, decimal, math
a, b = 0, 1
for _ in range(3000): a, b = b, a + b
f = math.factorial(400)
p = (1 << 521) - 1
print(len(str(a)), str(f)[:20], pow(3, p - 1, p), math.isqrt(f) % 10**9, math.gcd(a, f), int("9" * 2000) % 97)
h = sum(fractions.Fraction(1, i) for i in range(1, 120))
decimal.getcontext().prec = 80
x = decimal.Decimal(2)
for _ in range(12): x = (x + 2 / x) / 2
print(h.numerator % 10**12, h.limit_denominator(100), x, decimal.Decimal(2).sqrt() - x, decimal.Decimal("1.10").quantize(decimal.Decimal("0.1")))
print(7 ** -2, divmod(-17, 5), -17 // 5, (-17) % 5, 1e308 * 10, float("nan") != float("nan"), round(2.5), round(-1.5))
[a % 1000007, f >> 2800, -(2 ** 70)]
