/* ranges COUNT [kill]: makes so many ranges in three names, 3,000 a step; with `kill` it is killed then. */
#include <signal.h>
#include <stdlib.h>

#include <dwell/probe.h>

int main(int count, char **arguments)
{
	long ranges = count > 1 ? atol(arguments[1]) : 0;

	for (long i = 0; i < ranges / 3;) {
		DWELL_STEP();
		do {
			DWELL_ZONE("load");
			for (volatile int spin = (int)(i % 50); spin; spin--)
				;
			DWELL_ZONE("compute");
			DWELL_ZONE("inner");
		} while (++i % 1000 && i < ranges / 3);
	}
	if (count > 2)
		raise(SIGKILL);
	return 0;
}
