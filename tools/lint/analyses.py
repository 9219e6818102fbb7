"""What tools/lint/clang_tidy, tools/lint/gcc_analyzer and tools/lint/cppcheck share: the sources, answers that are kept, and the comparison with what is known."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import shlex

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def sources(build, parts, endings):
    """The path within the project, the folder and the flags of each source of src and probes."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        if path.startswith(("src/", "probes/")) and path.endswith(endings) and (not parts or any(part in path for part in parts)):
            flags = [word for word in shlex.split(entry["command"]) if word.startswith(("-I", "-D", "-std", "-isystem"))]
            found.setdefault(path, (path, entry["directory"], flags))
    return list(found.values())


def kept(cache, facts, look):
    """The lines that look() returns, or those that it returned for the same facts before."""
    path = os.path.join(cache, hashlib.sha256(b"\0".join(facts)).hexdigest())
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    lines = look()
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return lines


def parser_of(usage):
    parser = argparse.ArgumentParser(usage=usage.splitlines()[2][7:])
    parser.add_argument("--jobs", type=int, default=1)
    return parser


def each_source(name, options, endings, look):
    """What look(source, cache) -> [(path, kind, line)] finds in the sources of options.build: lines by (path, kind), and how many sources there are."""
    cache = os.path.join(os.path.abspath(options.build), name)
    os.makedirs(cache, exist_ok=True)
    found, given = collections.defaultdict(set), sources(options.build, options.parts, endings)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for findings in pool.map(lambda source: list(look(source, cache)), given):
            for path, kind, line in findings:
                found[path, kind].add(line)
    return found, len(given)


def compare(name, found, known, whole=True):
    """Prints what is found and not known, and, of the whole project, what is known and not found. How many failed."""
    failed = 0
    for key, lines in sorted(found.items()):
        if key not in known:
            failed += len(lines)
            print("\n".join("FAIL " + line for line in sorted(lines)))
    for key in sorted(set(known) - set(found)) if whole else ():
        failed += 1
        print(f"FAIL {key[0]}: {key[1]} is known in tools/lint/{name} and not found any more: remove the entry")
    return failed


def compare_sources(name, options, endings, look, known):
    """The exit status of a tool that looks at each source by itself."""
    found, count = each_source(name.replace("_", "-"), options, endings, look)
    failed = compare(name, found, known, not options.parts) if count else 1
    print(f"{count} files, {len(set(known) & set(found))} known findings")
    print(f"{count - len({key[0] for key in set(found) - set(known)})} passed, {failed} failed")
    return 1 if failed else 0
