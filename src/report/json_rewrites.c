/* Rewrites in the JSON of a plan: each with its certificate; docs/json.md lists the keys. */
#include "report/json_rewrites.h"

static void write_domain(Json *json, const Domain *domain) {
    bool has_codes = domain->lo < domain->hi;
    json_key(json, "domain");
    json_object_inline(json);
    json_key(json, "lo");
    has_codes ? json_i64(json, domain->lo) : json_null(json);
    json_key(json, "hi");
    has_codes ? json_i64(json, domain->hi) : json_null(json);
    json_member_text(json, "why", domain->why);
    json_end(json);
}

static void write_witness(Json *json, const Certificate *certificate) {
    const Witness *witness = &certificate->witness;
    json_key(json, "witness");
    if (!certificate->has_witness) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_u64(json, "channel", witness->channel);
    json_key(json, "input");
    json_i64(json, witness->input);
    json_key(json, "before");
    json_i64(json, witness->before);
    json_key(json, "after");
    json_i64(json, witness->after);
    json_end(json);
}

static void write_semantics(Json *json, uint32_t semantics) {
    json_key(json, "semantics");
    json_array_inline(json);
    for (int id = 0; id < S0_SEM_COUNT; id++) {
        if ((semantics & S0_SEM_BIT(id)) != 0) {
            json_text(json, s0_semantics_name((Semantics)id));
        }
    }
    json_end(json);
}

static void write_rewrite(Json *json, const Rewrite *rewrite) {
    const Certificate *certificate = &rewrite->certificate;
    json_object_inline(json);
    json_key(json, "node");
    json_str(json, rewrite->node);
    json_member_text(json, "rule", certificate->rule);
    json_member_text(json, "form", affine_form_name(rewrite->form));
    json_member_text(json, "class", proof_class_name(certificate->class));
    write_domain(json, &certificate->domain);
    json_member_u64(json, "evaluations", certificate->evaluations);
    json_member_u64(json, "max_error_lsb", certificate->max_error_lsb);
    write_witness(json, certificate);
    json_member_u64(json, "channels", certificate->channels);
    write_semantics(json, certificate->semantics);
    json_end(json);
}

void json_rewrites(Json *json, const Simplified *simplified) {
    json_key(json, "rewrites");
    json_array(json);
    for (size_t i = 0; simplified != NULL && i < simplified->rewrite_count; i++) {
        write_rewrite(json, &simplified->rewrites[i]);
    }
    json_end(json);
}

void json_refused_rewrites(Json *json, const Simplified *simplified) {
    for (size_t i = 0; simplified != NULL && i < simplified->refusal_count; i++) {
        const RewriteRefusal *refusal = &simplified->refusals[i];
        json_object_inline(json);
        json_key(json, "node");
        json_str(json, refusal->node);
        json_key(json, "tensor");
        refusal->tensor.len == 0 ? json_null(json) : json_str(json, refusal->tensor);
        json_member_text(json, "reason", refusal->reason);
        json_key(json, "readings");
        json_array_inline(json);
        json_end(json);
        json_end(json);
    }
}

void json_expanded(Json *json, const Facts *facts) {
    json_key(json, "expanded_in_file");
    json_array(json);
    for (uint32_t i = 0; i < facts->collapsible_count; i++) {
        const Collapsible *one = &facts->collapsibles[i];
        json_object_inline(json);
        json_member_str(json, "tensor", graph_value(facts->graph, one->value)->name);
        json_member_u64(json, "file_bytes", one->file_bytes);
        json_member_u64(json, "planned_bytes", one->planned_bytes);
        json_end(json);
    }
    json_end(json);
}

void json_order(Json *json, const Facts *facts) {
    const Plan *plan = facts->plan;
    const PlanOrder *order = plan->order;
    json_key(json, "order");
    if (order == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_u64(json, "moved", order->moved);
    json_member_bool(json, "has_choice", order->has_choice);
    json_member_bool(json, "lowest", order->is_lowest);
    json_member_u64(json, "peak_live_bytes", plan->unspilled_peak_bytes);
    json_member_u64(json, "placed_bytes", plan->unspilled_placed_bytes);
    json_member_u64(json, "file_peak_live_bytes", order->of_file->unspilled_peak_bytes);
    json_member_u64(json, "file_placed_bytes", order->of_file->unspilled_placed_bytes);
    json_member_bool(json, "file_fits", plan_fits(order->of_file));
    json_member_known(json, "file_cycles", facts->has_costs ? facts->file_order_cycles : UINT64_MAX);
    json_end(json);
}
