/*
 * A gripper on an arm with six joints: a network learns the joints for a wished pose, and its loss is how far the arm's own kinematics put
 * the gripper off. Each batch is another set of wished poses.
 *
 * Planted: the workshop's flight recorder keeps each step's poses safe: it writes them and calls fdatasync() before the next step.
 * Truth: time of the recorder, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOINTS 6
#define WISHES 160
#define WIDTH 64

typedef struct {
	int file;
	char line[WISHES * 24];
} recorder;

typedef struct {
	float first[WIDTH][3], shift[WIDTH], second[WIDTH][WIDTH], last[JOINTS][WIDTH];
} net;

static net arm, grad;
static float wish[WISHES][3];
static const float bone[JOINTS] = {0.4f, 0.35f, 0.3f, 0.22f, 0.15f, 0.1f};

static uint32_t turn = 2463534242u;

static float any(void)
{
	turn ^= turn << 13;
	turn ^= turn >> 17;
	turn ^= turn << 5;
	return (float)(turn >> 8) / 8388608.0f - 1;
}

/* Where the gripper is, and how it moves with each joint. */
static void reach(const float *joint, float place[3], float by[JOINTS][3])
{
	float sum = 0, angle[JOINTS];

	memset(place, 0, 3 * sizeof *place);
	memset(by, 0, JOINTS * 3 * sizeof(float));
	for (int j = 0; j < JOINTS; j++) {
		sum += joint[j];
		angle[j] = sum;
		place[0] += bone[j] * cosf(sum);
		place[1] += bone[j] * sinf(sum);
		place[2] += bone[j] * sinf(0.5f * sum);
	}
	for (int j = 0; j < JOINTS; j++)
		for (int k = j; k < JOINTS; k++) {
			by[j][0] -= bone[k] * sinf(angle[k]);
			by[j][1] += bone[k] * cosf(angle[k]);
			by[j][2] += 0.5f * bone[k] * cosf(0.5f * angle[k]);
		}
}

static float solve(int w)
{
	float one[WIDTH], two[WIDTH], joint[JOINTS], place[3], by[JOINTS][3], off[3], to_two[WIDTH] = {0}, to_one[WIDTH] = {0}, loss = 0;

	for (int u = 0; u < WIDTH; u++)
		one[u] = tanhf(arm.first[u][0] * wish[w][0] + arm.first[u][1] * wish[w][1] + arm.first[u][2] * wish[w][2] + arm.shift[u]);
	for (int u = 0; u < WIDTH; u++) {
		float sum = 0;

		for (int v = 0; v < WIDTH; v++)
			sum += arm.second[u][v] * one[v];
		two[u] = tanhf(sum);
	}
	for (int j = 0; j < JOINTS; j++) {
		joint[j] = 0;
		for (int u = 0; u < WIDTH; u++)
			joint[j] += arm.last[j][u] * two[u];
	}
	reach(joint, place, by);
	for (int d = 0; d < 3; d++) {
		off[d] = place[d] - wish[w][d];
		loss += off[d] * off[d];
	}
	for (int j = 0; j < JOINTS; j++) {
		const float back = off[0] * by[j][0] + off[1] * by[j][1] + off[2] * by[j][2];

		for (int u = 0; u < WIDTH; u++) {
			grad.last[j][u] += back * two[u];
			to_two[u] += back * arm.last[j][u];
		}
	}
	for (int u = 0; u < WIDTH; u++) {
		const float back = to_two[u] * (1 - two[u] * two[u]);

		for (int v = 0; v < WIDTH; v++) {
			grad.second[u][v] += back * one[v];
			to_one[v] += back * arm.second[u][v];
		}
	}
	for (int u = 0; u < WIDTH; u++) {
		const float back = to_one[u] * (1 - one[u] * one[u]);

		grad.shift[u] += back;
		for (int d = 0; d < 3; d++)
			grad.first[u][d] += back * wish[w][d];
	}
	return loss;
}

static void keep(recorder *r, long step, float loss)
{
	int length = snprintf(r->line, 64, "%ld %.5f", step, (double)loss);

	for (int w = 0; w < WISHES; w += 4)
		length += snprintf(r->line + length, 24, " %.3f,%.3f", (double)wish[w][0], (double)wish[w][1]);
	r->line[length++] = '\n';
	if (write(r->file, r->line, (size_t)length) != length || fdatasync(r->file))
		exit(1);
}

int main(void)
{
	static recorder box;
	struct watch watch;
	float *weights = (float *)&arm, *slopes = (float *)&grad, loss = 0;

	box.file = open("poses.txt", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	if (box.file < 0)
		return 1;
	for (size_t i = 0; i < sizeof arm / sizeof(float); i++)
		weights[i] = 0.2f * any();
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		{
			DWELL_PHASE("wishes");
			for (int w = 0; w < WISHES; w++)
				for (int d = 0; d < 3; d++)
					wish[w][d] = 0.8f * any();
		}
		{
			DWELL_PHASE("kinematics");
			loss = 0;
			for (int pass = 0; pass < 4; pass++) {
				memset(&grad, 0, sizeof grad);
				for (int w = 0; w < WISHES; w++)
					loss += solve(w);
				for (size_t i = 0; i < sizeof arm / sizeof(float); i++)
					weights[i] -= 0.02f * slopes[i] / WISHES;
			}
		}
		planted_begin(&watch);
		keep(&box, (long)watch.steps, loss / WISHES);
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	close(box.file);
	unlink("poses.txt");
	printf("off by %.4f\n", (double)loss / WISHES);
	return 0;
}
