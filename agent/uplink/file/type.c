/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = file`: how it delivers. Files get no item of ours, so there is no probe. */
#include "uplink/uplinktype.h"

const struct uplink_type uplink_type_file = {
	.events = BATCH_EVENT_JSON,
	.create = fileuplink_create,
};
