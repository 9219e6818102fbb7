#!/usr/bin/env python3
"""The Python package on the C core, without PyTorch: schedules, ranges, cycles, errors.

usage: python_api_test.py BUILD_FOLDER PACKAGE_FOLDER      last line: N passed, N failed
"""
import gc
import json
import os
import subprocess
import sys
import socket
import tempfile
import time
import threading
import time
import unittest
import warnings
import weakref

if __name__ == "__main__" and "DWELL_TEST_FOLDER" not in os.environ:
    # The loader reads LD_LIBRARY_PATH once: a process of its own, in a folder of its own.
    build, package = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_LIBRARY_PATH=build, PYTHONPATH=package,
                           DWELL_TEST_FOLDER=folder)
        sys.exit(subprocess.run([sys.executable, os.path.abspath(__file__)], env=environment,
                                cwd=folder).returncode)

import dwell  # noqa: E402
from dwell import ProfilerAction, ProfilerActivity, profile, record_function, schedule  # noqa: E402

LETTERS = {".": ProfilerAction.NONE, "w": ProfilerAction.WARMUP, "R": ProfilerAction.RECORD,
           "S": ProfilerAction.RECORD_AND_SAVE}


def names(prof):
    return [event.trace_name for event in prof.events()]


def run_script(script):
    """Under dwell run, to NAME.dwell."""
    subprocess.run([os.path.join(os.environ["LD_LIBRARY_PATH"], "dwell"), "run", "-o", script[:-3] + ".dwell", "--",
                    sys.executable, script], check=True, capture_output=True)


def rows(trace, view):
    done = subprocess.run([os.path.join(os.environ["LD_LIBRARY_PATH"], "dwell"), "report", "-f", "json", "-n", "all",
                           "--view", view, trace], check=True, capture_output=True)
    table = json.loads(done.stdout)["views"][0]
    return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]


class Schedules(unittest.TestCase):
    def test_actions(self):
        for actions, numbers in (
                (".wRS.wRS............", dict(wait=1, warmup=1, active=2, repeat=2)),
                ("...............wRRS.....wRRS............",
                 dict(wait=5, warmup=1, active=3, repeat=2, skip_first=10)),
                ("SSSSSSSS", dict(wait=0, warmup=0, active=1)),
                ("..........wRS....................wRS....................wRS.",
                 dict(wait=20, warmup=1, active=2, skip_first=10, skip_first_wait=1))):
            plan = schedule(**numbers)
            self.assertEqual([plan(step) for step in range(len(actions))],
                             [LETTERS[letter] for letter in actions])

    def test_bad_ones(self):
        for numbers in (dict(wait=0, warmup=0, active=0), dict(wait=-1, warmup=0, active=1),
                        dict(wait=0, warmup=0, active=1, repeat=-1)):
            with self.assertRaisesRegex(AssertionError, "Invalid profiler schedule arguments"):
                schedule(**numbers)
        with self.assertRaisesRegex(ValueError, "counted from 0"):
            schedule(wait=0, warmup=0, active=1)(-1)


class Values(unittest.TestCase):
    def test_counters_and_marks_of_a_program(self):
        dwell.counter("nobody", 1)  # without a session
        with open("values.py", "w", encoding="utf-8") as script:
            script.write("import dwell\n"
                         "for i in range(20):\n"
                         "    dwell.step()\n"
                         "    dwell.counter('loss', 8 / (i + 1), 'nats')\n"
                         "    if i % 5 == 4:\n"
                         "        dwell.mark('better')\n")
        run_script("values.py")
        loss = [row for row in rows("values.dwell", "counters") if row["counter"] == "loss"]
        self.assertEqual(("nats", 20, 8.0, 0.4), tuple(loss[0][name] for name in ("unit", "samples", "first", "last")))
        self.assertEqual(11, len(loss))
        self.assertEqual("steps 0..1", loss[1]["row"])
        self.assertAlmostEqual(6.0, loss[1]["mean"])
        self.assertEqual([("better", 4)], [(row["mark"], row["count"]) for row in rows("values.dwell", "marks")])


class Collector(unittest.TestCase):
    def test_collections_have_no_place_of_dwells_own(self):
        with open("collect.py", "w", encoding="utf-8") as script:
            script.write("import gc\nfor i in range(5): gc.collect()\n")
        run_script("collect.py")
        found = [row for row in rows("collect.dwell", "tree") if "gc generation" in str(row)]
        self.assertTrue(found)
        self.assertNotIn("collector.c", str(found))


class Threads(unittest.TestCase):
    def test_names_that_python_gives_its_threads(self):
        with open("threads.py", "w", encoding="utf-8") as script:
            script.write("import concurrent.futures, threading, time\n"
                         "class Own(threading.Thread):\n"
                         "    def run(self): time.sleep(.05)\n"
                         "def target(): raise ValueError('is no trouble')\n"
                         "threading.excepthook = lambda args: print(args.exc_type)\n"
                         "threads = [Own(name='own \u03b1'), threading.Thread(target=target, name='decoder'), Own()]\n"
                         "for thread in threads: thread.start()\n"
                         "for thread in threads: thread.join()\n"
                         "with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix='pool') as pool:\n"
                         "    pool.submit(time.sleep, .05).result()\n")
        run_script("threads.py")
        found = {row["thread"] for row in rows("threads.dwell", "threads")}
        self.assertLessEqual({"own \u03b1", "decoder", "Thread-1", "pool_0"}, found)


class Profiles(unittest.TestCase):
    def test_range_with_known_times(self):
        with record_function("before"):
            pass
        with profile() as prof:
            with record_function("outer"):
                time.sleep(0.02)
                with record_function("inner"):
                    time.sleep(0.03)
        with record_function("after"):
            pass
        self.assertEqual(names(prof), ["outer", "inner"])
        outer, inner = prof.events()
        self.assertEqual(outer.cpu_children, [inner])
        self.assertIs(inner.cpu_parent, outer)
        self.assertGreaterEqual(inner.cpu_time_total, 30000)
        self.assertGreaterEqual(outer.self_cpu_time_total, 20000)
        self.assertAlmostEqual(outer.self_cpu_time_total + inner.cpu_time_total,
                               outer.cpu_time_total, places=2)
        self.assertEqual(outer.thread, threading.get_native_id())
        self.assertTrue(outer.is_user_annotation)

    def test_results_hold_nothing_when_they_are_dropped(self):
        def descriptors():
            return len(os.listdir("/proc/self/fd"))

        gc.disable()  # what a cycle of references holds would stay
        try:
            for count in range(40):
                with profile() as prof:
                    with record_function("outer"):
                        with record_function("inner"):
                            pass
                self.assertEqual(2, len(prof.events()))
                self.assertIn("outer", prof.key_averages().table())
                trace = weakref.ref(prof.trace)
                events = prof.events()
                del prof
                self.assertIn("outer", events.table())  # a list of events keeps what it reads
                del events
                self.assertIsNone(trace())
                if count == 10:
                    before = descriptors()
            self.assertEqual(before, descriptors())
        finally:
            gc.enable()

    def test_decorator(self):
        @record_function("decorated")
        def twice():
            return 2

        with profile() as prof:
            self.assertEqual(twice() + twice(), 4)
        self.assertEqual(names(prof), ["decorated", "decorated"])

    def test_cycles(self):
        results = []

        def ready(prof):
            results.append((prof.step_num, names(prof)))

        with profile(schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=ready) as prof:
            for step in range(8):
                with record_function(f"work {step}"):
                    pass
                prof.step()
        self.assertEqual(results, [
            (4, ["ProfilerStep#2", "work 2", "ProfilerStep#3", "work 3"]),
            (8, ["ProfilerStep#6", "work 6", "ProfilerStep#7", "work 7"])])
        self.assertEqual(prof.current_action, ProfilerAction.NONE)

    def test_own_schedule(self):
        results = []
        with profile(schedule=lambda step: ProfilerAction.RECORD_AND_SAVE if step % 2
                     else ProfilerAction.NONE, on_trace_ready=lambda p: results.append(p.step_num)) as p:
            for _ in range(4):
                p.step()
        self.assertEqual(results, [2, 4])

    def test_exceptions_come_out(self):
        def ready(prof):
            raise KeyError("from on_trace_ready")

        with self.assertRaises(KeyError):
            with profile(on_trace_ready=ready):
                pass

    def test_nested_and_in_threads(self):
        seen = {}

        def run(name):
            with profile() as prof:
                barrier.wait()
                with record_function(name):
                    time.sleep(0.02)
                barrier.wait()
            seen[name] = names(prof)

        barrier = threading.Barrier(2)
        threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, {"one": ["one"], "two": ["two"]})
        with profile() as outer:
            with record_function("a"):
                pass
            with profile() as inner:
                with record_function("b"):
                    pass
        self.assertEqual(names(outer), ["a", "b"])
        self.assertEqual(names(inner), ["b"])

    def test_exports(self):
        with profile() as prof:
            prof.add_metadata("key", 'a "quoted" value')
            prof.add_metadata_json("numbers", "[1, 2]")
            with record_function("exported"):
                pass
        prof.export_chrome_trace("trace.json")
        with open("trace.json", encoding="utf-8") as file:
            trace = json.load(file)
        self.assertIn("exported", [event.get("name") for event in trace["traceEvents"]])
        self.assertEqual(trace["key"], 'a "quoted" value')
        self.assertEqual(trace["numbers"], [1, 2])
        with self.assertRaises(ValueError):
            prof.add_metadata_json("bad", "{")
        os.makedirs("tensorboard")
        dwell.tensorboard_trace_handler("tensorboard", "worker0", use_gzip=True)(prof)
        (name,) = os.listdir("tensorboard")
        self.assertRegex(name, r"^worker0\.\d+\.pt\.trace\.json\.gz$")


class Xla(unittest.TestCase):
    def test_a_server(self):
        from dwell import Error, xla
        with xla.start_server(0) as server:
            port = server.port
            self.assertGreater(port, 0)
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            with self.assertRaisesRegex(Error, "served already"):
                xla.start_server(0)
        until = time.monotonic() + 5
        with self.assertRaises(OSError):
            while time.monotonic() < until:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                time.sleep(0.02)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with self.assertRaisesRegex(Error, "in use"):
                xla.start_server(taken.getsockname()[1])

    def test_annotations(self):
        from dwell import xla

        @xla.Trace("whole", batch=4)
        def work():
            for number in range(3):
                with xla.StepTrace("train", step_num=number):
                    with xla.Trace("fetch", size=3):
                        pass

        with profile() as prof:
            before = dwell._native.record.dwell_steps_begun()
            work()
        self.assertEqual(dwell._native.record.dwell_steps_begun() - before, 3)
        self.assertEqual([name for name in names(prof) if not name.startswith("ProfilerStep#")],
                         ["whole"] + ["train", "fetch"] * 3)


class BadInput(unittest.TestCase):
    def test_refused_by_name(self):
        for argument in ("experimental_config", "execution_trace_observer",
                         "custom_trace_id_callback", "post_processing_timeout_s"):
            with self.assertRaisesRegex(ValueError, argument):
                profile(**{argument: object()})

    def test_cuda_warns_once(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
                pass
        self.assertEqual(len(caught), 1)
        self.assertIn("CUDA", str(caught[0].message))

    def test_results_before_the_end(self):
        with self.assertRaisesRegex(AssertionError, "stopped"):
            profile().events()

    def test_a_schedule_without_steps_is_said(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with profile(schedule=schedule(wait=1, warmup=0, active=1)):
                pass
        self.assertIn("never called", str(caught[0].message))

    def test_wrong_order(self):
        prof = profile()
        with self.assertRaisesRegex(dwell.Error, "not started"):
            prof.step()
        with prof:
            with self.assertRaisesRegex(dwell.Error, "started"):
                prof.start()


if __name__ == "__main__":
    result = unittest.TextTestRunner(sys.stdout, verbosity=0).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
