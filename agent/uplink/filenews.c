/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/filenews.h"

#include "base/clock.h"
#include "base/log.h"

/* Between two lines about files that were removed, at least; and as many about those that somebody removed.
 */
#define REMOVED_LOG_NS (600 * NS_PER_SECOND)

void filenews_good(struct filenews *news, const char *label, const struct filewriter *writer)
{
	const struct takeup *left = &writer->left;

	if (!news->told_good)
		log_info("output %s: files are written there", label);
	if (!news->told_left && (left->files || left->cut))
		log_info("output %s: an earlier agent ended without finishing its file: it is finished now%s",
			label, left->cut ? ", without the half line at its end" : "");
	news->told_good = news->told_left = true;
}

void filenews_removed(
	struct filenews *news, const char *label, const struct filewriter *writer, struct account *account)
{
	uint64_t more = writer->removed - news->removed;
	int64_t now = clock_monotonic();

	if (!more)
		return;
	account_add(account, OUTPUT_FILES_REMOVED, (int64_t)more);
	news->removed += more;
	if (news->removed_at && now - news->removed_at < REMOVED_LOG_NS)
		return;
	log_info("output %s: the oldest files are removed, as the total is larger than `total-size` "
		 "(files "
		 "removed since the last such line: %llu)",
		label, (unsigned long long)(news->removed - news->removed_told));
	news->removed_told = news->removed;
	news->removed_at = now;
}

bool filenews_lost(
	struct filenews *news, const char *label, const struct filewriter *writer, struct account *account)
{
	int64_t more = writer->lost - news->lost, now = clock_monotonic();

	if (!more)
		return false;
	account_add(account, SPANS_REMOVED, more);
	news->lost += more;
	if (!news->lost_at || now - news->lost_at >= REMOVED_LOG_NS) {
		log_warning("output %s: somebody removed, renamed or cut the file that was being written: "
			    "%lld of its "
			    "lines are lost, and counted; what comes now goes into another file",
			label, (long long)more);
		news->lost_at = now;
	}
	return true;
}
