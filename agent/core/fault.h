/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is wrong between an output and a server, for machines: it goes with the sentence that says it, from
 * where it is found to the ledger's row and to the doctor's advice.
 */
#ifndef CORE_FAULT_H
#define CORE_FAULT_H

#include <stdbool.h>

#include "core/rows.h"

enum fault {
	FAULT_NONE,
	/* no connection */
	FAULT_CONNECT_REFUSED,
	FAULT_CONNECT_TIMEOUT,
	FAULT_NO_ADDRESS, /* for the server's name */
	FAULT_UNREACHABLE,
	FAULT_CONNECT, /* in another way */
	FAULT_PROXY,   /* cannot be reached, or is none */
	FAULT_PROXY_DENIES,
	FAULT_PROXY_BEYOND, /* it cannot reach the server */
	/* no TLS */
	FAULT_TLS_CERTIFICATE, /* the server's */
	FAULT_TLS_NAME,        /* in the server's certificate */
	FAULT_TLS_OWN,         /* our certificate, or that we have none */
	FAULT_TLS_ASKED,       /* it had asked for our certificate: that may be why it closed */
	FAULT_TLS_FILES,       /* of the authorities, or of our certificate: they cannot be read */
	FAULT_TLS_NONE,        /* the server does not speak it */
	FAULT_TLS,             /* in another way */
	FAULT_HEADERS,         /* no calls: the file of headers does not do */
	FAULT_LIBRARY,         /* the same: librdkafka is not there */
	FAULT_PASSWORD,        /* the same of the file of Kafka's password, or the proxy's */
	/* no file */
	FAULT_FILE_FOLDER, /* is not there */
	FAULT_FILE_ACCESS, /* may not be written */
	/* no good answer */
	FAULT_NO_ANSWER, /* in time */
	FAULT_CLOSED,    /* the connection, by the server or the network */
	FAULT_GARBLED,   /* what comes is no answer */
	FAULT_IS_HTTP,   /* and Scribe was meant */
	FAULT_NOT_HTTP,
	FAULT_IS_GRPC,
	/* a bad one */
	FAULT_TRY_LATER,
	FAULT_REFUSES_ALL,
	FAULT_PROXY_LOGIN, /* HTTP status 407 */
	FAULT_PERMISSION,  /* HTTP status 401, 403; Kafka's authorization */
	FAULT_LOGIN,       /* Kafka's SASL */
	FAULT_TOPIC,       /* Kafka has none of this name */
	FAULT_PATH,        /* 404, 405 */
	FAULT_PAGE,        /* 2xx with a web page */
	FAULT_FORMAT,      /* 415 */
	FAULT_ENCODING,    /* 415, 400: of the compression it is known that it is not taken */
	FAULT_UNFIT,       /* any other for which no call can do */
	/* not written */
	FAULT_FILE_ROOM, /* the disk is full */
	FAULT_FILE,      /* in another way */
	FAULTS
};

/* The row of an output's account that counts it; ACCOUNT_ROWS if none does. */
enum account_row fault_row(enum fault fault);

/* Whether only a good answer shows that it is over; otherwise a connection does. */
bool fault_is_answer(enum fault fault);

/* What an error of connect() is. */
enum fault fault_of_connect(int error);

/* What an error of a file is. */
enum fault fault_of_file(int error);

#endif
