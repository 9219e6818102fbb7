/* The numbers of optimizers; see optimizers.h. */
#include "optimizers.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"

#define NUMBERS(X) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

static struct dwell_site sites[] = { { "optimizer", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 },
#define X(number) { "optimizer", #number, NULL, 0, DWELL_CATEGORY_PHASE, 0 },
	                                 NUMBERS(X)
#undef X
};

#define MOST (sizeof sites / sizeof *sites)

static const void *living[MOST]; /* by number - 1 */
static uint32_t stepped[MOST];   /* how often each of these has */

void dwp_optimizer_made(const void *optimizer)
{
	size_t place = 0;

	dwp_optimizer_gone(optimizer);
	while (place < MOST && living[place])
		place++;
	if (place == MOST)
		return;
	living[place] = optimizer;
	stepped[place] = 0;
}

void dwp_optimizer_gone(const void *optimizer)
{
	for (size_t i = 0; i < MOST; i++)
		if (living[i] == optimizer)
			living[i] = NULL;
}

uint32_t dwp_optimizer_number(const void *optimizer)
{
	for (uint32_t i = 1; optimizer && i < MOST; i++)
		if (living[i] == optimizer)
			return i;
	return 0;
}

struct dwell_site *dwp_optimizer_site(const void *optimizer)
{
	return &sites[dwp_optimizer_number(optimizer)];
}

/* ---- loops -------------------------------------------------------------------------------------------- */

#define MOST_LOOPS 64u
#define MOST_TEXT 512u

static uint64_t known[MOST_LOOPS]; /* by number - 1 */
static char chains[MOST_TEXT];     /* "1=3/5 2=3 " */
static bool several;               /* they are of more than one optimizer */

static size_t optimizers_find(const void *optimizer)
{
	size_t place = 0;

	while (place < MOST && living[place] != optimizer)
		place++;
	return place;
}

bool dwp_optimizer_is_due(const void *optimizer)
{
	size_t place = optimizer ? optimizers_find(optimizer) : MOST;

	if (place == MOST)
		return false;
	stepped[place]++;
	return (stepped[place] & (stepped[place] - 1)) == 0;
}

/* A number from 1; 0: there are too many. */
static unsigned optimizers_number_loop(uint64_t loop)
{
	for (unsigned i = 0; i < MOST_LOOPS; i++) {
		if (!known[i])
			known[i] = loop;
		if (known[i] == loop)
			return i + 1;
	}
	return 0;
}

void dwp_optimizer_in_loops(const void *optimizer, const uint64_t *loops, uint32_t count)
{
	char chain[128] = " ", *old;
	int used = snprintf(chain + 1, sizeof chain - 1, "%zu", optimizers_find(optimizer) + 1) + 1;
	size_t length = strlen(chains);

	for (uint32_t i = 0; i < count && used < (int)sizeof chain - 16; i++)
		used += snprintf(chain + used, sizeof chain - (size_t)used, "%c%u", i ? '/' : '=',
		                 optimizers_number_loop(loops[i]));
	snprintf(chain + used, sizeof chain - (size_t)used, " ");
	old = strstr(chains, chain);
	if (!count || old || strncmp(chains, chain + 1, strlen(chain + 1)) == 0 || length + strlen(chain) > sizeof chains)
		return;
	several |= length && strtoul(chains, NULL, 10) != optimizers_find(optimizer) + 1;
	snprintf(chains + length, sizeof chains - length, "%s", chain + 1);
	if (several)
		dwell_meta(DW_KEY_TORCH_OPTIMIZER_LOOPS, chains);
}

void dwp_optimizers_forked(void)
{
	memset(stepped, 0, sizeof stepped);
	chains[0] = 0;
	several = false;
}
