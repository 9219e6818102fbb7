/*
 * The same ranges for each tool that marks them: four per round, to depth three. Built with none or one of -DWITH_DWELL, -DWITH_LTTNG,
 * -DWITH_TRACY, -DWITH_CALIPER and -DWITH_PERFETTO, by bench/peers.py and bench/run.
 *
 *     peer_ranges COUNT [FILE|kill]     FILE: for Perfetto, whose session is in the program. kill: ends itself by SIGKILL
 *
 * Prints nanoseconds of the thread's CPU time per range, and with peers' `end` the monotonic clock.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <ctime>
#include <unistd.h>

#if defined(WITH_DWELL)
#include <dwell/probe.h>
#define RANGE(name, id) DWELL_ZONE(name)
#elif defined(WITH_LTTNG)
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "peer_lttng.h"
struct Pair {
	explicit Pair(unsigned id) { lttng_ust_tracepoint(dwell_bench, begin, id); }
	~Pair() { lttng_ust_tracepoint(dwell_bench, end); }
};
#define RANGE(name, id) Pair pair(id)
#elif defined(WITH_TRACY)
#include <tracy/Tracy.hpp>
#define RANGE(name, id) ZoneScopedN(name)
#elif defined(WITH_CALIPER)
#include <caliper/cali.h>
struct Region {
	explicit Region(const char *name) : name(name) { CALI_MARK_BEGIN(name); }
	~Region() { CALI_MARK_END(name); }
	const char *name;
};
#define RANGE(name, id) Region region(name)
#elif defined(WITH_PERFETTO)
#include <perfetto.h>
#include <fstream>
#include <memory>
#include <vector>
PERFETTO_DEFINE_CATEGORIES(perfetto::Category("bench"));
PERFETTO_TRACK_EVENT_STATIC_STORAGE();
#define RANGE(name, id) TRACE_EVENT("bench", name)
static std::unique_ptr<perfetto::TracingSession> session;
#else
static volatile unsigned sink;
#define RANGE(name, id) sink = id
#endif

static double now(clockid_t clock)
{
	timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments)
{
	long n = count > 1 ? atol(arguments[1]) : 1000000;
	const char *file = count > 2 ? arguments[2] : "";

#ifdef WITH_PERFETTO
	perfetto::TracingInitArgs args;
	args.backends = perfetto::kInProcessBackend;
	args.shmem_size_hint_kb = 32 * 1024; // the most; by default, 256 KB, ranges are lost while the service's thread waits for a core
	args.shmem_page_size_hint_kb = 32;
	perfetto::Tracing::Initialize(args);
	perfetto::TrackEvent::Register();
	perfetto::TraceConfig config;
	config.add_buffers()->set_size_kb(1 << 18);
	config.add_data_sources()->mutable_config()->set_name("track_event");
	session = perfetto::Tracing::NewTrace();
	session->Setup(config);
	session->StartBlocking();
#endif
	double start = now(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; i < n; i += 4) {
		RANGE("a", 1);
		{
			RANGE("b", 2);
			{
				RANGE("c", 3);
			}
			{
				RANGE("d", 4);
			}
		}
	}
	double cost = (now(CLOCK_THREAD_CPUTIME_ID) - start) / (double)n;
	printf("end %.3f\n%.3f\n", now(CLOCK_MONOTONIC) / 1e9, cost);
	fflush(stdout);
	if (!strcmp(file, "kill"))
		kill(getpid(), SIGKILL);
#ifdef WITH_PERFETTO
	session->StopBlocking();
	if (*file) {
		std::vector<char> trace(session->ReadTraceBlocking());
		std::ofstream(file, std::ios::binary).write(trace.data(), (std::streamsize)trace.size());
	}
#elif defined(WITH_TRACY)
	_exit(0); // else the client waits for a viewer
#endif
	return 0;
}
