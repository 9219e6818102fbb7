/*
 * plume - dispersion of a short release of four radionuclides over flat
 * terrain.  Explicit upwind advection + diffusion in the mixed layer, with
 * first-order decay and dry deposition; integrates the ground dose at a line
 * of receptors downwind.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

#define NX 1024
#define NY 640
#define NSPECIES 4
#define NRECEPTOR 8
#define NSTEPS 200

typedef struct {
    const char *name;
    float half_life;    /* s */
    float deposition;   /* 1/s */
    float release;      /* Bq per step while the source is open */
    float dose_factor;  /* Sv per Bq s */
} species_t;

static const species_t SPECIES[NSPECIES] = {
    {"Kr-90", 32.3f, 0.0f, 9.0e9f, 2.8e-15f},
    {"Xe-139", 39.7f, 0.0f, 7.5e9f, 2.0e-15f},
    {"Xe-138", 845.0f, 0.0f, 2.5e9f, 2.2e-15f},
    {"I-131", 692902.0f, 2.5e-4f, 6.0e7f, 9.4e-13f},
};

typedef struct {
    float *now;
    float *next;
    double deposited;
    double dose[NRECEPTOR];
} field_t;

typedef struct {
    float dx, dt;
    float wind_u, wind_v;
    float kdiff;
} met_t;

static void *must_calloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) {
        perror("plume");
        exit(1);
    }
    return p;
}

/* The wind backs slowly during the night. */
static void update_met(met_t *m, int step)
{
    float phase = 6.2831853f * (float)step / (float)NSTEPS;
    m->wind_u = 3.2f + 0.6f * sinf(phase);
    m->wind_v = 1.4f * sinf(2.0f * phase);
    m->kdiff = 55.0f + 20.0f * cosf(phase);
}

static void advance(field_t *f, const species_t *sp, const met_t *m)
{
    const float cx = m->wind_u * m->dt / m->dx;
    const float cy = fabsf(m->wind_v) * m->dt / m->dx;
    const float d = m->kdiff * m->dt / (m->dx * m->dx);
    const float keep = expf(-m->dt * (0.6931472f / sp->half_life + sp->deposition));
    const int up = m->wind_v >= 0.0f ? -NX : NX;

    for (int y = 1; y < NY - 1; y++) {
        for (int x = 1; x < NX - 1; x++) {
            const float *c = f->now + (size_t)y * NX + x;
            float adv = cx * (c[0] - c[-1]) + cy * (c[0] - c[up]);
            float dif = d * (c[-1] + c[1] + c[-NX] + c[NX] - 4.0f * c[0]);
            f->next[(size_t)y * NX + x] = keep * (c[0] - adv + dif);
        }
    }

    /* open boundary: outflow copies the neighbour, inflow is clean air */
    for (int y = 0; y < NY; y++) {
        f->next[(size_t)y * NX] = 0.0f;
        f->next[(size_t)y * NX + NX - 1] = f->next[(size_t)y * NX + NX - 2];
    }
    for (int x = 0; x < NX; x++) {
        f->next[x] = f->next[NX + x];
        f->next[(size_t)(NY - 1) * NX + x] = f->next[(size_t)(NY - 2) * NX + x];
    }

    float *tmp = f->now;
    f->now = f->next;
    f->next = tmp;
}

static void accumulate(field_t *f, const species_t *sp, const met_t *m)
{
    double total = 0.0;
    for (size_t i = 0; i < (size_t)NX * NY; i++)
        total += f->now[i];
    f->deposited += total * sp->deposition * m->dt;
    for (int r = 0; r < NRECEPTOR; r++) {
        size_t cell = (size_t)(NY / 2 - 28 + 8 * r) * NX + 150;
        f->dose[r] += (double)f->now[cell] * sp->dose_factor * m->dt;
    }
}

int main(void)
{
    met_t met = {.dx = 100.0f, .dt = 12.0f};
    field_t field[NSPECIES];
    memset(field, 0, sizeof field);
    for (int s = 0; s < NSPECIES; s++) {
        field[s].now = must_calloc((size_t)NX * NY, sizeof(float));
        field[s].next = must_calloc((size_t)NX * NY, sizeof(float));
    }

    const size_t stack_cell = (size_t)(NY / 2) * NX + 40;
    for (int step = 0; step < NSTEPS; step++) {
        DWELL_STEP();
        update_met(&met, step);
        for (int s = 0; s < NSPECIES; s++) {
            if (step < 50)
                field[s].now[stack_cell] += SPECIES[s].release;
            advance(&field[s], &SPECIES[s], &met);
            accumulate(&field[s], &SPECIES[s], &met);
        }
        if ((step + 1) % 50 == 0) {
            double peak = 0.0;
            for (int s = 0; s < NSPECIES; s++)
                for (size_t i = 0; i < (size_t)NX * NY; i++)
                    if (field[s].now[i] > peak)
                        peak = field[s].now[i];
            printf("t=%5.0f min  peak %.4e Bq/cell\n", (step + 1) * met.dt / 60.0, peak);
        }
    }

    for (int s = 0; s < NSPECIES; s++) {
        double dose = 0.0;
        for (int r = 0; r < NRECEPTOR; r++)
            dose += field[s].dose[r];
        printf("%-7s receptors %.5e Sv  deposited %.5e Bq\n",
               SPECIES[s].name, dose, field[s].deposited);
        free(field[s].now);
        free(field[s].next);
    }
    return 0;
}
