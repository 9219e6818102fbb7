/*
 * Trains a translator of words, and looks at its vocabulary from time to time.
 *
 * Planted: after each 32nd update the hypotheses are counted by sort and uniq in a shell, and the loop waits for it.
 * Truth: time until the shell's answer is read, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS       600
#define STATE       128
#define BATCH       48
#define EVERY       32
#define HYPOTHESES  90000

static float source[WORDS][STATE], output[WORDS][STATE], state[BATCH][STATE], mixer[STATE][STATE];
static float logits[BATCH][WORDS];

static void encode(int step)
{
    DWELL_ZONE("encode");
    for (int b = 0; b < BATCH; b++) {
        const float *word = source[(b * 37 + step * 11) % WORDS];

        for (int s = 0; s < STATE; s++) {
            float sum = 0;

            for (int k = 0; k < STATE; k++)
                sum += mixer[s][k] * word[k];
            state[b][s] = sum > 0 ? sum : 0;
        }
    }
}

static void decode(void)
{
    DWELL_ZONE("decode");
    for (int b = 0; b < BATCH; b++)
        for (int w = 0; w < WORDS; w++) {
            float sum = 0;

            for (int s = 0; s < STATE; s++)
                sum += output[w][s] * state[b][s];
            logits[b][w] = sum;
        }
}

static void correct(int step)
{
    DWELL_ZONE("correct");
    for (int b = 0; b < BATCH; b++)
        for (int w = 0; w < WORDS; w++) {
            float error = logits[b][w] - (float)((b * 53 + step * 7) % WORDS == w);

            for (int s = 0; s < STATE; s++)
                output[w][s] -= 1e-5f * error * state[b][s];
        }
}

/* How many different words the translator uses. */
static int vocabulary_in_use(int step, const char *path)
{
    DWELL_ZONE("corpus score");
    FILE *file = fopen(path, "w"), *answer;
    char command[256];
    int count = -1;

    if (!file)
        return -1;
    for (int i = 0; i < HYPOTHESES; i++) {
        unsigned word = ((unsigned)i * 2654435761u + (unsigned)step) >> 8;

        fprintf(file, "w%u %u\n", word % 5000, (unsigned)i & 3);
    }
    fclose(file);
    snprintf(command, sizeof(command), "LC_ALL=C sort %s | uniq -c | sort -rn | wc -l", path);
    answer = popen(command, "r");
    if (answer) {
        if (fscanf(answer, "%d", &count) != 1)
            count = -1;
        pclose(answer);
    }
    return count;
}

int main(void)
{
    struct watch watch;
    char path[] = "hypotheses-XXXXXX";
    int in_use = 0;

    close(mkstemp(path));
    for (int w = 0; w < WORDS; w++)
        for (int s = 0; s < STATE; s++)
            source[w][s] = output[w][s] = (float)(rand() % 1000 - 500) / 5000;
    for (int s = 0; s < STATE; s++)
        for (int k = 0; k < STATE; k++)
            mixer[s][k] = (float)(rand() % 1000 - 500) / 2500;
    watch_begin(&watch);
    while (watch_seconds(&watch) < 6.5) {
        DWELL_STEP();
        encode(watch.steps);
        decode();
        correct(watch.steps);
        if (++watch.steps % EVERY == 0) {
            planted_begin(&watch);
            in_use = vocabulary_in_use(watch.steps, path);
            planted_end(&watch);
        }
    }
    watch_tell(&watch);
    printf("%d words in use\n", in_use);
    unlink(path);
    return in_use <= 0;
}
