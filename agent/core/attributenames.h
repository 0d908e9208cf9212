/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of attributes: those of OpenTelemetry's semantic conventions, and our own.
 */
#ifndef CORE_ATTRIBUTENAMES_H
#define CORE_ATTRIBUTENAMES_H

/* Attributes, by OpenTelemetry's semantic conventions, and two that they have no word for. */
#define OTLP_HOST "host.name"
#define OTLP_SDK_NAME "telemetry.sdk.name"
#define OTLP_SDK_OURS "blkin"
#define OTLP_SDK_LANGUAGE "telemetry.sdk.language"
#define OTLP_SDK_VERSION "telemetry.sdk.version"
#define OTLP_INSTANCE "service.instance.id"
#define OTLP_PID "process.pid"
#define OTLP_SERVICE "service.name"
#define OTLP_NO_SERVICE "unknown_service"
#define OTLP_PROGRAM "process.executable.name"
#define OTLP_LOCAL_ADDRESS "network.local.address"
#define OTLP_LOCAL_PORT "network.local.port"
#define OTLP_PEER_SERVICE "peer.service"
#define OTLP_SERVER_ADDRESS "server.address"
#define OTLP_SERVER_PORT "server.port"
#define OTLP_CLIENT_ADDRESS "client.address"
#define OTLP_CLIENT_PORT "client.port"
#define OTLP_SHARED "zipkin.shared"
#define OTLP_DEBUG "zipkin.debug"

/* Of events: what the conventions have no word for begins with the tracer's name, or with ours. */
#define OTLP_THREAD "thread.id"
#define OTLP_USER "process.user.id"
#define OTLP_CPU "cpu.logical_number"
#define OTLP_DOMAIN "lttng.domain"
#define OTLP_CONTEXT "lttng.context."
#define OTLP_PACKET "lttng.packet."
#define OTLP_CLOCK "lttng.clock"
#define OTLP_CUT "blkin.cut"

#endif
