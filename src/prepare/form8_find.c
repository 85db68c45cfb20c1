/* Which form a channel takes: the searches in their order, and the proof of what they find. */
#include "prepare/form8_inner.h"

static bool is_right(const Form8 *form, const uint8_t *table) {
    return form8_agrees(form, table) == FORM8_CODES;
}

static bool find_product(const Form8Channel *channel, Form8 *form) {
    Form8Channel rest = *channel;
    Form8Suspects suspects = {0}, others = {0};
    bool found = form8_search_product(channel, form, &suspects) && is_right(form, channel->table);
    for (int k = 0; !found && k < suspects.count; k++) {
        form8_leave_out(&rest, suspects.input[k]);
        found = form8_search_product(&rest, form, &others) && is_right(form, channel->table);
    }
    return found;
}

static bool find_round(const Form8Channel *channel, Form8 *form) {
    return form8_search_round(channel, form) && is_right(form, channel->table);
}

bool form8_find_product(const uint8_t table[FORM8_CODES], S0Bytes bytes, Form8 *form) {
    Form8Channel channel;
    form8_channel(table, bytes, &channel);
    return find_product(&channel, form);
}

bool form8_find_round(const uint8_t table[FORM8_CODES], S0Bytes bytes, Form8 *form) {
    Form8Channel channel;
    form8_channel(table, bytes, &channel);
    return find_round(&channel, form);
}

void form8_find(const uint8_t table[FORM8_CODES], S0Bytes bytes, Form8 *form) {
    Form8Channel channel;
    form8_channel(table, bytes, &channel);
    if (!find_product(&channel, form) && !find_round(&channel, form)) {
        *form = (Form8){.kind = FORM8_TABLE, .bytes = bytes, .table = table};
    }
}
