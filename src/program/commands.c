/* Commands in their order, and what each waits for.
 *
 * Inside a step or sweep a command waits for what sweep_walk says. The first one of each queue also waits for the last
 * of every other queue from before: between two steps there is a barrier. */
#include "program/builder.h"

#include "base/fault.h"

#include <string.h>

uint32_t program_node(ProgramBuilder *builder, NodeId id) {
    const Graph *graph = builder->plan->graph;
    uint32_t *number = &builder->of_node[is_node(id) ? id.index : graph->node_count];
    if (*number == CMD_NONE) {
        *number = builder->program->node_count;
        builder->nodes =
            arena_grow(&builder->work->keep, builder->nodes, *number, &builder->node_capacity, sizeof *builder->nodes);
        builder->nodes[builder->program->node_count++] = is_node(id) ? graph_node(graph, id)->name : STR("");
    }
    return *number;
}

void program_begin(ProgramBuilder *builder) {
    memcpy(builder->before, builder->last, sizeof builder->before);
    builder->has_begun = 0;
    builder->begun++;
}

uint32_t program_add(ProgramBuilder *builder, Command command, const uint32_t *waits, uint32_t count) {
    uint32_t all[CMD_MAX_WAITS], number = builder->program->command_count;
    bool is_first = (builder->has_begun >> command.queue & 1) == 0;
    CHECK(count <= CMD_MAX_WAITS - PROGRAM_QUEUES && number < PROGRAM_MOST_COMMANDS);
    for (uint32_t k = 0; k < count; k++) {
        all[k] = waits[k];
    }
    for (uint32_t queue = 0; is_first && queue < PROGRAM_QUEUES; queue++) {
        if (queue != command.queue && builder->before[queue] != CMD_NONE) {
            all[count++] = builder->before[queue];
        }
    }
    if (count > 0) {
        uint32_t *kept = arena_array(&builder->work->keep, uint32_t, count);
        memcpy(kept, all, count * sizeof *kept);
        command.waits = kept;
    }
    command.wait_count = count;
    builder->commands[number] = command;
    builder->program->command_count++;
    builder->has_begun |= 1u << command.queue;
    builder->last[command.queue] = number;
    return number;
}
