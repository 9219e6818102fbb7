/*
 * tensorfile.h - named tensors in a file, for weights and for dumps.
 */
#pragma once

#include <stdio.h>

#include "params.h"

/* Writing: each call ends the program with a message if it fails. */
FILE *tensorfile_create(const char *path);
void tensorfile_put(FILE *file, const char *path, const char *prefix, const struct dnn *dnn,
					const struct tensor *tensor);
void tensorfile_put_values(FILE *file, const char *path, const char *name, const float *values,
						   int count);
void tensorfile_close(FILE *file, const char *path);

void tensorfile_save_params(const char *path, const struct params *params);
/* Every parameter must be there once, in its shape; nothing else may be. */
void tensorfile_load_params(const char *path, struct params *params);
