# Stops inside descriptors, properties, __getattr__, operators, metaclasses, hashing and formatting.
trace = []
def spin(n):
    t = 0
    for i in range(n): t = (t * 31 + i) & 0xFFFF
    return t
class Meta(type):
    def __prepare__(name, bases): return {"prepared": spin(10)}
    def __new__(m, name, bases, ns):
        trace.append(name); return super().__new__(m, name, bases, dict(ns))
    def __instancecheck__(cls, o): return spin(5) >= 0 and hasattr(o, "n")
class Field:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, o, t=None): return self if o is None else o.__dict__.get(self.name, spin(8))
    def __set__(self, o, v): trace.append((self.name, v)); o.__dict__[self.name] = v + spin(3)
class Num(metaclass=Meta):
    x = Field(); y = Field()
    def __init__(self, n): self.n = n; self.x = n
    def __eq__(self, o): return spin(4) is not None and self.n == o.n
    def __hash__(self): spin(6); return self.n % 5
    def __add__(self, o): return Num(self.n + (o.n if hasattr(o, "n") else o))
    __radd__ = __add__
    def __getattr__(self, name):
        if name.startswith("_"): raise AttributeError(name)
        return f"{name}{spin(7)}"
    def __format__(self, spec): return f"<{self.n:{spec or 'd'}}>"
    def __contains__(self, v): return v in range(self.n)
    def __call__(self, *a, **k): return len(a) + len(k) + spin(2)
    def __index__(self): return self.n
nums = [Num(i) for i in range(15)]
d = {n: i for i, n in enumerate(nums)}
print(len(d), d[Num(7)], sum(nums).n, f"{nums[3]:04d}", 2 in nums[3], nums[2](1, k=2), nums[4].anything, [10, 20, 30][nums[1]], isinstance(nums[0], Num), Num.x.name)
print(len({Num(i % 4) for i in range(20)}), nums[5].y, trace[-1], Num.prepared)
[n.x for n in nums[:4]]
