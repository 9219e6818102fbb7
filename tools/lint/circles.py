"""Finds circles between files, for tools/lint/check_layers.

A source and the header of the same name in its folder are one unit. A unit needs another one if it includes a file
of that unit, or calls a function that only that unit defines. A circle is a set of units that need each other.
A public header stands above the library that it declares: the functions that its inline code calls are no needs.
"""
import os
import re

# Macros' bodies are no part of a function: what a macro calls counts where a function of that file calls it too.
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
LINKAGE = re.compile(r'\bextern\s*\{')
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
NO_CALLS = {"if", "for", "while", "switch", "return", "sizeof", "defined", "void"}


def unit_of(path):
    return os.path.splitext(path)[0]


def split_code(code):
    """What stands outside braces, with `{}` for each block, and what stands inside."""
    outside, inside, depth = [], [], 0
    for piece in re.split(r"([{}])", LINKAGE.sub(" ", code)):
        if piece == "{":
            depth += 1
            if depth == 1:
                outside.append("{")
        elif piece == "}":
            depth = max(depth - 1, 0)
            if depth == 0:
                outside.append("}")
        else:
            (inside if depth else outside).append(piece)
    return "".join(outside), "".join(inside)


def functions_of(outside):
    """The functions with a body that other files can call."""
    for statement in re.split(r"[;}]", outside):
        head, brace, _ = statement.partition("{")
        if brace and "=" not in head and not re.search(r"\bstatic\b", head):
            names = [name for name in CALL.findall(head) if name != "__attribute__"]
            if names:
                yield names[0]


def needs(files, code_of, targets_of):
    """{unit: {unit that it needs: reasons}}, from each file's code and the files that it includes."""
    defined, called, arrows = {}, {}, {}
    for path in files:
        unit = unit_of(path)
        arrows.setdefault(unit, {})
        for target in targets_of(path):
            if unit_of(target) != unit:
                arrows[unit].setdefault(unit_of(target), set()).add(f"includes {os.path.basename(target)}")
        outside, inside = split_code(DIRECTIVE.sub("", code_of(path)))
        for name in functions_of(outside):
            defined.setdefault(name, set()).add(unit)
        called.setdefault(unit, set()).update(set(CALL.findall(inside)) - NO_CALLS)
    for unit, names in called.items():
        if unit.startswith("include/"):
            continue
        for name in names:
            owners = defined.get(name, ())
            if len(owners) == 1 and unit not in owners:
                arrows[unit].setdefault(next(iter(owners)), set()).add(f"{name}()")
    return arrows


def circles(arrows):
    """The sets of units that reach each other, by Tarjan's algorithm without recursion."""
    index, low, stack, waiting, found = {}, {}, [], set(), []
    for start in sorted(arrows):
        work = [(start, iter(sorted(arrows[start])))] if start not in index else []
        while work:
            unit, rest = work[-1]
            if unit not in index:
                index[unit] = low[unit] = len(index)
                stack.append(unit)
                waiting.add(unit)
            for to in rest:
                if to not in arrows:
                    continue
                if to not in index:
                    work.append((to, iter(sorted(arrows[to]))))
                    break
                if to in waiting:
                    low[unit] = min(low[unit], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[unit])
                if low[unit] == index[unit]:
                    at = stack.index(unit)
                    members, stack[at:] = stack[at:], []
                    waiting -= set(members)
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


def explain(members, arrows):
    """A line for each arrow inside a circle."""
    for unit in members:
        for to in sorted(set(arrows[unit]) & set(members)):
            yield f"{unit} -> {to}: {', '.join(sorted(arrows[unit][to]))}"
