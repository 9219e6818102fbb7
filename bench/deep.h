/* deep.c: n operators with their stacks. */
#pragma once

void deep_operators(long n);
