/* SPDX-License-Identifier: BSD-2-Clause */
/* How spans and tables look: in colours or not, how wide, and what of a trace is left out. */
#ifndef LOOK_STYLE_H
#define LOOK_STYLE_H

#include <stdbool.h>
#include <stdint.h>

/* What is left out of a trace. Zeros: nothing, but for what does not fit the terminal. */
struct trace_folding {
	bool wide;            /* nor that */
	unsigned depth;       /* spans deeper than that; 0: none */
	int64_t min_duration; /* those without a span that took so long, µs */
};

struct trace_style {
	bool colour;
	int width; /* columns of the terminal; 0: not one, and no bars */
	struct trace_folding folding;
};

#endif
