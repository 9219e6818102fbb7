"""Lines of words between tabs, kept by columns: what is alike lies together, which xz makes three quarters of what it makes of the lines.

usage: line_columns.py FILE.xz      prints the lines

Lines of one kind are a table. They have the same first word and the same number of words, and those of NAMED the same second word.
"""
import itertools
import lzma
import sys

NAMED = ("fact", "missing")


def kind_of(words):
    return "\t".join(words[:2 if words[0] in NAMED else 1]), len(words)


def pack(text):
    """How many tables there are, a line for each of them (its name, its lines, its words), how far the table of each line of the text is
    from that of the line before, and the words of each table by columns."""
    tables, order = {}, []
    for line in text.removesuffix("\n").split("\n"):
        words = line.split("\t")
        kind = kind_of(words)
        number, rows = tables.setdefault(kind, (len(tables), []))
        order.append(number)
        rows.append(words[kind[0].count("\t") + 1:])
    heads = [f"{name}\t{len(rows)}\t{words}" for (name, words), (_, rows) in tables.items()]
    steps = [str(after - before) for before, after in zip([0, *order], order)]
    cells = [word for _, rows in tables.values() for column in zip(*rows) for word in column]
    return "\n".join([str(len(heads)), *heads, *steps, *cells]) + "\n"


def unpack(packed):
    lines = iter(packed.split("\n"))
    heads = [line.rsplit("\t", 2) for line in itertools.islice(lines, int(next(lines)))]
    steps = list(itertools.islice(lines, sum(int(rows) for _, rows, _ in heads)))
    tables = []
    for name, rows, words in heads:
        columns = [list(itertools.islice(lines, int(rows))) for _ in range(int(words) - name.count("\t") - 1)]
        tables.append(map("\t".join, zip(itertools.repeat(name, int(rows)), *columns)))
    return "".join(next(tables[number]) + "\n" for number in itertools.accumulate(map(int, steps)))


def read(path):
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return unpack(file.read())


if __name__ == "__main__":
    sys.stdout.write(read(sys.argv[1]))
