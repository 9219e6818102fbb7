/*
 * What hives weigh tomorrow: a gated recurrent unit over two days of scales and thermometers, backpropagation through time by hand.
 *
 * Clean: the unit forward, its gradients back through all hours, momentum; one thread, batches drawn once before the loop.
 * Truth: time of the update with momentum, as a share of the loop; nothing else is nearer to a cause.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HIVES = 24, HOURS = 48, SENSORS = 6, STATE = 40, FROM = SENSORS + STATE, GATES = 3, BATCHES = 16 };

struct unit {
	float gate[GATES][STATE][FROM], out[STATE];
};

static struct unit unit, slope, speed;
static float scales[BATCHES][HIVES][HOURS][SENSORS], tomorrow[BATCHES][HIVES];

static float draw(void)
{
	return 2 * (float)rand() / (float)RAND_MAX - 1;
}

static float sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

struct hour {
	float before[STATE], from[FROM], update[STATE], reset[STATE], wish[STATE], mixed[FROM];
};

static float dot(const float *a, const float *b)
{
	float sum = 0;

	for (int i = 0; i < FROM; i++)
		sum += a[i] * b[i];
	return sum;
}

static void forward(struct hour *hour, const float *sensed, float *state)
{
	memcpy(hour->before, state, sizeof hour->before);
	memcpy(hour->from, sensed, SENSORS * sizeof(float));
	memcpy(hour->from + SENSORS, state, STATE * sizeof(float));
	for (int s = 0; s < STATE; s++) {
		hour->update[s] = sigmoid(dot(unit.gate[0][s], hour->from));
		hour->reset[s] = sigmoid(dot(unit.gate[1][s], hour->from));
	}
	memcpy(hour->mixed, sensed, SENSORS * sizeof(float));
	for (int s = 0; s < STATE; s++)
		hour->mixed[SENSORS + s] = hour->reset[s] * state[s];
	for (int s = 0; s < STATE; s++) {
		hour->wish[s] = tanhf(dot(unit.gate[2][s], hour->mixed));
		state[s] += hour->update[s] * (hour->wish[s] - state[s]);
	}
}

static void push(int gate, int s, float back, const float *from, float *to)
{
	for (int i = 0; i < FROM; i++) {
		slope.gate[gate][s][i] += back * from[i];
		to[i] += back * unit.gate[gate][s][i];
	}
}

static void backward(const struct hour *hour, float *back)
{
	float to_from[FROM] = {0}, to_mixed[FROM] = {0}, left[STATE];

	for (int s = 0; s < STATE; s++) {
		const float z = hour->update[s], h = hour->wish[s];

		left[s] = back[s] * (1 - z);
		push(2, s, back[s] * z * (1 - h * h), hour->mixed, to_mixed);
		push(0, s, back[s] * (h - hour->before[s]) * z * (1 - z), hour->from, to_from);
	}
	for (int s = 0; s < STATE; s++) {
		const float r = hour->reset[s];

		left[s] += to_mixed[SENSORS + s] * r;
		push(1, s, to_mixed[SENSORS + s] * hour->before[s] * r * (1 - r), hour->from, to_from);
	}
	for (int s = 0; s < STATE; s++)
		back[s] = left[s] + to_from[SENSORS + s];
}

static float season(int b)
{
	static struct hour hours[HOURS];
	float loss = 0;

	for (int hive = 0; hive < HIVES; hive++) {
		float state[STATE] = {0}, back[STATE], weight = 0;

		{
			DWELL_ZONE("forward");
			for (int t = 0; t < HOURS; t++)
				forward(&hours[t], scales[b][hive][t], state);
		}
		for (int s = 0; s < STATE; s++)
			weight += unit.out[s] * state[s];
		const float error = weight - tomorrow[b][hive];

		loss += error * error / HIVES;
		for (int s = 0; s < STATE; s++) {
			slope.out[s] += error * state[s];
			back[s] = error * unit.out[s];
		}
		DWELL_ZONE("backward");
		for (int t = HOURS - 1; t >= 0; t--)
			backward(&hours[t], back);
	}
	return loss;
}

int main(void)
{
	struct watch watch;
	float *weights = (float *)&unit, *moves = (float *)&speed, *slopes = (float *)&slope, loss = 0;

	srand(29);
	for (size_t i = 0; i < sizeof unit / sizeof(float); i++)
		weights[i] = 0.3f * draw();
	for (int b = 0; b < BATCHES; b++)
		for (int h = 0; h < HIVES; h++) {
			for (int t = 0; t < HOURS; t++)
				for (int s = 0; s < SENSORS; s++)
					scales[b][h][t][s] = draw();
			tomorrow[b][h] = 0.5f * scales[b][h][HOURS - 1][0] - 0.3f * scales[b][h][HOURS - 2][1];
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loss = season((int)(watch.steps % BATCHES));
		planted_begin(&watch);
		for (size_t i = 0; i < sizeof unit / sizeof(float); i++) {
			moves[i] = 0.8f * moves[i] + slopes[i] / HIVES;
			weights[i] -= 0.01f * moves[i];
			slopes[i] = 0;
		}
		planted_end(&watch);
		DWELL_COUNTER("loss", (double)loss);
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (double)loss);
	return 0;
}
