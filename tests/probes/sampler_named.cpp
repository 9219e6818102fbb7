// A function that two libraries have under one long name, which is hidden in each, and a program that calls both and sleeps.
#include <ctime>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>

namespace work {

static volatile double sink;

template <typename T> __attribute__((noinline, visibility("hidden"))) void burn(double seconds, const T &values)
{
	timespec time;
	double end = 0, now = 0;

	do {
		for (int i = 0; i < 20000; i++)
			sink = sink + i * static_cast<double>(values.size() + 1);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
		now = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
		end = end > 0 ? end : now + seconds;
	} while (now < end);
}

template <typename T> __attribute__((noinline)) void nap(const T &values)
{
	usleep(200000 + static_cast<unsigned>(values.size()));
	sink = sink + 1;
}

using values = std::map<std::string, std::pair<std::string, std::map<std::string, double>>>;

} // namespace work

#define CALL_(name) call_##name
#define CALL(name) CALL_(name)
#ifdef LIBRARY
extern "C" void CALL(LIBRARY)()
{
	work::burn(0.4, work::values());
}
#else
extern "C" void call_one();
extern "C" void call_two();

int main()
{
	call_one();
	call_two();
	work::nap(work::values());
}
#endif
