"""Copies of the rules whose constants can be set while they run, for tools/measure/fit.

usage: fit_rules.py RULES-FOLDER TO-FOLDER

Each file becomes fit_FILE. A constant is a `#define NAME NUMBER`, or the `.threshold = NUMBER` of a rule, whose name is the rule's. fit_constants.h has all of
them as a table: NAME, NUMBER. The copies read the table; all else in them stays as it is.
"""
import os
import re
import sys

NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?"
DEFINE = re.compile(rf"^(#define ([A-Z_0-9]+) +)({NUMBER})(?=\s|$)", re.M)
THRESHOLD = re.compile(rf'(\.id = "([^"]+)"(?:(?!\.id = ).)*?\.threshold = )({NUMBER}|[A-Z_]+)\b', re.S)
SHARED = re.compile(r"(\.threshold = )([A-Z_]+)\b")  # of a macro that makes rules: a constant by name
READ = re.compile(r"\b([a-z_]+(?:(?:->|\.)[a-z_]+)*)->threshold\b")


class Constants:
    def __init__(self):
        self.names = {}
        self.numbers = []

    def add(self, name, number):
        self.names[name] = len(self.numbers)
        self.numbers.append(number)
        return self.names[name]

    def define(self, found):
        return f"{found[1]}dw_fit_constants[{self.add(found[2], found[3])}].value"

    def threshold(self, found):
        return f"{found[1]}{self.names[found[3]] if found[3] in self.names else self.add(found[2], found[3])}"


def copy(text, constants):
    text = DEFINE.sub(constants.define, text)
    text = THRESHOLD.sub(constants.threshold, text)
    text = SHARED.sub(lambda found: f"{found[1]}{constants.names[found[2]]}", text)
    text = READ.sub(r"dw_fit_constants[(int)\1->threshold].value", text)
    return text.replace('#include "rules/', '#include "fit_')


def main():
    rules, to = sys.argv[1:]
    os.makedirs(to, exist_ok=True)
    constants, copies = Constants(), {}
    # Headers first: files use their constants.
    for name in sorted((name for name in os.listdir(rules) if name.endswith((".h", ".c"))), key=lambda name: (name.endswith(".c"), name)):
        with open(os.path.join(rules, name), encoding="utf-8") as file:
            copies["fit_" + name] = copy(file.read(), constants)
    rows = ",\\\n".join(f'\t{{ "{name}", {constants.numbers[index]} }}' for name, index in constants.names.items())
    copies["fit_constants.h"] = ("#pragma once\n\nstruct dw_fit_constant {\n\tconst char *name;\n\tdouble value;\n};\n"
                                 "extern struct dw_fit_constant dw_fit_constants[];\n#define DW_FIT_CONSTANTS \\\n" + rows + "\n")
    copies["fit_rules.h"] = copies["fit_rules.h"].replace("#pragma once\n", '#pragma once\n\n#include "fit_constants.h"\n', 1)
    for name, text in copies.items():
        with open(os.path.join(to, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
