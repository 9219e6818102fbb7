/* Export a product catalogue with a demand forecast for every article. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ARTICLES 10000
#define WEEKS 104

struct article { int number; char title[40]; double price; float sold[WEEKS]; };

static double exporting;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fill(struct article *a, int number)
{
    static const char *kind[] = {"lamp", "chair", "desk", "shelf", "rug", "clock", "vase", "mirror"};
    static const char *look[] = {"oak", "walnut", "steel", "white", "black", "linen"};
    a->number = number;
    snprintf(a->title, sizeof a->title, "%s %s no. %d", look[number % 6], kind[number / 6 % 8], number);
    a->price = 9.9 + number % 97 * 3.5;
    for (int w = 0; w < WEEKS; w++)
        a->sold[w] = (float)(20 + number % 13 + 8 * sin(w * 0.1208 + number) + (w * 7919 + number * 104729) % 11);
}

/* Exponential smoothing with trend; the constants are searched on a grid. */
static double forecast(const struct article *a, double *error)
{
    double best = 1e300, answer = 0;
    for (int i = 1; i < 13; i++)
        for (int k = 1; k < 11; k++) {
            double alpha = i * 0.07, beta = k * 0.05;
            double level = a->sold[0], trend = 0, sum = 0;
            for (int w = 1; w < WEEKS; w++) {
                double miss = a->sold[w] - (level + trend);
                double last = level;
                sum += miss * miss;
                level = level + trend + alpha * miss;
                trend = beta * (level - last) + (1 - beta) * trend;
            }
            if (sum < best) {
                best = sum;
                answer = level + trend;
            }
        }
    *error = sqrt(best / WEEKS);
    return answer;
}

struct document { char *text; size_t size, used; };

static void add(struct document *d, const char *s)
{
    double t = now();
    size_t n = strlen(s);
    while (d->used + n + 1 > d->size) {
        d->size = d->size ? d->size * 2 : 4096;
        d->text = realloc(d->text, d->size);
        if (!d->text) exit(1);
        if (!d->used) d->text[0] = 0;
    }
#ifdef REPAIRED
    memcpy(d->text + d->used, s, n + 1);
#else
    strcat(d->text, s);
#endif
    d->used += n;
    exporting += now() - t;
}

static void add_element(struct document *d, const char *name, const char *value)
{
    add(d, "<");
    add(d, name);
    add(d, ">");
    add(d, value);
    add(d, "</");
    add(d, name);
    add(d, ">\n");
}

static unsigned long checksum(const char *s)
{
    unsigned long a = 1, b = 0;
    for (; *s; s++) {
        a = (a + (unsigned char)*s) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

int main(void)
{
    double start = now(), value = 0;
    struct document doc = {0};
    struct article *a = malloc(sizeof *a);
    char text[64];
    add(&doc, "<catalogue>\n");
    for (int i = 0; i < ARTICLES; i++) {
        double error;
        fill(a, i);
        double f = forecast(a, &error);
        value += f * a->price;
        add(&doc, "<article>\n");
        add_element(&doc, "title", a->title);
        snprintf(text, sizeof text, "%.2f", a->price);
        add_element(&doc, "price", text);
        snprintf(text, sizeof text, "%.1f +- %.1f", f, error);
        add_element(&doc, "forecast", text);
        add(&doc, "</article>\n");
    }
    add(&doc, "</catalogue>\n");
    printf("%zu bytes, checksum %08lx, expected weekly turnover %.2f\n", doc.used, checksum(doc.text), value);
    free(a);
    free(doc.text);
    double total = now() - start;
#ifdef REPAIRED
    exporting = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", exporting / total, total);
    return 0;
}
