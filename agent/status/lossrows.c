/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/lossrows.h"

#include <glib.h>

/* Where rows are shown, and whose they are. */
struct showing {
	void (*each)(void *data, const struct lossrow *row);
	void *data;
	const char *output; /* whose rows they are, */
	const char *shown;  /* and what is shown of that */
};

static void show_rows(const struct showing *to, const struct row_info *rows, size_t count,
	const int64_t *amounts, const int64_t *acknowledged, const struct loss *lost)
{
	for (size_t i = 0; i < count; i++) {
		g_autofree char *words = NULL;

		if (!rows[i].lost || amounts[i] <= acknowledged[i])
			continue;
		words = kind_text(lane_kind(to->output, NULL), rows[i].lost);
		to->each(to->data,
			&(struct lossrow){to->shown, words, amounts[i] - acknowledged[i], lost[i].at});
	}
}

void lossrows_each(
	const struct status *status, void (*each)(void *data, const struct lossrow *row), void *data)
{
	struct showing to = {each, data, "", ""};
	size_t outputs = status->output_count + status->leaving_count;

	show_rows(
		&to, ledger_rows, LEDGER_ROWS, status->rows.row, status->acknowledged.rows.row, status->lost);
	for (size_t i = 0; i < outputs; i++) {
		const struct account_rows *account = &status->outputs[i].account;

		to.output = status->outputs[i].name;
		to.shown = outputs > 1 ? to.output : "";
		show_rows(
			&to, account_rows, ACCOUNT_ROWS, account->row, account->acknowledged, account->lost);
	}
}
