/*
 * Evolves controllers of a walking robot: two threads breed and evaluate, one individual at a time.
 *
 * Planted: selection, crossover and mutation happen with the population's mutex held, and take longer than the walk.
 * Truth: time that the threads wait for the mutex, of their time in the loop (the mean of both).
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <pthread.h>

enum { GENES = 6000, POPULATION = 96, CHILDREN = 64, TOURNAMENT = 7, JOINTS = 6, TICKS = 10 };

struct individual { float genes[GENES], fitness; };

static struct individual population[POPULATION];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start, end;
static unsigned seed = 5;
static volatile int left, stop;
static double waited_s[2];

static float uniform(void)
{
	seed = seed * 1664525u + 1013904223u;
	return (float)(seed >> 8) / (1 << 24);
}

static const struct individual *select_parent(void)
{
	const struct individual *best = &population[(int)(uniform() * POPULATION)];
	for (int i = 1; i < TOURNAMENT; i++) {
		const struct individual *other = &population[(int)(uniform() * POPULATION)];
		if (other->fitness > best->fitness)
			best = other;
	}
	return best;
}

static int breed(struct individual *child, double *waited)
{
	DWELL_ZONE("breed");
	double began = now_s();
	pthread_mutex_lock(&mutex);
	*waited += now_s() - began;
	int more = left-- > 0;
	if (more) {
		const struct individual *mother = select_parent(), *father = select_parent();
		for (int g = 0; g < GENES; g++) {
			child->genes[g] = uniform() < 0.5f ? mother->genes[g] : father->genes[g];
			if (uniform() < 0.4f)
				child->genes[g] += 0.1f * sqrtf(-2 * logf(uniform() + 1e-9f)) * cosf(6.2831853f * uniform());
		}
	}
	pthread_mutex_unlock(&mutex);
	return more;
}

static void walk(struct individual *child)
{
	DWELL_ZONE("walk");
	float angle[JOINTS] = { 0 }, speed[JOINTS] = { 0 }, way = 0;
	for (int tick = 0; tick < TICKS; tick++)
		for (int j = 0; j < JOINTS; j++) {
			float torque = 0;
			for (int g = 0; g < GENES / JOINTS / 5; g++)
				torque += child->genes[j * (GENES / JOINTS) + g] * (g % 2 ? angle[g % JOINTS] : sinf((float)(tick + g) * 0.1f));
			speed[j] = 0.9f * speed[j] + 0.01f * tanhf(torque);
			angle[j] += 0.1f * speed[j];
			way += speed[j] * cosf(angle[j]);
		}
	child->fitness = way;
}

static void replace_a_weaker(const struct individual *child, double *waited)
{
	double began = now_s();
	pthread_mutex_lock(&mutex);
	*waited += now_s() - began;
	struct individual *victim = &population[(int)(uniform() * POPULATION)];
	if (victim->fitness < child->fitness)
		*victim = *child;
	pthread_mutex_unlock(&mutex);
}

static void work(int number)
{
	static struct individual children[2];
	while (breed(&children[number], &waited_s[number])) {
		walk(&children[number]);
		replace_a_weaker(&children[number], &waited_s[number]);
	}
}

static void *helper(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&start);
		if (stop)
			return unused;
		work(1);
		pthread_barrier_wait(&end);
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;
	for (int i = 0; i < POPULATION; i++)
		for (int g = 0; g < GENES; g++)
			population[i].genes[g] = uniform() - 0.5f;
	pthread_barrier_init(&start, NULL, 2);
	pthread_barrier_init(&end, NULL, 2);
	pthread_create(&thread, NULL, helper, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		left = CHILDREN;
		pthread_barrier_wait(&start);
		work(0);
		pthread_barrier_wait(&end);
	}
	watch_tell_share(&watch, (waited_s[0] + waited_s[1]) / 2 / watch_seconds(&watch));
	stop = 1;
	pthread_barrier_wait(&start);
	pthread_join(thread, NULL);
}
