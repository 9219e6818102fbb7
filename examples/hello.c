/*
 * The smallest program with probes: dwell ./hello
 */
#include <dwell/probe.h>

static double work(double x, int n)
{
	DWELL_OP("multiply");
	while (n-- > 0)
		x = x * 1.0000001 + 1e-9;
	return x;
}

int main(void)
{
	double x = 1;

	for (int i = 0; i < 50; i++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			x = work(x, 1000000);
		}
		{
			DWELL_ZONE("backward");
			x = work(x, 2000000);
		}
		DWELL_COUNTER("x", x);
	}
	return x < 0;
}
