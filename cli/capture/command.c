// SPDX-License-Identifier: Apache-2.0
// cli/capture/command.c - cuts, merges, splits and converts capture files, frame by frame.
#include "cli/capture/capture.h"
#include "world/capture_files.h"

#include "cli/command.h"
#include "kernel/parse.h"
#include "pcap-out/pcap_file.h"
#include "results/folder.h"
#include "world/control_characters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCAP_ORIGIN_S_MAX (UINT32_MAX - (UINT64_C(1) << 25)) // pcap has 32 bits
#define FILES_MAX 900u // each is open; systems commonly allow a process 1024

// -- files that are written

// A file in either format, which its name decides.
typedef struct output {
    char *path;
    pcap_out_ng_t *ng;      // NULL: pcap
    pcap_out_file_t *pcap;  // NULL: ng
    uint64_t origin_s;      // from which the times of frames count
    uint32_t snaplen_bytes; // of a pcap file
    uint64_t cut;           // number of frames that are longer
} output_t;

// Returns the snap length that pcap needs for the frames of the interfaces that a file has named.
static uint32_t snaplen_of(const pcap_out_reader_t *reader)
{
    uint32_t snaplen_bytes = PCAP_OUT_SNAPLEN_BYTES;
    for (uint32_t i = 0; i < pcap_out_reader_interface_count(reader); i++) {
        const uint32_t own_bytes = pcap_out_reader_interface(reader, i)->snaplen_bytes;
        snaplen_bytes = SIM_MAX(own_bytes, snaplen_bytes);
    }
    return SIM_MIN(snaplen_bytes, PCAP_OUT_SNAPLEN_BYTES_MAX);
}

static bool is_ng(const char *path)
{
    return sim_ends_with(path, ".pcapng") || sim_ends_with(path, ".pcapng.gz");
}

static bool is_pcap(const char *path)
{
    return sim_ends_with(path, ".pcap") || sim_ends_with(path, ".pcap.gz");
}

static sim_err_t output_open(const char *path, const char *comment, uint64_t origin_s,
                             uint32_t snaplen_bytes, output_t *output, world_error_t *error)
{
    world_shown_t shown;
    sim_message_t message;
    *output = (output_t){
        .path = sim_strdup(path),
        .origin_s = origin_s,
        .snaplen_bytes = snaplen_bytes,
    };
    if (!is_ng(path) && !is_pcap(path)) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim capture: -o %s, expected a name that ends in .pcap, .pcapng, "
                          ".pcap.gz or .pcapng.gz",
                          world_show(&shown, path));
    }
    if (is_pcap(path) && origin_s >= PCAP_ORIGIN_S_MAX) {
        return world_fail(
            error, SIM_ERR_RANGE, NULL,
            "rocesim capture: frames are of the year 2105 or later, which pcap cannot "
            "hold, expected -o with .pcapng");
    }
    const char *const words = comment[0] != '\0' ? comment : NULL;
    const sim_err_t result =
        is_ng(path)
            ? pcap_out_ng_open(path, "rocesim " ROCESIM_VERSION, words, &output->ng, &message)
            : pcap_out_file_open(path, snaplen_bytes, NULL, &output->pcap, &message);
    if (result == SIM_OK && output->pcap != NULL) {
        pcap_out_file_set_origin(output->pcap, origin_s);
    }
    return result == SIM_OK ? SIM_OK : world_fail(error, SIM_ERR_IO, NULL, "%s", message.text);
}

// Adds an interface like that of an input; a nameless one gets the input's name.
static uint32_t output_interface(output_t *output, const pcap_out_read_interface_t *from,
                                 const char *input)
{
    if (output->ng == NULL) {
        return 0;
    }
    const char *const slash = strrchr(input, '/');
    char *const name = sim_strdup(from->name[0] != '\0' ? from->name
                                  : slash != NULL       ? slash + 1
                                                        : input);
    if (from->name[0] == '\0' && strstr(name, ".pcap") != NULL) {
        *strstr(name, ".pcap") = '\0';
    }
    const pcap_out_ng_interface_t interface = {
        .name = name,
        .description = from->description[0] != '\0' ? from->description : NULL,
        .rate_bps = from->rate_bps,
        .origin_s = output->origin_s,
        .snaplen_bytes = from->snaplen_bytes,
        .resolution = from->resolution > 9   ? 12
                      : from->resolution > 6 ? 9
                                             : 6,
    };
    const uint32_t number = pcap_out_ng_interface(output->ng, &interface);
    sim_free(name);
    return number;
}

static void output_frame(output_t *output, uint32_t interface, const pcap_out_read_frame_t *frame)
{
    if (output->pcap != NULL) {
        output->cut += frame->captured_bytes > output->snaplen_bytes;
        pcap_out_file_append(output->pcap, frame->time_ps, frame->bytes, frame->captured_bytes,
                             frame->original_bytes);
        return;
    }
    pcap_out_ng_packet_t packet = {.interface = interface,
                                   .time_ps = frame->time_ps,
                                   .bytes = frame->bytes,
                                   .captured_bytes = frame->captured_bytes,
                                   .original_bytes = frame->original_bytes,
                                   .way = frame->way,
                                   .drop_count = frame->drop_count,
                                   .comment_count = frame->comment_count};
    memcpy(packet.comments, frame->comments, sizeof(packet.comments));
    pcap_out_ng_packet(output->ng, &packet);
}

// Closes the file; the command prints its first failure.
static sim_err_t output_close(output_t *output, sim_err_t result, world_error_t *error)
{
    sim_message_t message;
    sim_err_t closed = SIM_OK;
    if (output->ng != NULL) {
        closed = pcap_out_ng_close(output->ng, &message);
    } else if (output->pcap != NULL) {
        closed = pcap_out_file_close(output->pcap, &message);
    }
    if (result != SIM_OK && (output->ng != NULL || output->pcap != NULL)) {
        (void)remove(output->path); // bad input leaves nothing behind
    }
    if (result == SIM_OK && output->cut > 0) {
        fprintf(stderr,
                "warning: %s: %" PRIu64 " frame%s cut to %" PRIu32 " bytes, the snap length of "
                "the file; expected -o with .pcapng\n",
                output->path, output->cut, output->cut == 1 ? " is" : "s are",
                output->snaplen_bytes);
    }
    sim_free(output->path);
    if (result == SIM_OK && closed != SIM_OK) {
        result = world_fail(error, SIM_ERR_IO, NULL, "%s", message.text);
    }
    return result;
}

// -- reading

static sim_err_t open_input(const char *path, pcap_out_reader_t **reader, world_error_t *error)
{
    sim_message_t message;
    const sim_err_t result = pcap_out_reader_open(path, reader, &message);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}

static sim_err_t next_frame(pcap_out_reader_t *reader, pcap_out_read_frame_t *frame, bool *end,
                            world_error_t *error)
{
    sim_message_t message;
    const sim_err_t result = pcap_out_reader_next(reader, frame, end, &message);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}

// -- merge, cut, convert

// An input with its next frame and the numbers of its interfaces in the output.
typedef struct input {
    const char *path;
    pcap_out_reader_t *reader;
    pcap_out_read_frame_t frame;
    bool end;
    uint32_t *numbers;
    uint32_t number_count;
    size_t number_capacity;
} input_t;

typedef struct merge {
    input_t *inputs;
    size_t count;
    output_t output;
    bool is_open;
    const char *path;
    uint64_t origin_s; // from which the times of all inputs count
    sim_time_t
        zero_ps; // from which from_ps and to_ps count: the first frame's time if it has a date
    sim_time_t from_ps;
    sim_time_t to_ps;
} merge_t;

// Adds the interfaces to the output that the input has named so far.
static void add_interfaces(merge_t *merge, input_t *input)
{
    while (input->number_count < pcap_out_reader_interface_count(input->reader)) {
        const uint32_t number = input->number_count;
        SIM_APPEND(input->numbers, input->number_count, input->number_capacity,
                   output_interface(&merge->output,
                                    pcap_out_reader_interface(input->reader, number), input->path));
    }
}

static sim_err_t advance(merge_t *merge, input_t *input, world_error_t *error)
{
    const sim_err_t result = next_frame(input->reader, &input->frame, &input->end, error);
    if (result == SIM_OK && merge->is_open) {
        add_interfaces(merge, input);
    }
    return result;
}

// Returns the input whose frame is next by time; the first of those that are equal. NULL: all have
// ended.
static input_t *earliest(const merge_t *merge)
{
    input_t *first = NULL;
    for (size_t i = 0; i < merge->count; i++) {
        input_t *const input = &merge->inputs[i];
        if (!input->end && (first == NULL || input->frame.time_ps < first->frame.time_ps)) {
            first = input;
        }
    }
    return first;
}

// Lets the times of all inputs, of which the first frames are read, count from one origin.
static sim_err_t share_origin(merge_t *merge, world_error_t *error)
{
    sim_message_t message;
    sim_err_t result = SIM_OK;
    merge->origin_s = UINT64_MAX;
    for (size_t i = 0; i < merge->count; i++) {
        if (!merge->inputs[i].end) {
            merge->origin_s =
                SIM_MIN(merge->origin_s, pcap_out_reader_origin_s(merge->inputs[i].reader));
        }
    }
    for (size_t i = 0; i < merge->count && result == SIM_OK; i++) {
        input_t *const input = &merge->inputs[i];
        if (!input->end) {
            result = pcap_out_reader_move_origin(input->reader, merge->origin_s, &input->frame,
                                                 &message);
        }
    }
    const input_t *const first = earliest(merge);
    merge->origin_s = first != NULL ? merge->origin_s : 0;
    merge->zero_ps = merge->origin_s != 0 && result == SIM_OK ? first->frame.time_ps : 0;
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}

static sim_err_t merge_all(merge_t *merge, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    // The first frames are read first: they bring the section's comment.
    for (size_t i = 0; i < merge->count && result == SIM_OK; i++) {
        result = advance(merge, &merge->inputs[i], error);
    }
    if (result != SIM_OK) {
        return result;
    }
    result = share_origin(merge, error);
    if (result != SIM_OK) {
        return result;
    }
    uint32_t snaplen_bytes = PCAP_OUT_SNAPLEN_BYTES;
    for (size_t i = 0; i < merge->count; i++) {
        const uint32_t own_bytes = snaplen_of(merge->inputs[i].reader);
        snaplen_bytes = SIM_MAX(own_bytes, snaplen_bytes);
    }
    const char *const comment =
        merge->count == 1 ? pcap_out_reader_comment(merge->inputs[0].reader) : "";
    result =
        output_open(merge->path, comment, merge->origin_s, snaplen_bytes, &merge->output, error);
    if (result != SIM_OK) {
        return output_close(&merge->output, result, error);
    }
    merge->is_open = true;
    for (size_t i = 0; i < merge->count; i++) {
        add_interfaces(merge, &merge->inputs[i]);
    }
    input_t *input = NULL;
    while (result == SIM_OK && (input = earliest(merge)) != NULL) {
        const sim_time_t time_ps = input->frame.time_ps;
        if (time_ps - merge->zero_ps >= merge->from_ps &&
            time_ps - merge->zero_ps <= merge->to_ps) {
            output_frame(&merge->output, input->numbers[input->frame.interface], &input->frame);
        }
        result = advance(merge, input, error);
    }
    return output_close(&merge->output, result, error);
}

static sim_err_t merge_files(const cli_args_t *args, merge_t *merge, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    const size_t count = args->operand_count - 1;
    merge->inputs = sim_alloc_array(count, sizeof(*merge->inputs));
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        merge->inputs[i] = (input_t){.path = args->operands[i + 1]};
        result = open_input(args->operands[i + 1], &merge->inputs[i].reader, error);
        merge->count += result == SIM_OK;
    }
    if (result == SIM_OK) {
        result = merge_all(merge, error);
    }
    for (size_t i = 0; i < merge->count; i++) {
        pcap_out_reader_close(merge->inputs[i].reader);
        sim_free(merge->inputs[i].numbers);
    }
    sim_free(merge->inputs);
    return result;
}

// -- split

// The file of the interfaces of one name.
typedef struct part {
    char *name;
    output_t output;
    uint32_t *numbers; // in the output, by the interface's number in the input
    uint32_t number_count;
    size_t number_capacity;
} part_t;

typedef struct split {
    pcap_out_reader_t *reader;
    const char *folder;
    bool comments; // pcapng
    part_t *parts;
    size_t part_count;
    size_t part_capacity;
    uint32_t *part_of; // by the interface's number
    uint32_t interface_count;
    size_t interface_capacity;
} split_t;

static sim_err_t open_part(split_t *split, const char *name, world_error_t *error)
{
    if (split->part_count >= FILES_MAX) {
        return world_fail(error, SIM_ERR_RANGE, NULL,
                          "rocesim capture split: the file has more than %u ports, expected fewer: "
                          "capture some of the ports",
                          FILES_MAX);
    }
    SIM_GROW(split->parts, split->part_count, &split->part_capacity);
    part_t *const part = &split->parts[split->part_count++];
    *part = (part_t){.name = sim_strdup(name)};
    char *const file =
        world_capture_file_name(split->comments ? "{port}.pcapng" : "{port}.pcap", name);
    char *const path = sim_format("%s/%s", split->folder, file);
    const sim_err_t result = output_open(path, pcap_out_reader_comment(split->reader),
                                         pcap_out_reader_origin_s(split->reader),
                                         snaplen_of(split->reader), &part->output, error);
    sim_free(path);
    sim_free(file);
    return result;
}

// Finds the files of all interfaces that are known by now.
static sim_err_t know_interfaces(split_t *split, world_error_t *error)
{
    while (split->interface_count < pcap_out_reader_interface_count(split->reader)) {
        const pcap_out_read_interface_t *const interface =
            pcap_out_reader_interface(split->reader, split->interface_count);
        const char *const name = interface->name[0] != '\0' ? interface->name : "unnamed";
        size_t part = 0;
        while (part < split->part_count && strcmp(split->parts[part].name, name) != 0) {
            part++;
        }
        if (part == split->part_count) {
            const sim_err_t result = open_part(split, name, error);
            if (result != SIM_OK) {
                return result;
            }
        }
        part_t *const file = &split->parts[part];
        while (file->number_count <= split->interface_count) {
            SIM_APPEND(file->numbers, file->number_count, file->number_capacity, 0);
        }
        file->numbers[split->interface_count] = output_interface(&file->output, interface, name);
        SIM_APPEND(split->part_of, split->interface_count, split->interface_capacity,
                   (uint32_t)part);
    }
    return SIM_OK;
}

static sim_err_t split_file(split_t *split, world_error_t *error)
{
    bool end = false;
    sim_err_t result = SIM_OK;
    while (result == SIM_OK && !end) {
        pcap_out_read_frame_t frame;
        result = next_frame(split->reader, &frame, &end, error);
        if (result == SIM_OK) {
            result = know_interfaces(split, error);
        }
        if (result == SIM_OK && !end) {
            part_t *const part = &split->parts[split->part_of[frame.interface]];
            output_frame(&part->output, part->numbers[frame.interface], &frame);
        }
    }
    for (size_t i = 0; i < split->part_count; i++) {
        result = output_close(&split->parts[i].output, result, error);
        sim_free(split->parts[i].name);
        sim_free(split->parts[i].numbers);
    }
    sim_free(split->parts);
    sim_free(split->part_of);
    return result;
}

// -- the command

static sim_err_t take_time(const char *option, const char *text, sim_time_t *time_ps,
                           world_error_t *error)
{
    sim_message_t message = {.text = ""};
    const sim_err_t result = text == NULL ? SIM_OK : sim_parse_time(text, time_ps, &message);
    return result == SIM_OK
               ? SIM_OK
               : world_fail(error, result, NULL, "rocesim capture %s: %s", option, message.text);
}

static sim_err_t fail_usage(world_error_t *error, const char *action, const char *expected)
{
    return world_fail(error, SIM_ERR_INVALID, NULL, "rocesim capture %s: expected %s", action,
                      expected);
}

static sim_err_t do_merge(const cli_args_t *args, world_error_t *error)
{
    const char *const action = args->operands[0];
    const bool one = strcmp(action, "merge") != 0;
    const bool cuts = strcmp(action, "cut") == 0;
    if (args->folder == NULL || (one && args->operand_count != 2)) {
        return fail_usage(error, action, one ? "one FILE and -o FILE" : "FILE FILE... and -o FILE");
    }
    if (!cuts && (args->from != NULL || args->to != NULL)) {
        return fail_usage(error, action, "--from and --to with cut only");
    }
    for (size_t i = 1; i < args->operand_count; i++) {
        if (strcmp(args->operands[i], args->folder) == 0) {
            return fail_usage(error, action, "another file for -o than that which is read");
        }
    }
    merge_t merge = {.path = args->folder, .to_ps = SIM_TIME_NEVER};
    sim_err_t result = take_time("--from", args->from, &merge.from_ps, error);
    if (result == SIM_OK) {
        result = take_time("--to", args->to, &merge.to_ps, error);
    }
    if (result == SIM_OK && merge.from_ps > merge.to_ps) {
        result = world_fail(error, SIM_ERR_RANGE, NULL,
                            "--from %s --to %s: expected a --to that is not before --from",
                            args->from, args->to);
    }
    return result == SIM_OK ? merge_files(args, &merge, error) : result;
}

static sim_err_t do_split(const cli_args_t *args, world_error_t *error)
{
    if (args->folder == NULL || args->operand_count != 2) {
        return fail_usage(error, "split", "one FILE and -o DIR");
    }
    split_t split = {.folder = args->folder, .comments = args->comments};
    sim_err_t result = open_input(args->operands[1], &split.reader, error);
    if (result == SIM_OK) {
        result = results_folder_make(args->folder, error);
    }
    if (result == SIM_OK) {
        result = split_file(&split, error);
    }
    pcap_out_reader_close(split.reader);
    return result;
}

static sim_err_t do_follow(const cli_args_t *args, world_error_t *error)
{
    if (args->packet == NULL || args->operand_count != 2) {
        return fail_usage(error, "follow", "one FILE and --packet \"HOST QP NUMBER PSN NUMBER\"");
    }
    return cli_capture_follow(args->operands[1], args->packet, args->json, error);
}

int cli_command_capture(const cli_args_t *args)
{
    static const struct {
        const char *name;
        sim_err_t (*fn)(const cli_args_t *args, world_error_t *error);
    } actions[] = {{"cut", do_merge},
                   {"merge", do_merge},
                   {"convert", do_merge},
                   {"split", do_split},
                   {"follow", do_follow}};
    world_error_t error;
    world_shown_t shown;
    for (size_t i = 0; i < SIM_COUNT_OF(actions); i++) {
        if (strcmp(args->operands[0], actions[i].name) == 0) {
            const sim_err_t result = actions[i].fn(args, &error);
            if (result != SIM_OK && args->operand_count > 1) {
                world_error_about(&error, args->operands[1], args->operands[1]);
            }
            return result == SIM_OK
                       ? CLI_EXIT_DONE
                       : cli_report_failure(&error, result == SIM_ERR_IO ? CLI_EXIT_FAILED
                                                                         : CLI_EXIT_BAD_INPUT);
        }
    }
    fprintf(stderr,
            "rocesim capture %s: unknown action, expected cut, merge, split, convert or follow\n",
            world_show(&shown, args->operands[0]));
    return CLI_EXIT_BAD_INPUT;
}
