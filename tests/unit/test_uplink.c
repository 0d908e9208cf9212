/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uplink against servers that are good, bad, slow, deaf and gone: every span arrives or stands in a row
 * of the ledger, and the log says what is wrong once.
 */

#include "run.h"
#include "uplink_rig.h"

int main(void)
{
	Suite *suite = suite_create("uplink");

	suite_add_tcase(suite, uplink_answers());
	suite_add_tcase(suite, uplink_asking());
	suite_add_tcase(suite, uplink_backoff());
	suite_add_tcase(suite, uplink_balance());
	suite_add_tcase(suite, uplink_connections());
	suite_add_tcase(suite, uplink_courtesy());
	suite_add_tcase(suite, uplink_dns());
	suite_add_tcase(suite, uplink_evenpace());
	suite_add_tcase(suite, uplink_formats());
	suite_add_tcase(suite, uplink_http());
	suite_add_tcase(suite, uplink_proxy());
	suite_add_tcase(suite, uplink_refusals());
	suite_add_tcase(suite, uplink_replay());
	suite_add_tcase(suite, uplink_rooms());
	suite_add_tcase(suite, uplink_sendpace());
	suite_add_tcase(suite, uplink_servers());
	suite_add_tcase(suite, uplink_suspects());
	suite_add_tcase(suite, uplink_tls());
	suite_add_tcase(suite, uplink_trials());
	suite_add_tcase(suite, uplink_untimely());
	return run_all(srunner_create(suite));
}
