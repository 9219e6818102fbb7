"""A JSON trace as columns, which xz makes a quarter of what gzip makes of the trace.

usage: columns.py pack TRACE.json[.gz] COLUMNS.xz       columns.py unpack COLUMNS.xz TRACE.json.gz

Events with the same keys are a table. Of a column of numbers the differences are kept, of a column of repeated values each value
once. What is unpacked has the same events, keys in the same order, and numbers with the same digits; white space is another. pack
compares what it wrote with the trace.
"""
import gzip
import itertools
import json
import lzma
import sys
from decimal import Decimal

REPEATED = 0.7  # a column with fewer different values, of all, keeps each once


def load(path):
    """Numbers with a point stay decimal: times of a trace have more digits than a double."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)


# ---- a column --------------------------------------------------------------------------------------

def places(number):
    return -number.as_tuple().exponent if isinstance(number, Decimal) else 0


def differences(numbers):
    return [after - before for before, after in zip([0, *numbers], numbers)]


def pack_numbers(numbers):
    """The digits behind the points, all the same or of each, and integers: the numbers or their differences."""
    behind = [places(number) for number in numbers]
    most = max(behind)
    whole = [int(Decimal(number).scaleb(most)) for number in numbers]
    apart = differences(whole)
    kind = "apart" if len(str(apart)) < len(str(whole)) else "whole"
    return {"behind": most if min(behind) == most else behind, "most": most, kind: apart if kind == "apart" else whole}


def digits_of(number, most, behind):
    """The text of an integer of which `most` digits are behind the point; `behind` of them are written."""
    if not behind:
        return str(number // 10 ** most)
    text = f"{abs(number):0{most + 1}}"
    end = len(text) - (most - behind)
    return ("-" if number < 0 else "") + text[:-most] + "." + text[-most:end or None][:behind]


def unpack_numbers(column):
    whole = column["whole"] if "whole" in column else itertools.accumulate(column["apart"])
    behind, most = column["behind"], column["most"]
    if not most:
        return map(str, whole)
    return [digits_of(number, most, digits) for number, digits in zip(whole, behind if isinstance(behind, list) else itertools.repeat(behind))]


def pack_column(values):
    if all(type(value) in (int, Decimal) for value in values):
        return pack_numbers(values)
    numbers = {}
    indices = [numbers.setdefault(write(value), len(numbers)) for value in values]
    if len(numbers) < REPEATED * len(values):
        return {"texts": list(numbers), "at": indices}
    return {"values": [write(value) for value in values]}


def unpack_column(column):
    """The texts of its values."""
    if "values" in column:
        return column["values"]
    return [column["texts"][i] for i in column["at"]] if "at" in column else unpack_numbers(column)


# ---- events ----------------------------------------------------------------------------------------

def write(value):
    """JSON, with decimal numbers digit by digit."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {write(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write, value)) + "]"
    return json.dumps(value)


def flatten(event, above=()):
    """(path of keys, value) of each value that is no object with keys."""
    for key, value in event.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, (*above, key))
        else:
            yield (*above, key), value


def form(paths):
    """What an event with these keys looks like, with %s for each value."""
    event = {}
    for path in paths:
        at = event
        for key in path[:-1]:
            at = at.setdefault(key, {})
        at[path[-1]] = None
    return write(event).replace("%", "%%").replace(": null", ": %s")


def pack(document):
    tables, order = {}, []
    for event in document["traceEvents"]:
        pairs = list(flatten(event))
        paths = tuple(path for path, _ in pairs)
        number, rows = tables.setdefault(paths, (len(tables), []))
        order.append(number)
        rows.append([value for _, value in pairs])
    rest = {key: value if key != "traceEvents" else None for key, value in document.items()}
    return {"rest": write(rest), "order": order, "tables": [{"paths": paths, "columns": [pack_column(column) for column in zip(*rows)]}
                                                             for paths, (_, rows) in tables.items()]}


def unpack(packed):
    """The text of the trace, an event a line."""
    tables = [map(form(table["paths"]).__mod__, zip(*map(unpack_column, table["columns"]))) for table in packed["tables"]]
    return text_of(json.loads(packed["rest"], parse_float=Decimal), (next(tables[number]) for number in packed["order"]))


def text_of(document, events):
    parts = [f"{json.dumps(key)}: {write(value)}" if key != "traceEvents" else
             '"traceEvents": [\n  ' + ",\n  ".join(events) + "\n]" for key, value in document.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def pack_file(trace, to):
    document = load(trace)
    packed = json.dumps(pack(document), separators=(",", ":"))
    if unpack(json.loads(packed)) != text_of(document, map(write, document["traceEvents"])):
        sys.exit(f"{trace} is another after it was packed")
    with lzma.open(to, "wb", preset=9) as file:
        file.write(packed.encode())


def unpack_file(columns, to):
    with lzma.open(columns, "rt", encoding="utf-8") as file:
        text = unpack(json.load(file))
    with open(to, "wb") as file:
        file.write(gzip.compress(text.encode(), 1, mtime=0))


if __name__ == "__main__":
    {"pack": pack_file, "unpack": unpack_file}[sys.argv[1]](*sys.argv[2:])
