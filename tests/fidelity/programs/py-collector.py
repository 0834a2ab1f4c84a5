# Cycles, finalizers that run code, weak references and resurrection while the collector runs.
import gc, weakref
events = []
class Node:
    def __init__(self, i): self.i = i; self.me = self; self.pad = [0] * (i % 50)
    def __del__(self):
        t = 0
        for k in range(15): t += k
        events.append(self.i + t)
class Plain:
    def __del__(self): events.append(sum(n * n for n in range(10)))
saved = []
class Phoenix:
    def __del__(self): saved.append(self)
refs = []
for i in range(400):
    n = Node(i); Plain()
    if i % 50 == 0: refs.append(weakref.ref(n, lambda r: events.append("dead")))
    if i % 100 == 0: Phoenix()
del n
collected = gc.collect()
wd = weakref.WeakValueDictionary({i: Plain() for i in range(5)})
print(len(events), collected > 0, sum(r() is None for r in refs), len(saved), len(wd), events[:5], events.count("dead"))
len(saved)
