/* Instruction-set simulator for the motor controller board, used to check a new
 * control firmware against the plant model before it goes to the bench.
 *
 * The core is a 16-register machine with 32-bit instruction words.  Every control
 * period the plant model puts the sampled current and speed into the ADC
 * registers, the firmware runs until it waits for the next interrupt, and the
 * plant is advanced with the duty cycle that the firmware wrote. */
#include <dwell/probe.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OP_LI, OP_ADD, OP_SUB, OP_MUL, OP_SRA, OP_XOR, OP_AND, OP_LDW, OP_STW, OP_ADDI, OP_BNE, OP_BLT, OP_SHR, OP_WFI };

#define RAM_WORDS 4096
#define RAM_MASK (RAM_WORDS - 1)
#define N_TAPS 64
#define LOG_WORDS 2048
#define PERIODS 9600
#define IO_ADC_SPEED 4000
#define IO_ADC_CURRENT 4001
#define IO_PWM 4002
#define IO_TARGET 4003
#define IO_CRC 4004
#define RAM_TAPS 0
#define RAM_HISTORY 256
#define RAM_LOG 1024

typedef struct {
    int32_t r[16];
    uint32_t pc;
    uint64_t retired;
    int32_t ram[RAM_WORDS];
    uint32_t *rom;
    uint32_t rom_len;
} Core;

typedef struct { double speed, current, load; } Motor;

static uint32_t enc(unsigned op, unsigned d, unsigned a, int imm)
{
    return op << 24 | d << 20 | a << 16 | (uint16_t)imm;
}

static uint32_t emit(Core *c, unsigned op, unsigned d, unsigned a, int imm)
{
    c->rom[c->rom_len] = enc(op, d, a, imm);
    return c->rom_len++;
}

/* The control task: shift the speed history, low-pass it, PI controller, then a
 * CRC over the telemetry ring that goes out with each report. */
static void load_firmware(Core *c)
{
    uint32_t loop, bit;

    c->rom = calloc(256, sizeof *c->rom);
    emit(c, OP_LI, 0, 0, 0);
    /* shift the history up by one */
    emit(c, OP_LI, 1, 0, N_TAPS - 1);
    loop = emit(c, OP_LDW, 2, 1, RAM_HISTORY - 1);
    emit(c, OP_STW, 2, 1, RAM_HISTORY);
    emit(c, OP_ADDI, 1, 1, -1);
    emit(c, OP_BNE, 1, 0, (int)loop);
    emit(c, OP_LDW, 2, 0, IO_ADC_SPEED);
    emit(c, OP_STW, 2, 0, RAM_HISTORY);
    /* r3 = sum of tap * history */
    emit(c, OP_LI, 3, 0, 0);
    emit(c, OP_LI, 4, 0, N_TAPS);
    loop = emit(c, OP_LDW, 5, 1, RAM_TAPS);
    emit(c, OP_LDW, 6, 1, RAM_HISTORY);
    emit(c, OP_MUL, 5, 5, 6);
    emit(c, OP_ADD, 3, 3, 5);
    emit(c, OP_ADDI, 1, 1, 1);
    emit(c, OP_BLT, 1, 4, (int)loop);
    emit(c, OP_SRA, 3, 3, 10);
    /* PI controller, integral in r12 */
    emit(c, OP_LDW, 7, 0, IO_TARGET);
    emit(c, OP_SUB, 7, 7, 3);
    emit(c, OP_ADD, 12, 12, 7);
    emit(c, OP_LI, 8, 0, 9);
    emit(c, OP_MUL, 8, 8, 7);
    emit(c, OP_ADD, 8, 8, 12);
    emit(c, OP_SRA, 8, 8, 8);
    emit(c, OP_STW, 8, 0, IO_PWM);
    /* telemetry ring: slot r13 */
    emit(c, OP_STW, 3, 13, RAM_LOG);
    emit(c, OP_ADDI, 13, 13, 1);
    emit(c, OP_LI, 5, 0, LOG_WORDS - 1);
    emit(c, OP_AND, 13, 13, 5);
    /* bitwise CRC over the ring: r10 = crc, r11 = polynomial */
    emit(c, OP_LI, 10, 0, -1);
    emit(c, OP_LI, 11, 0, 0x6DB7);
    emit(c, OP_LI, 14, 0, 1);
    emit(c, OP_LI, 1, 0, 0);
    emit(c, OP_LI, 4, 0, LOG_WORDS);
    loop = emit(c, OP_LDW, 5, 1, RAM_LOG);
    emit(c, OP_XOR, 10, 10, 5);
    emit(c, OP_LI, 6, 0, 32);
    bit = emit(c, OP_AND, 7, 10, 14);
    emit(c, OP_MUL, 7, 7, 11);
    emit(c, OP_SHR, 10, 10, 1);
    emit(c, OP_XOR, 10, 10, 7);
    emit(c, OP_ADDI, 6, 6, -1);
    emit(c, OP_BNE, 6, 0, (int)bit);
    emit(c, OP_ADDI, 1, 1, 1);
    emit(c, OP_BLT, 1, 4, (int)loop);
    emit(c, OP_STW, 10, 0, IO_CRC);
    emit(c, OP_WFI, 0, 0, 0);
    for (int i = 0; i < N_TAPS; i++)
        c->ram[RAM_TAPS + i] = (int32_t)lround(1024.0 / N_TAPS * (1.0 + 0.3 * cos(2 * M_PI * i / N_TAPS)));
}

/* Runs from the reset vector of the control task to the next WFI.  The third
 * operand of a three-register instruction is held in the low bits of imm. */
static void core_run(Core *c)
{
    const uint32_t *rom = c->rom;
    int32_t *r = c->r;
    uint32_t pc = 0;
    uint64_t n = 0;

    for (;;) {
        uint32_t w = rom[pc++];
        unsigned d = w >> 20 & 15, a = w >> 16 & 15;
        int32_t imm = (int16_t)w;
        n++;
        switch (w >> 24) {
        case OP_LI: r[d] = imm; break;
        case OP_ADD: r[d] = (int32_t)((uint32_t)r[a] + (uint32_t)r[imm & 15]); break;
        case OP_SUB: r[d] = (int32_t)((uint32_t)r[a] - (uint32_t)r[imm & 15]); break;
        case OP_MUL: r[d] = (int32_t)((uint32_t)r[a] * (uint32_t)r[imm & 15]); break;
        case OP_SRA: r[d] = r[a] >> imm; break;
        case OP_SHR: r[d] = (int32_t)((uint32_t)r[a] >> imm); break;
        case OP_XOR: r[d] = r[a] ^ r[imm & 15]; break;
        case OP_AND: r[d] = r[a] & r[imm & 15]; break;
        case OP_LDW: r[d] = c->ram[(uint32_t)(r[a] + imm) & RAM_MASK]; break;
        case OP_STW: c->ram[(uint32_t)(r[a] + imm) & RAM_MASK] = r[d]; break;
        case OP_ADDI: r[d] = r[a] + imm; break;
        case OP_BNE: if (r[d] != r[a]) pc = (uint32_t)imm; break;
        case OP_BLT: if (r[d] < r[a]) pc = (uint32_t)imm; break;
        case OP_WFI: c->retired += n; return;
        default: fprintf(stderr, "illegal instruction %08x at %u\n", w, pc - 1); exit(1);
        }
    }
}

static void motor_step(Motor *m, double duty, double dt)
{
    for (int i = 0; i < 8; i++) {
        double h = dt / 8;
        m->current += h * (24.0 * duty - 0.35 * m->current - 0.012 * m->speed) / 0.004;
        m->speed += h * (0.05 * m->current - 0.0004 * m->speed - m->load) / 0.0006;
    }
}

int main(void)
{
    Core *core = calloc(1, sizeof *core);
    Motor motor = { 0, 0, 0.02 };
    double err = 0;

    load_firmware(core);
    for (int k = 0; k < PERIODS; k++) {
        DWELL_STEP();
        motor.load = k > PERIODS / 2 ? 0.08 : 0.02;
        core->ram[IO_ADC_SPEED] = (int32_t)motor.speed;
        core->ram[IO_ADC_CURRENT] = (int32_t)(motor.current * 100);
        core->ram[IO_TARGET] = 600;
        core_run(core);
        double duty = core->ram[IO_PWM] / 4096.0;
        motor_step(&motor, duty < -1 ? -1 : duty > 1 ? 1 : duty, 0.0005);
        if (k > PERIODS / 4)
            err += fabs(600 - motor.speed);
    }
    printf("periods %d  retired %lu  speed %.2f  mean error %.3f  crc %08x\n", PERIODS, core->retired, motor.speed,
           err / (PERIODS - PERIODS / 4), (unsigned)core->ram[IO_CRC]);
    return 0;
}
