/* Assemble a generated program with many labels, then run it on a small machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LABELS 12000
#define LINES (LABELS * 6)

enum op { LOAD, ADD, MUL, XOR, STORE, JNZ, HALT };
struct symbol { char name[32]; int address; };
struct instruction { enum op op; int reg, arg; };

static struct symbol symbols[LABELS];
static int symbol_count;
#ifdef REPAIRED
static int slots[32768];
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#ifdef REPAIRED
static int *slot(const char *name)
{
    unsigned h = 5381;
    for (const char *p = name; *p; p++) h = h * 33 + (unsigned char)*p;
    h &= 32767;
    while (slots[h] && strcmp(symbols[slots[h] - 1].name, name)) h = (h + 1) & 32767;
    return &slots[h];
}
#endif

static void define(const char *name, int address)
{
    struct symbol *s = &symbols[symbol_count++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->address = address;
#ifdef REPAIRED
    *slot(name) = symbol_count;
#endif
}

static int resolve(const char *name)
{
#ifdef REPAIRED
    int i = *slot(name);
    return i ? symbols[i - 1].address : -1;
#else
    for (int i = 0; i < symbol_count; i++)
        if (strcmp(symbols[i].name, name) == 0) return symbols[i].address;
    return -1;
#endif
}

static char *write_source(void)
{
    size_t size = (size_t)LINES * 40, used = 0;
    char *text = malloc(size);
    unsigned s = 17;
    if (!text) exit(1);
    for (int l = 0; l < LABELS; l++) {
        used += (size_t)snprintf(text + used, size - used, "loop_section_%05d:\n", l);
        for (int i = 0; i < 4; i++) {
            static const char *op[] = {"load", "add", "mul", "xor", "store"};
            s = s * 1664525u + 1013904223u;
            unsigned r = s >> 10;
            used += (size_t)snprintf(text + used, size - used, "  %s r%u @loop_section_%05u\n", op[r % 5], r / 5 % 8, r / 40 % LABELS);
        }
        used += (size_t)snprintf(text + used, size - used, "  jnz r%d @loop_section_%05d\n", l % 8, (l * 7 + 13) % LABELS);
    }
    return text;
}

static int assemble(const char *text, struct instruction *code, double *resolving)
{
    static const char *ops[] = {"load", "add", "mul", "xor", "store", "jnz"};
    char word[16], name[32];
    int address = 0, bad = 0, reg;
    for (int pass = 0; pass < 2; pass++) {
        address = 0;
        for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
            const char *end = strchr(p, '\n');
            if (end[-1] == ':') {
                if (pass) continue;
                memcpy(name, p, (size_t)(end - 1 - p));
                name[end - 1 - p] = 0;
                define(name, address);
                continue;
            }
            if (pass) {
                char line[64];
                memcpy(line, p, (size_t)(end - p));
                line[end - p] = 0;
                if (sscanf(line, " %15s r%d @%31s", word, &reg, name) != 3) { bad++; continue; }
                int o = 0;
                while (o < HALT && strcmp(ops[o], word)) o++;
                double t = now();
                int target = resolve(name);
                *resolving += now() - t;
                code[address] = (struct instruction){(enum op)o, reg, target};
            }
            address++;
        }
    }
    code[address].op = HALT;
    return bad ? -bad : address;
}

static unsigned run(const struct instruction *code, int length, long steps)
{
    unsigned r[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned *memory = calloc((size_t)length + 1, sizeof *memory);
    int pc = 0;
    if (!memory) exit(1);
    for (long n = 0; n < steps; n++) {
        struct instruction i = code[pc++];
        switch (i.op) {
        case LOAD: r[i.reg] ^= memory[i.arg]; break;
        case ADD: r[i.reg] += (unsigned)i.arg; break;
        case MUL: r[i.reg] = r[i.reg] * 2654435761u + (unsigned)i.arg; break;
        case XOR: r[i.reg] ^= r[i.reg] >> 7 ^ (unsigned)i.arg; break;
        case STORE: memory[i.arg] = r[i.reg]; break;
        case JNZ: if (r[i.reg] & 1) pc = i.arg; break;
        case HALT: pc = (int)(r[0] % (unsigned)length); break;
        }
    }
    unsigned sum = 0;
    for (int i = 0; i < length; i++) sum = sum * 31 + memory[i];
    free(memory);
    for (int i = 0; i < 8; i++) sum ^= r[i];
    return sum;
}

int main(void)
{
    double start = now(), resolving = 0;
    char *text = write_source();
    struct instruction *code = malloc(sizeof *code * (LINES + 1));
    int length = assemble(text, code, &resolving);
    printf("%d symbols, %d instructions\n", symbol_count, length);
    unsigned sum = run(code, length, 500000000L);
    printf("memory checksum %08x\n", sum);
    free(code);
    free(text);
    double total = now() - start;
#ifdef REPAIRED
    resolving = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", resolving / total, total);
    return 0;
}
