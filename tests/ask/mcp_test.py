#!/usr/bin/env python3
"""dwell mcp: what agents are answered, over bare messages, and that every share of a table says what it is of.

usage: mcp_test.py DWELL MAKE_TRACE MAKE_RANKS [PART-OF-A-NAME...]

The class Client is run by tools/check, with a Python that has the protocol's public client. The last line is "N passed, N failed, N skipped".
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

dwell, make_trace, make_ranks = (os.path.abspath(path) for path in sys.argv[1:4])
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
NEW, OLD, MOST = "2026-07-28", "2025-11-25", 8192
META = {"io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientCapabilities": {}}
LIST, CALL = (f"tools/{word}" for word in ("list", "call"))
TOOLS = ["list_traces", "verdicts", "overview", "view", "query", "compare"]
ENDLESS = "with recursive n(x) as (select 1 union all select x + 1 from n) "


class Server:
    """A server, asked over its standard input."""

    def __init__(self, folder):
        self.process = subprocess.Popen([dwell, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.id = 0

    def line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, method, meta=META, **params):
        self.id += 1
        answer = self.line(json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": {**params, **({"_meta": meta} if meta else {})}}))
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self.id), answer
        return answer

    def call(self, tool, **arguments):
        result = self.ask(CALL, name=tool, arguments=arguments)["result"]
        (content,) = result["content"]
        return result["isError"], content["text"]

    def close(self):
        said = self.process.communicate(timeout=30)
        return (self.process.returncode, *said)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-mcp-")
        cls.folder = cls.temporary.name
        subprocess.run([make_ranks, cls.folder, "1", "50", "operators", "400"], check=True, stdout=subprocess.DEVNULL)
        cls.trace = os.path.join(cls.folder, "rank-0000.dwell")
        cls.samples = os.path.join(cls.folder, "samples.dwell")
        subprocess.run([make_trace, os.path.join(ROOT, "tests/golden/views/samples.txt"), cls.samples], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()


class Messages(Case):
    def setUp(self):
        self.server = Server(self.folder)

    def tearDown(self):
        self.assertEqual((0, "", ""), self.server.close())

    def error(self, answer, code, *words):
        self.assertEqual(code, answer["error"]["code"], answer)
        for word in words:
            self.assertIn(word, answer["error"]["message"])
        return answer["error"]

    def test_the_server_says_its_versions_and_tools(self):
        found = self.server.ask("server/discover")["result"]
        self.assertEqual((NEW, "complete", {"tools": {}}), (found["supportedVersions"][0], found["resultType"], found["capabilities"]))
        listed = self.server.ask(LIST)["result"]
        self.assertEqual(TOOLS, [tool["name"] for tool in listed["tools"]])
        self.assertEqual(("public", "complete"), (listed["cacheScope"], listed["resultType"]))
        for tool in listed["tools"]:
            self.assertLessEqual(set(tool["inputSchema"]["required"]), set(tool["inputSchema"]["properties"]))
            self.assertTrue(tool["annotations"]["readOnlyHint"])

    def test_clients_of_older_versions_begin_with_initialize(self):
        asked = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.error(self.server.ask(LIST, meta=None), -32602, "protocolVersion", "initialize")
        self.error(self.server.ask("initialize", meta=None, **asked), -32602, OLD)
        for version, chosen in (("2024-11-05", "2024-11-05"), (OLD, OLD), (NEW, OLD), ("1999-01-01", OLD)):
            self.assertEqual(chosen, self.server.ask("initialize", meta=None, protocolVersion=version, **asked)["result"]["protocolVersion"])
        self.server.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')  # gets no answer
        self.assertEqual({}, self.server.ask("ping", meta=None)["result"])
        self.assertNotIn("resultType", self.server.ask(LIST, meta=None)["result"])

    def test_wrong_messages(self):
        self.error(self.server.line("{bad"), -32700, "JSON")
        self.error(self.server.line("{}\0{}"), -32700)
        for wrong in ("[]", "7", "{}", '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}', '{"jsonrpc":"2.0","id":1,"method":5}'):
            self.error(self.server.line(wrong), -32600, "jsonrpc")
        self.error(self.server.line('{"a":"' + "x" * (1 << 20) + '"}'), -32600, "1 MiB")
        self.error(self.server.ask("resources/list"), -32601, CALL)
        self.error(self.server.ask(LIST, meta={**META, "io.modelcontextprotocol/clientCapabilities": 0} and {"io.modelcontextprotocol/protocolVersion": NEW}),
                   -32602, "clientCapabilities")
        error = self.error(self.server.ask(LIST, meta={**META, "io.modelcontextprotocol/protocolVersion": "1.0"}), -32022, NEW)
        self.assertEqual((NEW, "1.0"), (error["data"]["supported"][0], error["data"]["requested"]))
        self.error(self.server.ask(CALL, name="nosuch", arguments={}), -32602, *TOOLS)

    def test_what_is_wrong_with_a_call_is_its_answer(self):
        for tool, arguments, words in (("view", {"trace": self.trace}, ["needs the argument view"]), ("view", {"view": "hot", "x": 1}, ["no argument 'x'", "sort"]),
                                       ("view", {"view": "operatrs", "trace": self.trace}, ["did you mean 'operators'"]),
                                       ("verdicts", {"trace": "nowhere.dwell"}, ["nowhere.dwell", "No such file"]), ("verdicts", {"trace": "-x"}, ["./-x"]),
                                       ("verdicts", {"trace": ["a"]}, ["must be a text"]), ("compare", {"before": [], "after": ["b"]}, ["at least one path"]),
                                       ("compare", {"before": [self.trace], "after": [self.trace]}, ["given twice"]),
                                       ("query", {"trace": self.trace, "sql": "select nonsense"}, ["nonsense", ".schema"]),
                                       ("view", {"view": "hot", "trace": self.trace}, ["samples"]), ("list_traces", {"folder": "/nowhere"}, ["/nowhere"])):
            failed, text = self.server.call(tool, **arguments)
            self.assertTrue(failed, (tool, arguments, text))
            for word in words:
                self.assertIn(word, text)

    def test_answers_are_those_of_the_command(self):
        for tool, arguments, command in (("verdicts", {}, ["report", "--view", "verdict"]), ("overview", {}, ["report"]),
                                         ("view", {"view": "operators", "sort": "calls", "limit": 3}, ["report", "--view", "operators", "--sort", "calls", "--limit", "3"]),
                                         ("query", {"sql": "-- the answer\nselect 42"}, ["query"])):
            extra = ["select 42"] if tool == "query" else []
            same = subprocess.run([dwell, *command, "--format", "json", self.trace, *extra], capture_output=True, text=True, check=True).stdout
            failed, text = self.server.call(tool, trace=self.trace, **arguments)
            self.assertFalse(failed, text)
            self.assertEqual(json.loads(same), json.JSONDecoder().raw_decode(text)[0])
        failed, text = self.server.call("compare", before=[self.trace], after=[self.samples])
        self.assertEqual("two runs" if not failed else text, json.loads(text)["views"][0]["rows"][0][0])
        failed, text = self.server.call("list_traces", folder=self.folder)
        self.assertEqual({self.trace, self.samples}, {row[0] for row in json.loads(text)["views"][0]["rows"]})

    def test_an_answer_has_at_most_8_kib_of_whole_rows(self):
        for tool, arguments in (("view", {"view": "operators"}), ("view", {"view": "facts"}), ("view", {"view": "tree"}), ("verdicts", {}), ("overview", {}),
                                ("query", {"sql": "select name, start_ns from ranges"}), ("query", {"sql": ".schema"})):
            failed, text = self.server.call(tool, trace=self.trace, **arguments)
            self.assertFalse(failed, text)
            self.assertLessEqual(len(text.encode()), MOST)
            tables, end = json.JSONDecoder().raw_decode(text)
            cut = sum(table.get("rows_cut", 0) for table in tables["views"])
            self.assertEqual(cut > 0, f"{cut} rows are left out" in text[end:], text[end:])
            if arguments.get("sql", "").startswith("select"):
                self.assertGreater(cut, 10000)
                self.assertGreater(len(text), MOST * 3 // 4)
        failed, text = self.server.call("query", trace=self.trace, sql="select hex(zeroblob(9000))")
        self.assertFalse(failed, text[:300])
        self.assertIn("1 rows are left out", text)

    def test_a_call_ends(self):
        began = time.monotonic()
        failed, text = self.server.call("query", trace=self.trace, sql=ENDLESS + "select count(*) from n")
        self.assertTrue(failed)
        self.assertIn("takes too long", text)
        self.assertLess(time.monotonic() - began, 60)
        failed, text = self.server.call("query", trace=self.trace, sql=ENDLESS + "select x, hex(zeroblob(5000)) from n")
        self.assertTrue(failed)
        self.assertIn("more than 200 MB", text)
        self.assertEqual((False, 42), (lambda failed, text: (failed, json.loads(text)["views"][0]["rows"][0][0]))(*self.server.call("query", trace=self.trace, sql="select 42")))


class Units(Case):
    def test_every_share_says_what_it_is_of(self):
        with open(os.path.join(ROOT, "src/output/views/views.def"), encoding="utf-8") as file:
            views = [line.split("(")[1].split(")")[0] for line in file if line.startswith("VIEW(")]
        seen, lacks = 0, set()
        made = os.path.join(self.folder, "made.dwell")
        for source in sorted(glob.glob(os.path.join(ROOT, "tests/golden/views/*.txt")))[::3]:
            if subprocess.run([make_trace, source, made], capture_output=True, check=False).returncode:
                continue
            for view in views:
                done = subprocess.run([dwell, "report", "--view", view, "--format", "json", made], capture_output=True, text=True, check=False)
                for table in json.loads(done.stdout)["views"] if done.returncode == 0 else []:
                    shares = [column for column in table["columns"] if column["unit"] == "ratio"]
                    seen += len(shares)
                    lacks |= {(view, table.get("part"), column["name"]) for column in shares if "whole" not in column and "of" not in column}
        self.assertGreater(seen, 100)
        self.assertEqual(set(), lacks)


class Client(Case):
    """The protocol's public client for Python."""

    def talk(self, mode):
        import asyncio

        from mcp import Client as Public, StdioServerParameters
        from mcp.client.stdio import stdio_client

        async def ask():
            async with Public(stdio_client(StdioServerParameters(command=dwell, args=["mcp"], cwd=self.folder)), mode=mode) as client:
                tools = [tool.name for tool in (await client.list_tools()).tools]
                verdicts = await client.call_tool("verdicts", {"trace": self.trace})
                wrong = await client.call_tool("view", {"trace": self.trace, "view": "nosuch"})
                try:
                    await client.call_tool("nosuch", {})
                    error = None
                except Exception as caught:  # the client's own class
                    error = str(caught)
                return tools, verdicts, wrong, error
        return asyncio.run(ask())

    def test_public_client(self):
        for mode in ("auto", NEW, "legacy"):
            tools, verdicts, wrong, error = self.talk(mode)
            self.assertEqual(TOOLS, tools)
            self.assertFalse(verdicts.is_error)
            self.assertEqual("verdict", json.JSONDecoder().raw_decode(verdicts.content[0].text)[0]["views"][0]["view"])
            self.assertTrue(wrong.is_error)
            self.assertIn("no view 'nosuch'", wrong.content[0].text)
            self.assertIn("list_traces", error)


if __name__ == "__main__":
    wanted = sys.argv[4:] or ["Messages", "Units"]
    loaded = unittest.TestSuite(test for case in (Messages, Units, Client) for test in unittest.defaultTestLoader.loadTestsFromTestCase(case)
                                if any(part in test.id() for part in wanted))
    result = unittest.TextTestRunner(verbosity=1).run(loaded)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
