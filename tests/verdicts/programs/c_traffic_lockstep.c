/*
 * Learns to switch the lights of a town. Another process simulates its traffic; both share a page of memory.
 *
 * Planted: simulator and learner take turns. Each waits for the other's eventfd, so that one processor is always idle.
 * Truth: time that the learner waits for the simulator, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CROSSINGS = 64, ROAD = 512, SUBSTEPS = 36, SEEN = 8, UNITS = 48, ROUNDS = 20 };

struct town {
    uint8_t light[CROSSINGS];
    float queue[CROSSINGS][SEEN], delay[CROSSINGS];
};

static struct town *town;
static int your_turn, my_turn;
static float in[UNITS][SEEN], mix[UNITS][UNITS], out[UNITS], a[CROSSINGS][UNITS], b[CROSSINGS][UNITS], value[CROSSINGS];
static struct watch watch;

static void wait_for(int event)
{
    uint64_t count;

    if (read(event, &count, sizeof(count)) != sizeof(count))
        exit(1);
}

static void wake(int event)
{
    const uint64_t one = 1;

    if (write(event, &one, sizeof(one)) != sizeof(one))
        exit(1);
}

/* ---- the simulator: cars on a ring of cells for each crossing --------------------------- */

static void simulate_forever(void)
{
    static uint8_t road[CROSSINGS][ROAD], next[ROAD];
    uint32_t seed = 9;

    for (int c = 0; c < CROSSINGS; c++)
        for (int x = 0; x < ROAD; x++)
            road[c][x] = (x * 7 + c) % 3 == 0;
    for (;;) {
        wait_for(your_turn);
        for (int t = 0; t < SUBSTEPS; t++)
            for (int c = 0; c < CROSSINGS; c++) {
                memset(next, 0, sizeof(next));
                for (int x = 0; x < ROAD; x++) {
                    const int to = (x + 1) % ROAD;
                    int moves = road[c][x] && !road[c][to] && !next[to] && (x != ROAD / 2 || town->light[c]);

                    seed = seed * 1664525u + 1013904223u;
                    moves = moves && seed >> 29;
                    if (road[c][x])
                        next[moves ? to : x] = 1;
                }
                memcpy(road[c], next, sizeof(next));
            }
        for (int c = 0; c < CROSSINGS; c++) {
            town->delay[c] = 0;
            for (int k = 0; k < SEEN; k++) {
                town->queue[c][k] = (float)(road[c][ROAD / 2 - 2 * k] + road[c][ROAD / 2 - 2 * k - 1]) - 0.7f;
                town->delay[c] += town->queue[c][k] / SEEN;
            }
        }
        wake(my_turn);
    }
}

/* ---- the learner -------------------------------------------------------------------- */

static void drive(void)
{
    DWELL_SCOPE(DWELL_CATEGORY_EVENT, "drive");
    planted_begin(&watch);
    wake(your_turn);
    wait_for(my_turn);
    planted_end(&watch);
}

static void evaluate_crossings(void)
{
    DWELL_PHASE("values");
    for (int c = 0; c < CROSSINGS; c++) {
        value[c] = 0;
        for (int u = 0; u < UNITS; u++) {
            float z = 0;

            for (int k = 0; k < SEEN; k++)
                z += in[u][k] * town->queue[c][k];
            a[c][u] = tanhf(z);
        }
        for (int u = 0; u < UNITS; u++) {
            float z = 0;

            for (int v = 0; v < UNITS; v++)
                z += mix[u][v] * a[c][v];
            b[c][u] = tanhf(z);
            value[c] += out[u] * b[c][u];
        }
    }
}

static void improve(void)
{
    DWELL_PHASE("improve");
    for (int c = 0; c < CROSSINGS; c++)
        for (int u = 0; u < UNITS; u++) {
            const float d = 1e-3f * (value[c] + town->delay[c]) * out[u] * (1 - b[c][u] * b[c][u]);

            out[u] -= 1e-3f * (value[c] + town->delay[c]) * b[c][u];
            for (int v = 0; v < UNITS; v++)
                mix[u][v] -= d * a[c][v];
        }
}

int main(void)
{
    pid_t child;

    town = mmap(NULL, sizeof(*town), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    your_turn = eventfd(0, 0);
    my_turn = eventfd(0, 0);
    if (town == MAP_FAILED || your_turn < 0 || my_turn < 0)
        return 1;
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        simulate_forever();
    }
    for (int u = 0; u < UNITS; u++) {
        out[u] = (float)(u % 7 - 3) / 30;
        for (int k = 0; k < SEEN; k++)
            in[u][k] = (float)((u * 3 + k) % 11 - 5) / 10;
        for (int v = 0; v < UNITS; v++)
            mix[u][v] = (float)((u + v * 5) % 13 - 6) / 40;
    }
    watch_begin(&watch);
    for (; watch_seconds(&watch) < 6; watch.steps++) {
        DWELL_STEP();
        drive();
        for (int round = 0; round < ROUNDS; round++) {
            evaluate_crossings();
            improve();
        }
        for (int c = 0; c < CROSSINGS; c++)
            town->light[c] = value[c] > 0;
    }
    watch_tell(&watch);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
