# Grows until memory is refused, recovers, and goes on; also in one huge step.
refused = []
for i in range(4):
    blocks = []
    try:
        while True: blocks.append(bytearray([i + 1]) * (8 << 20))
    except MemoryError: refused.append(len(blocks) > 3)
    del blocks
for huge in (lambda: [0] * 10**9, lambda: "a" * 10**9, lambda: list(range(10**8)), lambda: b"x" * (1 << 31), lambda: {i: i for i in range(10**7)}):
    try: huge(); refused.append("fits")
    except (MemoryError, OverflowError) as e: refused.append(type(e).__name__)
small = [str(i) * 3 for i in range(2000)]
print(refused, len(small))
refused
