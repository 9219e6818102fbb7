// The same in C++: a scope ends with its block, exceptions included. dwell ./hello-cpp
#include <dwell/probe.h>

#include <stdexcept>
#include <vector>

static double sum(const std::vector<double> &values)
{
	DWELL_OP("sum");
	double total = 0;
	for (double value : values)
		total += value;
	if (total < 0)
		throw std::runtime_error("negative");
	return total;
}

int main()
{
	std::vector<double> values(1 << 20, 1.0);
	double total = 0;

	for (int i = 0; i < 50; i++) {
		DWELL_STEP();
		DWELL_ZONE("forward");
		try {
			values[0] = i % 10 == 9 ? -1e9 : 1.0;
			total += sum(values);
		} catch (const std::runtime_error &) {
			DWELL_MARK("skipped");
		}
	}
	return total < 0;
}
