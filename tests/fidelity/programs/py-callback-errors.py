# Exceptions that pass through C: in keys, comparisons, iterators, hashes, hooks, formatting, descriptors, imports and generators.
import decimal, functools, itertools, json, operator, re, sqlite3
ends = []
def attempt(name, f):
    try: ends.append((name, f()))
    except Exception as e: ends.append((name, type(e).__name__, str(e)[:30], len(str(e.__traceback__.tb_lineno)), type(e.__context__).__name__))
class Bad(Exception):
    def __init__(self, n): super().__init__(n, sum(range(n)))
class Odd:
    def __init__(self, n): self.n = n
    def __lt__(self, o):
        if self.n == 7: raise Bad(self.n)
        return self.n < o.n
    def __eq__(self, o):
        if self.n == 3: raise Bad(3)
        return self.n == o.n
    def __hash__(self): return self.n % 4 if self.n < 20 else 1 // 0
    def __repr__(self): return "<" + str([Bad(i) for i in range(self.n)])[:5] + (">" if self.n < 9 else 1)
    def __index__(self): raise Bad(1)
    def __iter__(self): yield from range(self.n); raise Bad(self.n)
    def __bool__(self): raise Bad(2)
    def __len__(self): return -1
    def __getattr__(self, name): raise AttributeError(name.upper()) if self.n < 5 else Bad(5)
    def __call__(self, *a): return a[self.n]
    def __format__(self, spec): return spec % (self.n,)
odds = [Odd(i) for i in range(12)]
attempt("sort", lambda: sorted(odds[::-1])); attempt("max", lambda: max(odds)); attempt("in", lambda: Odd(3) in odds); attempt("set", lambda: len({Odd(i) for i in range(9)}))
attempt("hash", lambda: {Odd(20): 1}); attempt("repr", lambda: repr(odds[:9])); attempt("repr2", lambda: repr(odds)); attempt("index", lambda: [1][odds[0]])
attempt("list", lambda: list(odds[5])); attempt("sum", lambda: sum(odds[3])); attempt("any", lambda: any([0, odds[0]])); attempt("len", lambda: len(odds[0]))
attempt("attr", lambda: odds[0].x); attempt("hasattr", lambda: (hasattr(odds[0], "x"), hasattr(odds[6], "x"))); attempt("call", lambda: list(map(odds[2], [1], [2])))
attempt("format", lambda: f"{odds[4]:%d-} {odds[4]:%d%d}"); attempt("key", lambda: sorted([3, 1, 2], key=lambda v: 1 / (v - 2)))
attempt("sub", lambda: re.sub("b", lambda m: 1 + m[0], "abc")); attempt("json", lambda: json.dumps({"a": [odds[0]]}, default=lambda o: [o][1]))
attempt("hook", lambda: json.loads('{"a": {"b": [1, 2]}}', object_hook=lambda d: d["a"])); attempt("float", lambda: json.loads("[1.5]", parse_float=Bad))
attempt("reduce", lambda: functools.reduce(operator.truediv, [1, 2, 0])); attempt("chain", lambda: list(itertools.chain([1], odds[2], [3])))
attempt("zip", lambda: dict(zip("abc", odds[2], strict=True))); attempt("decimal", lambda: decimal.Decimal(1) / 0); attempt("int", lambda: int("9" * 5000))
attempt("unpack", lambda: (lambda a, b: a)(*odds[3])); attempt("kw", lambda: dict(**{"a": 1}, **{1: 2})); attempt("import", lambda: __import__("no_such.module"))
db = sqlite3.connect(":memory:"); db.create_function("f", 1, lambda v: odds[v].n // (v - 2)); attempt("sql", lambda: db.execute("select f(1), f(2)").fetchone())
def gen():
    try: yield 1
    except Bad as e: yield str(e)
    finally: ends.append("closing")
g = gen(); next(g); attempt("throw", lambda: g.throw(Bad, 4)); attempt("throw2", lambda: g.throw(Bad(5))); attempt("stop", lambda: next(g))
attempt("raise", lambda: (_ for _ in ()).throw(Bad)); attempt("group", lambda: (_ for _ in ()).throw(ExceptionGroup("g", [Bad(1), OSError(2, "x")])))
def nested(n):
    try: return nested(n - 1) if n else [][n]
    except IndexError as e: raise Bad(n) from e
    finally: ends.append(n)
attempt("nested", lambda: nested(6)); attempt("stopiter", lambda: [*(next(iter([])) for _ in range(2))])
try: exec("x = (1,\n y = 2")
except SyntaxError as e: ends.append((e.msg, e.lineno))
class Meta(type):
    def __instancecheck__(c, o): raise Bad(8)
    def __subclasscheck__(c, o): return 1 // 0
class M(metaclass=Meta): pass
attempt("isinstance", lambda: isinstance(1, M)); attempt("issubclass", lambda: issubclass(int, M))
class D:
    def __get__(self, o, t): raise Bad(9)
    def __set__(self, o, v): raise v
class H: d = D()
attempt("get", lambda: H().d); attempt("set", lambda: setattr(H(), "d", Bad(2))); attempt("del", lambda: delattr(H(), "nope"))
print(ends)
len(ends)
