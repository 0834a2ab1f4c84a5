# Stops inside the regex engine, replacement callbacks, and text functions around them.
import re, string, textwrap, difflib
text = "\n".join(f"item-{i}: {'ab' * (i % 5)}{i * i} <{i}@x.test>" for i in range(40))
found = [m.groupdict() for m in re.finditer(r"^item-(?P<n>\d+): (?P<l>[ab]*)(?P<sq>\d+)", text, re.M)]
def sub(m):
    t = 0
    for i in range(int(m[1])): t += i
    return f"[{m[2]}:{t}]"
replaced = re.sub(r"<(\d+)@([^>]+)>", sub, text)
print(len(found), found[-1], re.match(r"(a+)+$", "a" * 16 + "!"), replaced[-40:])
tokens = re.compile(r"(?P<num>\d+\.?\d*)|(?P<op>[-+*/()])|(?P<ws>\s+)|(?P<bad>.)")
print([(m.lastgroup, m[0]) for m in tokens.finditer("3.5 * (2 + x)") if m.lastgroup != "ws"])
print(re.split(r"(\W+)", "one, two;three"), re.findall(r"(?<=\$)\d+", "$42 $7"), re.escape("a.b*c"))
print(string.Template("$who owes ${what}").substitute(who="ann", what=5), textwrap.shorten("word " * 30, 40))
print("".join(difflib.ndiff(["a\n", "b\n"], ["a\n", "c\n"])))
difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"])
