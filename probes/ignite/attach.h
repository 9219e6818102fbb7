/* Ignite in a program that nobody has changed (attach.c). */
#ifndef DWELL_PROBES_IGNITE_ATTACH_H
#define DWELL_PROBES_IGNITE_ATTACH_H

#include "../python/python.h"

/* `module` is ignite.engine.engine, just imported. */
void dwell_ignite_attach(PyObject *module);

#endif
