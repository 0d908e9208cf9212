/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What babeltrace2 leaks where it fails is its own affair, in a process that ends; what this project leaks is
 * not. Stacks cannot tell the two apart, as libraries keep no frame pointers. So calls of babeltrace2's that
 * read are wrapped by the linker, and so is what they call back.
 */
#include <babeltrace2/babeltrace.h>
#include <sanitizer/lsan_interface.h>

#include "reader/decode/intake.h"

bt_graph_run_once_status __real_bt_graph_run_once(bt_graph *graph);
bt_graph_run_once_status __wrap_bt_graph_run_once(bt_graph *graph);
bt_graph_run_once_status __wrap_bt_graph_run_once(bt_graph *graph)
{
	bt_graph_run_once_status status;

	__lsan_disable();
	status = __real_bt_graph_run_once(graph);
	__lsan_enable();
	return status;
}

bt_graph_add_component_status __real_bt_graph_add_source_component(bt_graph *graph,
	const bt_component_class_source *class, const char *name, const bt_value *params,
	bt_logging_level level, const bt_component_source **component);
bt_graph_add_component_status __wrap_bt_graph_add_source_component(bt_graph *graph,
	const bt_component_class_source *class, const char *name, const bt_value *params,
	bt_logging_level level, const bt_component_source **component);
bt_graph_add_component_status __wrap_bt_graph_add_source_component(bt_graph *graph,
	const bt_component_class_source *class, const char *name, const bt_value *params,
	bt_logging_level level, const bt_component_source **component)
{
	bt_graph_add_component_status status;

	__lsan_disable();
	status = __real_bt_graph_add_source_component(graph, class, name, params, level, component);
	__lsan_enable();
	return status;
}

void __real_intake_message(struct intake *intake, const bt_message *message);
void __wrap_intake_message(struct intake *intake, const bt_message *message);
void __wrap_intake_message(struct intake *intake, const bt_message *message)
{
	__lsan_enable();
	__real_intake_message(intake, message);
	__lsan_disable();
}

/* Called back while a graph runs; and where it had nothing, which does not come about with files. */
void __real_intake_tick(struct intake *intake, bool idle);
void __wrap_intake_tick(struct intake *intake, bool idle);
void __wrap_intake_tick(struct intake *intake, bool idle)
{
	if (!idle)
		__lsan_enable();
	__real_intake_tick(intake, idle);
	if (!idle)
		__lsan_disable();
}
