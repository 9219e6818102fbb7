/* The clock by which the programs in C and C++ measure themselves. Include it first. */
#include "../practice/clock.h"
