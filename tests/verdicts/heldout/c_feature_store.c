/*
 * Predicts clicks. A process beside it owns the table of features, and the trainer asks it by a socket.
 *
 * Planted: a question for each single key, so that a batch takes hundreds of round trips.
 * Truth: time from a question to its answer, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIM      32
#define FIELDS   6
#define ROWS     28
#define WIDTH    (FIELDS * DIM)
#define HIDDEN   256
#define PASSES   7 /* over each batch */
#define FEATURES 20000

struct question { uint32_t key; };
struct answer { float vector[DIM]; };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the feature store ---------------------------------------------------- */

static void serve(int fd)
{
    float *table = malloc(sizeof(float) * FEATURES * DIM);
    struct question question;
    struct answer answer;

    for (int i = 0; i < FEATURES * DIM; i++)
        table[i] = (float)((unsigned)i * 7919u % 1000) / 1000 - 0.5f;
    while (read(fd, &question, sizeof(question)) == sizeof(question)) {
        for (int i = 0; i < DIM; i++)
            answer.vector[i] = table[question.key % FEATURES * DIM + (unsigned)i];
        if (write(fd, &answer, sizeof(answer)) != sizeof(answer))
            break;
    }
    free(table);
}

/* ---- the trainer ------------------------------------------------------------ */

static float input[ROWS][WIDTH], weight[HIDDEN][WIDTH], top[HIDDEN], hidden[ROWS][HIDDEN], score[ROWS];
static struct watch watch;

static void get_features(int fd, uint32_t key, float *into)
{
    struct question question = { key };

    planted_begin(&watch);
    if (write(fd, &question, sizeof(question)) != sizeof(question))
        fail("write");
    if (read(fd, into, sizeof(struct answer)) != sizeof(struct answer))
        fail("read");
    planted_end(&watch);
}

static void look_up(int fd, int step)
{
    DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "feature store");
    for (int row = 0; row < ROWS; row++)
        for (int field = 0; field < FIELDS; field++)
            get_features(fd, (uint32_t)(step * ROWS + row) * 2246822519u >> (field + 4), &input[row][field * DIM]);
}

static void score_rows(void)
{
    DWELL_PHASE("score");
    for (int row = 0; row < ROWS; row++) {
        float sum = 0;

        for (int h = 0; h < HIDDEN; h++) {
            float z = 0;

            for (int i = 0; i < WIDTH; i++)
                z += weight[h][i] * input[row][i];
            hidden[row][h] = tanhf(z);
            sum += hidden[row][h] * top[h];
        }
        score[row] = 1 / (1 + expf(-sum));
    }
}

static void learn(int step)
{
    DWELL_PHASE("learn");
    for (int row = 0; row < ROWS; row++) {
        float error = score[row] - (float)((row * 31 + step) % 9 == 0);

        for (int h = 0; h < HIDDEN; h++) {
            float d = 1e-3f * error * top[h] * (1 - hidden[row][h] * hidden[row][h]);

            top[h] -= 1e-3f * error * hidden[row][h];
            for (int i = 0; i < WIDTH; i++)
                weight[h][i] -= d * input[row][i];
        }
    }
}

int main(void)
{
    int pair[2];
    pid_t store;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        fail("socketpair");
    store = fork();
    if (store == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        serve(pair[1]);
        _exit(0);
    }
    close(pair[1]);
    for (int h = 0; h < HIDDEN; h++) {
        top[h] = (float)(h % 13 - 6) / 60;
        for (int i = 0; i < WIDTH; i++)
            weight[h][i] = (float)((h * 5 + i * 3) % 17 - 8) / 90;
    }
    watch_begin(&watch);
    for (; watch_seconds(&watch) < 6; watch.steps++) {
        DWELL_STEP();
        look_up(pair[0], watch.steps);
        for (int pass = 0; pass < PASSES; pass++) {
            score_rows();
            learn(watch.steps);
        }
    }
    watch_tell(&watch);
    close(pair[0]);
    waitpid(store, NULL, 0);
    return 0;
}
