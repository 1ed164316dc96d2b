// SPDX-License-Identifier: MIT
// The help pages and docs/OPTIONS.md, made from the same tables as the parsers. Writes to standard output
// only.
#include "cli.h"
#include "options/options.h"

#include <stdio.h>
#include <string.h>

const struct mt_flag mt_run_flags[] = {
    {"library", "FILE",
     "the library to insert; without it METALTAP_LIBRARY, or the one installed with this program"},
    {"quiet", NULL, "no progress, no summary, no list of files; warnings are still told"},
    {"help", NULL, "this page"},
    {"version", NULL, "the version"},
};
const size_t mt_run_flag_count = sizeof mt_run_flags / sizeof mt_run_flags[0];

const struct mt_flag mt_report_flags[] = {
    {"json", "FILE", "write the report of a .mtap file as JSON to FILE, or to standard output for -"},
    {"detail", "LEVEL", "what the JSON lists: summary, cb or full (default: full)"},
    {"help", NULL, "this page"},
};
const size_t mt_report_flag_count = sizeof mt_report_flags / sizeof mt_report_flags[0];

void mt_help_all(void)
{
    fputs("metaltap tells where the GPU time of a Metal program goes, without changing the program.\n"
          "\n"
          "  metaltap run [options] -- program [arguments]   run it, print a summary, leave a report\n"
          "  metaltap report FILE [--json FILE]              the summary or JSON of a report or a recording\n"
          "  metaltap options [--markdown]                   every option, its variable and its default\n"
          "  metaltap help [command]                         more about one of these\n"
          "  metaltap version\n",
          stdout);
}

static void print_option(const struct mt_option_info *option)
{
    char more[256];
    const char *fallback = strcmp(option->field, "out") == 0 ? "metaltap-%n-%p.json" : option->fallback;
    snprintf(more, sizeof more, "(%s%s%s)", option->variable, *fallback ? "; default: " : "", fallback);
    mt_cli_print_flag(option->flag, option->value, option->help, more);
}

void mt_help_run(void)
{
    fputs("metaltap run [options] -- program [arguments]\n"
          "\n"
          "Runs the program with the tap inside. Its input, output, signals and exit code are its own. When "
          "it\n"
          "has ended, a summary and the names of the files come on standard error.\n"
          "\n",
          stdout);
    for (size_t i = 0; i < mt_option_count; i++)
        print_option(&mt_option_table[i]);
    for (size_t i = 0; i < mt_run_flag_count; i++)
        mt_cli_print_flag(mt_run_flags[i].name, mt_run_flags[i].value, mt_run_flags[i].help, NULL);
    fputs("\n"
          "Names of files may contain %p (process id), %n (program name) and %% (a percent sign). Without "
          "--out and\n"
          "--spool, metaltap-%n-%p.json and .mtap are written to the current folder. What a variable in the\n"
          "environment sets holds too; the option on the command line wins.\n"
          "\n"
          "Exit code: that of the program; 128 + N if signal N ended it; 127 if it was not found, 126 if it "
          "cannot be\n"
          "executed, 125 if metaltap could not start it for reasons of its own, 2 for wrong usage.\n",
          stdout);
}

void mt_help_report(void)
{
    fputs("metaltap report FILE [--json FILE] [--detail LEVEL]\n"
          "\n"
          "Prints the summary of a recording (.mtap) or a report (.json), of a program that has ended, was "
          "killed,\n"
          "or still runs.\n"
          "\n",
          stdout);
    for (size_t i = 0; i < mt_report_flag_count; i++)
        mt_cli_print_flag(mt_report_flags[i].name, mt_report_flags[i].value, mt_report_flags[i].help, NULL);
    fputs("\n"
          "Exit code: 0; 1 if the file cannot be read, is not ours or is damaged (what could be read is "
          "shown);\n"
          "2 for wrong usage.\n",
          stdout);
}

void mt_help_options(void)
{
    fputs(
        "metaltap options [--markdown]\n"
        "\n"
        "Lists every option with its variable and its default; --markdown prints the page docs/OPTIONS.md.\n",
        stdout);
}

static void print_plain(void)
{
    for (size_t i = 0; i < mt_option_count; i++) {
        const struct mt_option_info *option = &mt_option_table[i];
        char left[64];
        snprintf(left, sizeof left, "%s=%s", option->variable, option->value);
        printf("%-26s --%-8s %s%s%s%s\n", left, option->flag, option->help,
               *option->fallback ? " (default: " : "", option->fallback, *option->fallback ? ")" : "");
    }
}

// In a cell of a table: bars would end it.
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
}

static void print_markdown(void)
{
    fputs("# Options\n"
          "\n"
          "This page is the output of `metaltap options --markdown`; it is made from "
          "`src/options/options.def`.\n"
          "\n"
          "The tap reads variables when it is loaded. `metaltap run` has a flag for each (`--out FILE` or\n"
          "`--out=FILE`), which wins over the variable. An empty variable counts as not set.\n"
          "\n"
          "| variable | flag | default | what it does |\n"
          "| --- | --- | --- | --- |\n",
          stdout);
    for (size_t i = 0; i < mt_option_count; i++) {
        const struct mt_option_info *option = &mt_option_table[i];
        const char *quote = *option->fallback ? "`" : "";
        printf("| `%s` | `--%s %s` | %s%s%s | ", option->variable, option->flag, option->value, quote,
               option->fallback, quote);
        print_cell(option->help);
        printf(" |\n");
    }
    fputs("\n"
          "- **FILE**: `%p` stands for the process id, `%n` for the name of the program, `%%` for a percent "
          "sign. Each\n"
          "  process that is tapped needs a name of its own. `metaltap run` makes names given on its command "
          "line\n"
          "  absolute, so that a program started in another folder writes to the same place.\n"
          "- **SIZE**: a number of bytes, with `K`, `M` or `G` for 1024, 1024² and 1024³.\n"
          "- **WINDOW**: `cb:10` is the eleventh command buffer, `cb:10+3` that and the two behind it; "
          "`step:0` is the\n"
          "  work up to the first wait of the CPU for the GPU.\n"
          "- **GLOB**: `*` any characters, `?` one, `[a-z]` one of a set.\n"
          "\n"
          "## Of the launcher only\n"
          "\n"
          "| variable | flag | what it does |\n"
          "| --- | --- | --- |\n"
          "| `METALTAP_LIBRARY` | `--library FILE` | the library to insert, in place of the one installed "
          "with `metaltap` |\n"
          "| | `--quiet` | no progress, no summary, no list of files |\n"
          "| `METALTAP_RUN` | | set by `metaltap run`: 16 hexadecimal digits, the same for all processes of "
          "one run |\n"
          "\n"
          "Without `--out` and `--spool` (and their variables), `metaltap run` sets `METALTAP_OUT` to\n"
          "`metaltap-%n-%p.json` in the current folder. With `--capture` it also sets "
          "`METAL_CAPTURE_ENABLED=1` and\n"
          "`MTL_CAPTURE_ENABLED=1`.\n"
          "\n"
          "## Exit codes and signals of `metaltap run`\n"
          "\n"
          "| code | |\n"
          "| --- | --- |\n"
          "| 0 to 255 | the program's own |\n"
          "| 128 + N | signal N ended the program |\n"
          "| 127 | the program was not found |\n"
          "| 126 | it is there and cannot be executed |\n"
          "| 125 | `metaltap` could not start it: no library, output not writable |\n"
          "| 2 | wrong usage |\n"
          "\n"
          "Signals that a process sends to `metaltap run` are passed on to the program; those of the "
          "terminal reach it\n"
          "anyway and are not sent twice. When the program is stopped from the keyboard, `metaltap` stops "
          "with it and\n"
          "goes on with it. A signal that somebody sends to the whole process group reaches the program "
          "twice: from the\n"
          "sender and from `metaltap`.\n",
          stdout);
}

int mt_cmd_options(int count, char **arguments)
{
    static const struct mt_flag flags[] = {
        {"markdown", NULL, "as the page docs/OPTIONS.md"},
        {"help", NULL, "this page"},
    };
    bool markdown = false;
    for (int at = 0; at < count;) {
        const char *value;
        int flag =
            mt_cli_flag("options", flags, sizeof flags / sizeof flags[0], count, arguments, &at, &value);
        if (flag < 0)
            return MT_EXIT_USAGE;
        if (flag == 1) {
            mt_help_options();
            return mt_cli_close_output(MT_EXIT_OK);
        }
        markdown = true;
    }
    if (markdown)
        print_markdown();
    else
        print_plain();
    return mt_cli_close_output(MT_EXIT_OK);
}
