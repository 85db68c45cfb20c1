/* `stride0 help`: usage of the program and of each command, from their tables. */
#include "cli/cli.h"

void cli_print_usage(FILE *out) {
    fputs("stride0: the memory ledger of a neural network on a device with a small local memory\n\n"
          "usage: stride0 COMMAND [OPTION]... [ARGUMENT]...\n\ncommands:\n",
          out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fprintf(out, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    }
    fputs("\noptions of every command:\n", out);
    cli_print_options(cli_common_options, out);
    fputs("\nexit status: 0 done and fits, 1 bad usage or unreadable input, 2 does not fit, 3 refused\n", out);
}

void cli_print_command_usage(const CliCommand *command, FILE *out) {
    bool has_options = command->options != NULL && command->options[0].name != NULL;
    fprintf(out, "stride0 %s: %s\n\nusage: stride0 %s %s%s\n", command->name, command->summary, command->name,
            has_options ? "[OPTION]... " : "", command->operands);
    if (has_options) {
        fputs("\noptions:\n", out);
        if (command->shared_options != NULL) {
            cli_print_options(command->shared_options, out);
        }
        cli_print_options(command->options, out);
    }
    fputs("\noptions of every command:\n", out);
    cli_print_options(cli_common_options, out);
    if (command->details != NULL) {
        fprintf(out, "\n%s", command->details);
    }
}

static s0_status run_help(Cli *cli, const void *args) {
    (void)args;
    if (cli->operands.count == 0) {
        cli_print_usage(stdout);
        return S0_DONE;
    }
    const CliCommand *command = cli_find_command(cli, cli->operands.item[0]);
    if (command == NULL) {
        return S0_BAD_INPUT;
    }
    cli_print_command_usage(command, stdout);
    return S0_DONE;
}

const CliCommand command_help = {.name = "help",
                                 .operands = "[COMMAND]",
                                 .most_operands = 1,
                                 .summary = "print what a command does and takes",
                                 .run = run_help};
