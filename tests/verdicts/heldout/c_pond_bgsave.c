/*
 * Predators and prey in a pond, each with a small brain that learns from what it ate.
 *
 * Planted: nothing. Each 60th step forks a child that saves all brains to a file in the background, as a database
 * does, and each step asks whether a child has ended: a moment.
 * Truth: time of forking and asking, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { Fish = 300, Senses = 12, Neurons = 24, Muscles = 2, Near = 6 };

struct fish {
	float x, y, vx, vy, energy;
	float brain[Neurons][Senses], motor[Muscles][Neurons];
	float eligibility[Neurons];
};

static struct fish pond[Fish];
static int saves;

static void sense(const struct fish *self, float *senses)
{
	float best[Near];
	int who[Near];

	for (int k = 0; k < Near; k++)
		best[k] = 1e9f, who[k] = 0;
	for (int i = 0; i < Fish; i++) {
		float dx = pond[i].x - self->x, dy = pond[i].y - self->y, d = dx * dx + dy * dy;
		int k = Near;

		if (&pond[i] == self || d >= best[Near - 1])
			continue;
		while (k > 0 && d < best[k - 1]) {
			k--;
			if (k < Near - 1)
				best[k + 1] = best[k], who[k + 1] = who[k];
		}
		best[k] = d, who[k] = i;
	}
	for (int k = 0; k < Near; k++) {
		senses[2 * k] = pond[who[k]].x - self->x;
		senses[2 * k + 1] = pond[who[k]].y - self->y;
	}
}

static void live(struct fish *self)
{
	float senses[Senses], fired[Neurons], force[Muscles] = { 0 };

	sense(self, senses);
	for (int n = 0; n < Neurons; n++) {
		float a = 0;
		for (int s = 0; s < Senses; s++)
			a += self->brain[n][s] * senses[s];
		fired[n] = tanhf(a);
		self->eligibility[n] = 0.9f * self->eligibility[n] + 0.1f * fired[n];
		for (int m = 0; m < Muscles; m++)
			force[m] += self->motor[m][n] * fired[n];
	}
	self->vx = 0.9f * self->vx + 0.01f * force[0];
	self->vy = 0.9f * self->vy + 0.01f * force[1];
	self->x = fmodf(self->x + self->vx + 1, 1);
	self->y = fmodf(self->y + self->vy + 1, 1);
	float food = sinf(19 * self->x) * cosf(17 * self->y), reward = food - self->energy;
	self->energy += 0.05f * reward;
	for (int n = 0; n < Neurons; n++)
		for (int s = 0; s < Senses; s++)
			self->brain[n][s] += 1e-3f * reward * self->eligibility[n] * senses[s];
}

static pid_t save_in_background(void)
{
	pid_t child = fork();

	if (child == 0) {
		char path[] = "/tmp/pond-XXXXXX";
		int file = mkstemp(path);

		unlink(path);
		for (int i = 0; i < Fish; i++)
			if (write(file, &pond[i], sizeof pond[i]) < 0)
				_exit(1);
		_exit(0);
	}
	return child;
}

int main(void)
{
	struct watch watch;
	pid_t saver = 0;

	for (int i = 0; i < Fish; i++) {
		float *f = &pond[i].x;
		for (size_t k = 0; k < sizeof pond[i] / sizeof(float); k++)
			f[k] = (float)(rand() % 1000) / 1000 - (k > 1 ? 0.5f : 0);
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		{
			DWELL_ZONE("lives");
			for (int i = 0; i < Fish; i++)
				for (int t = 0; t < 12; t++)
					live(&pond[i]);
		}
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "background save");
			if (saver > 0 && waitpid(saver, NULL, WNOHANG) == saver)
				saver = 0, saves++;
			if (++watch.steps % 60 == 0 && saver == 0)
				saver = save_in_background();
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	if (saver > 0)
		waitpid(saver, NULL, 0);
	fprintf(stderr, "%d saves\n", saves);
}
