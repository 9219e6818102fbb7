/* Instruction-level simulator for the electricity meter's 32-bit core, used to
 * run the firmware against recorded mains periods before a release.  Decodes
 * ahead of time, dispatches through a switch, and models ADC, timer and UART.
 * The firmware below measures RMS, active energy and the fundamental. */
#include <dwell/probe.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LDI, MOV, ADD, SUB, MUL, SHR, SHL, AND, XOR, LD, ST, IN, OUT, BEQ, BNE, BLT, JMP, CALL, RET, MULH, DIV, WFI, NOPS };
static const char *const mnem[NOPS] = { "ldi", "mov", "add", "sub", "mul", "shr", "shl", "and", "xor", "ld", "st",
    "in", "out", "beq", "bne", "blt", "jmp", "call", "ret", "mulh", "div", "wfi" };
static const uint8_t cycles_of[NOPS] = { 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 2, 4, 4, 2, 2, 2, 2, 3, 3, 2, 12, 1 };

typedef struct { uint8_t op, d, a, b; int32_t imm; } insn_t;

typedef struct {
    int32_t r[16];
    int32_t mem[4096];
    uint32_t pc, ret[32], sp;
    uint64_t cycles, retired, per_op[NOPS];
    int32_t adc_v, adc_i;
    uint32_t uart_crc, uart_bytes;
} cpu_t;

/* One line of assembly per string: op d, a, b/imm.  Labels end with ':'. */
static const char *const firmware[] = {
    "begin:", "ldi r13 0", "ldi r12 0", "ldi r11 0", "ldi r10 0", "ldi r9 0", "ldi r8 0",
    "sample:", "wfi", "in r1 0", "in r2 1",
    /* remove DC with a slow leaky integrator for each channel */
    "ld r3 r0 100", "sub r1 r1 r3", "ldi r4 10", "mov r5 r1", "shr r5 r5 r4", "add r3 r3 r5", "st r3 r0 100",
    "ld r3 r0 101", "sub r2 r2 r3", "mov r5 r2", "shr r5 r5 r4", "add r3 r3 r5", "st r3 r0 101",
    /* 16-tap FIR on the current, history in a ring at 200 */
    "ldi r4 15", "and r5 r13 r4", "st r2 r5 200", "ldi r6 0", "ldi r7 0",
    "fir:", "sub r3 r13 r7", "and r3 r3 r4", "ld r3 r3 200", "ld r5 r7 300", "mul r3 r3 r5", "add r6 r6 r3",
    "ldi r5 1", "add r7 r7 r5", "ldi r5 16", "blt r7 r5 fir", "ldi r5 12", "shr r6 r6 r5",
    /* accumulate v^2, i^2, v*i, and the in-phase part against a sine at 400 */
    "ldi r5 6", "mul r3 r1 r1", "shr r3 r3 r5", "add r12 r12 r3", "mul r3 r6 r6", "shr r3 r3 r5", "add r11 r11 r3",
    "mul r3 r1 r6", "shr r3 r3 r5", "add r10 r10 r3", "ld r4 r13 400", "mul r3 r6 r4", "ldi r5 10", "shr r3 r3 r5", "add r9 r9 r3",
    "ldi r5 1", "add r13 r13 r5", "ldi r5 160", "blt r13 r5 sample",
    /* end of the period: roots, frame, clear */
    "ldi r5 160", "div r1 r12 r5", "call isqrt", "call frame", "ldi r5 160", "div r1 r11 r5", "call isqrt", "call frame",
    "mov r1 r10", "call frame", "mov r1 r9", "call frame", "jmp begin",
    "isqrt:", "ldi r2 0", "ldi r3 65536", "ldi r4 1", "ldi r6 2",
    "iter:", "add r5 r2 r3", "blt r1 r5 skip", "sub r1 r1 r5", "shr r2 r2 r4", "add r2 r2 r3", "jmp next",
    "skip:", "shr r2 r2 r4", "next:", "shr r3 r3 r6", "bne r3 r0 iter", "mov r1 r2", "ret",
    "frame:", "ldi r2 4", "ldi r4 8", "ldi r5 1", "ldi r6 255", "byte:", "and r3 r1 r6", "out r3 2", "shr r1 r1 r4", "sub r2 r2 r5", "bne r2 r0 byte", "ret",
};

static insn_t program[256];
static int nprogram;

static void assemble(void) {
    struct { char name[24]; int at; } label[32];
    int nlabel = 0, n = (int)(sizeof firmware / sizeof *firmware), at = 0;
    for (int i = 0; i < n; i++) {
        size_t len = strlen(firmware[i]);
        if (firmware[i][len - 1] != ':') { at++; continue; }
        snprintf(label[nlabel].name, sizeof label[0].name, "%.*s", (int)(len - 1), firmware[i]);
        label[nlabel++].at = at;
    }
    for (int i = 0; i < n; i++) {
        char op[24], f[3][24] = { "", "", "" };
        if (firmware[i][strlen(firmware[i]) - 1] == ':') continue;
        int got = sscanf(firmware[i], "%23s %23s %23s %23s", op, f[0], f[1], f[2]);
        insn_t in = { NOPS, 0, 0, 0, 0 };
        for (int k = 0; k < NOPS; k++) if (!strcmp(op, mnem[k])) in.op = (uint8_t)k;
        if (in.op == NOPS) { fprintf(stderr, "unknown %s\n", op); exit(1); }
        uint8_t *reg[3] = { &in.d, &in.a, &in.b };
        int nreg = 0;
        for (int k = 0; k < got - 1; k++) {
            if (f[k][0] == 'r') { *reg[nreg++] = (uint8_t)atoi(f[k] + 1); continue; }
            in.imm = atoi(f[k]);
            for (int l = 0; l < nlabel; l++) if (!strcmp(label[l].name, f[k])) in.imm = label[l].at;
        }
        program[nprogram++] = in;
    }
}

/* Runs until the core waits for the next sample. */
static void run_until_wait(cpu_t *c) {
    int32_t *r = c->r;
    uint32_t pc = c->pc;
    for (;;) {
        const insn_t *in = &program[pc++];
        c->cycles += cycles_of[in->op];
        c->per_op[in->op]++;
        switch (in->op) {
        case LDI: r[in->d] = in->imm; break;
        case MOV: r[in->d] = r[in->a]; break;
        case ADD: r[in->d] = (int32_t)((uint32_t)r[in->a] + (uint32_t)r[in->b]); break;
        case SUB: r[in->d] = (int32_t)((uint32_t)r[in->a] - (uint32_t)r[in->b]); break;
        case MUL: r[in->d] = (int32_t)((uint32_t)r[in->a] * (uint32_t)r[in->b]); break;
        case MULH: r[in->d] = (int32_t)(((int64_t)r[in->a] * r[in->b]) >> 32); break;
        case DIV: r[in->d] = r[in->b] ? r[in->a] / r[in->b] : 0; break;
        case SHR: r[in->d] = r[in->a] >> (r[in->b] & 31); break;
        case SHL: r[in->d] = (int32_t)((uint32_t)r[in->a] << (r[in->b] & 31)); break;
        case AND: r[in->d] = r[in->a] & r[in->b]; break;
        case XOR: r[in->d] = r[in->a] ^ r[in->b]; break;
        case LD: r[in->d] = c->mem[(uint32_t)(r[in->a] + in->imm) & 4095]; break;
        case ST: c->mem[(uint32_t)(r[in->a] + in->imm) & 4095] = r[in->d]; break;
        case IN: r[in->d] = in->imm ? c->adc_i : c->adc_v; break;
        case OUT:
            c->uart_crc = (c->uart_crc ^ (uint8_t)r[in->d]) * 16777619u;
            c->uart_bytes++;
            break;
        case BEQ: if (r[in->d] == r[in->a]) pc = (uint32_t)in->imm; break;
        case BNE: if (r[in->d] != r[in->a]) pc = (uint32_t)in->imm; break;
        case BLT: if (r[in->d] < r[in->a]) pc = (uint32_t)in->imm; break;
        case JMP: pc = (uint32_t)in->imm; break;
        case CALL: c->ret[c->sp++ & 31] = pc; pc = (uint32_t)in->imm; break;
        case RET: pc = c->ret[--c->sp & 31]; break;
        case WFI: c->pc = pc; return;
        }
        r[0] = 0;
    }
}

int main(void) {
    static cpu_t cpu;
    assemble();
    cpu.uart_crc = 2166136261u;
    for (int i = 0; i < 16; i++) cpu.mem[300 + i] = (int32_t)lrint(4096.0 / 16 * (1 - cos(2 * M_PI * (i + 0.5) / 16)));
    static int32_t sine[160];
    for (int i = 0; i < 160; i++) cpu.mem[400 + i] = sine[i] = (int32_t)lrint(1000 * sin(2 * M_PI * i / 160));
    uint32_t noise = 12345;
    run_until_wait(&cpu);
    for (int second = 0; second < 2000; second++) {
        DWELL_STEP();
        int load = 200 + second % 9 * 60, lag = (second / 4) % 20;
        for (int i = 0; i < 50 * 160; i++) {
            noise = noise * 1664525u + 1013904223u;
            int at = i % 160;
            cpu.adc_v = 2048 + sine[at] + (int32_t)(noise >> 29);
            cpu.adc_i = 2048 + sine[(at + 160 - lag) % 160] * load / 1000 + sine[(3 * at) % 160] * load / 8000 + (int32_t)((noise >> 20) & 7);
            run_until_wait(&cpu);
        }
    }
    uint64_t retired = 0;
    for (int i = 0; i < NOPS; i++) retired += cpu.per_op[i];
    printf("retired %llu, cycles %llu, uart %u bytes crc %08x, mul share %.2f%%\n", (unsigned long long)retired,
           (unsigned long long)cpu.cycles, cpu.uart_bytes, cpu.uart_crc, 100.0 * (double)cpu.per_op[MUL] / (double)retired);
    return 0;
}
