"""The page of tools/measure/strangers: doc/measured/strangers.md."""

import collections
import datetime
import os
import platform
import subprocess

import judging

ROOT = os.path.normpath(os.path.join(judging.FOLDER, "../.."))
PATH = os.path.join(ROOT, "doc/measured/strangers.md")
ORDER = (judging.WRONG, judging.FAILED, judging.OPEN, judging.PLACE, judging.RIGHT, judging.SILENT, judging.NOTHING)


def totals(rows):
    return collections.Counter(outcome for _, _, outcome, _ in rows)


def sentence_of(result):
    return result["verdict"]["statement"] if result["verdict"] else ""


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout.strip()


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return (f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, glibc {platform.libc_ver()[1]}, "
            f"Python {platform.python_version()}")


def expected(label):
    """What is right to say, in words."""
    parts = []
    for one in label["right"]:
        place = f" ({', '.join(one['place'][:2])})" if one.get("place") else ""
        share = " " + " or ".join(f"{low:.0%} to {high:.0%}" for low, high in one["share"]) if "share" in one else ""
        parts.append(one["kind"] + place + share)
    return "; ".join(parts)


def cell(words):
    return words.replace("|", "\\|").replace("<", "&lt;").replace("_", "\\_").replace("*", "\\*")


def table_of(rows):
    lines = ["| trace | what is right to say | first sentence | judged | seconds |", "|---|---|---|---|---:|"]
    for label, result, outcome, why in rows:
        lines.append(f"| {cell(label['name'])} | {cell(expected(label))} | {cell(sentence_of(result) or '(none)')} | "
                     f"{outcome}{': ' + cell(why) if why else ''} | {result['seconds']:.2f} |")
    return lines


def no_steps(row):
    return not row[1]["verdict"] and "No steps are marked" in row[1]["report"]


def text(data, rows, skipped):
    unseen = [row for row in rows if "kept" not in row[0]]
    corrected = [label for label in data["traces"] if "corrected" in label]
    slow = max(rows, key=lambda row: row[1]["seconds"])
    repositories = {data["sources"][row[0]["source"]]["repository"] for row in rows}
    lines = ["# What the first sentence is worth on public traces", "",
             "For readers who ask whether a report's first sentence is right on traces that dwell was not made with.", "",
             f"{len(rows)} traces of {len(repositories)} public repositories, each with a "
             "label that was written before dwell reported on it, by somebody who had not read its rules. "
             "[tests/strangers](../../tests/strangers/README.md) has the labels, says where the traces are from, and how a sentence "
             "is judged. A rule that is mended because of one of these traces is measured on others.", "",
             "These traces are no longer unseen. On 2026-11-29, with 44 right and 15 wrong, three causes were mended after this page was read: sentences "
             "about idle time state all of it before the part with a cause, and the share that a sentence states first is judged since; iterations "
             "that are less than half of the run without the first one are not taken; idle time after the last work has a sentence.", "",
             f"(`tools/measure/strangers --folder F --page`; {datetime.date.today()}, commit {git('rev-parse', '--short=8', 'HEAD')}; {machine()}.)", "",
             "| | " + " | ".join(judging.OUTCOMES) + " | all |", "|---|" + (len(judging.OUTCOMES) + 1) * "---:|"]
    kept = [row for row in rows if "kept" in row[0]]
    for title, part in (("all", rows), ("not in the project", unseen), ("in tests/data, known to tests of views", kept)):
        count = totals(part)
        lines.append(f"| {title} | " + " | ".join(str(count[one]) for one in judging.OUTCOMES) + f" | {len(part)} |")
    lines += ["", f"The slowest report takes {slow[1]['seconds']:.2f} s ({slow[0]['name']}, {slow[1]['megabytes']:.1f} MB); "
              f"all take {sum(row[1]['seconds'] for row in rows):.1f} s. {totals(rows)[judging.FAILED]} failed. "
              f"Of {sum(no_steps(row) for row in rows)} traces nothing is said because no steps are marked in them."]
    if skipped:
        lines += ["", "Skipped, because the file was not there: " + ", ".join(skipped) + "."]
    for outcome in ORDER:
        part = [row for row in rows if row[2] == outcome]
        if part:
            lines += ["", f"## {outcome[0].upper()}{outcome[1:]}: {len(part)}", "", *table_of(part)]
    if corrected:
        lines += ["", "## Labels that were corrected", "",
                  "After their first sentence was seen, because the trace itself shows that the label was wrong:", ""]
        lines += [f"- {label['name']}: {label['corrected']}" for label in corrected]
    return "\n".join(lines) + "\n"
