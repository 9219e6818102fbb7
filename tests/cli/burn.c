/* burn MILLISECONDS: uses so much CPU time. */
#include <stdlib.h>
#include <time.h>

int main(int count, char **arguments)
{
	clock_t end = (clock_t)((count > 1 ? atof(arguments[1]) : 0) * (CLOCKS_PER_SEC / 1000));

	while (clock() < end)
		;
	return 0;
}
