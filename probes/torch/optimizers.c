/* The numbers of optimizers; see optimizers.h. */
#include "optimizers.h"

#include <stddef.h>

#include "loop_threads.h"

#define NUMBERS(X) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

static struct dwell_site sites[] = {
#define X(number) { "optimizer", #number, __FILE__, __LINE__, DWELL_CATEGORY_PHASE, 0 },
	NUMBERS(X)
#undef X
};

#define MOST (sizeof sites / sizeof *sites + 1)

static const void *living[MOST]; /* by number - 1 */

void dwp_optimizer_made(const void *optimizer)
{
	size_t place = 0;

	dwp_optimizer_gone(optimizer);
	while (place < MOST && living[place])
		place++;
	if (place < MOST)
		living[place] = optimizer;
}

void dwp_optimizer_gone(const void *optimizer)
{
	for (size_t i = 0; i < MOST; i++)
		if (living[i] == optimizer)
			living[i] = NULL;
}

struct dwell_site *dwp_optimizer_site(const void *optimizer)
{
	for (size_t i = 1; optimizer && i < MOST; i++)
		if (living[i] == optimizer)
			return &sites[i - 1];
	return &dwp_phase_optimizer;
}
