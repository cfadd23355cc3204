# SPDX-License-Identifier: Apache-2.0
"""A queue model of the application `serving`, from the rules of docs/models/serving.md.

It knows no packets: KV data takes bytes / bandwidth on the NIC of its prefill node, one transfer after
the other, and messages take no time. So it holds where the network is idle. Times are in seconds.
"""
import collections
import heapq
import math

# layers, width, heads, KV heads, inner width, vocabulary
MODELS = {"llama3-8b": (32, 4096, 32, 8, 14336, 128256), "llama3-70b": (80, 8192, 64, 8, 28672, 128256)}
GPU_FLOPS = 989e12 * 0.5
GPU_BYTES_PER_S = 3.35e12 * 0.7
GPU_MEMORY = 80e9 * 0.9
STEP_S = 2e-3
SCALE_UP_BYTES_PER_S = 450e9
SCALE_UP_S = 10e-6
PAGE = 16
BLOCK = 512
FRAME = (9216 + 82) / 9216  # a full packet with its headers, preamble and gap


class Model:
    def __init__(self, name, gpus):
        self.layers, self.width, heads, self.kv_heads, ffn, vocab = MODELS[name]
        self.gpus = gpus
        head = self.width // heads
        self.weights = self.layers * (2 * self.width**2 + 2 * self.kv_heads * head * self.width + 3 * self.width * ffn)
        self.head = self.width * vocab
        self.kv = self.layers * 2 * self.kv_heads * head * 2

    def memory(self):
        """Bytes of KV data that fit beside the weights."""
        free = self.gpus * GPU_MEMORY - 2 * (self.weights + 2 * self.head)
        return free / max(1, self.gpus / self.kv_heads)

    def step(self, tokens, sequences, pairs, context):
        flops = 2 * tokens * self.weights + 2 * sequences * self.head + 4 * self.width * self.layers * pairs
        data = (self.weights + self.head) * 2 / self.gpus + context * self.kv / min(self.gpus, self.kv_heads)
        time = max(flops / (self.gpus * GPU_FLOPS), data / GPU_BYTES_PER_S) + STEP_S
        if self.gpus > 1:
            sent = 2 * (self.gpus - 1) / self.gpus * tokens * self.width * 2
            time += 2 * self.layers * (sent / SCALE_UP_BYTES_PER_S + SCALE_UP_S)
        return time


class Job:
    """A request at one node."""

    def __init__(self, request, prefills):
        self.request, self.prefills = request, prefills
        self.target, self.computed, self.pages = request.prompt, 0, 0
        self.flying = 0  # tokens in steps under way
        self.produced, self.sent, self.landed = {}, {}, 0  # by stage: tokens x layers; stages that are sent


class Request:
    def __init__(self, number, arrival, prompt, output, blocks=()):
        self.number, self.arrival, self.prompt, self.output = number, arrival, prompt, output
        self.blocks, self.cached = blocks, 0  # hashes of its prompt's blocks; tokens that need no computing
        self.generated, self.first, self.end, self.began = 0, None, None, None
        self.granted, self.computed, self.sent_at, self.preempted = False, False, None, 0


class Node:
    def __init__(self, system, decodes, memory):
        self.system, self.decodes = system, decodes
        self.free = int(memory // (system.model.kv * PAGE))
        self.queue, self.running, self.asking = collections.deque(), [], collections.deque()
        self.stages = [0.0] * system.rules["pp"]  # when each stage is free
        self.nics, self.flying, self.cache = [0.0] * system.rules["pp"], 0, set()

    def pages(self, tokens):
        return math.ceil(tokens / PAGE)

    def take(self, job, pages):
        self.free -= pages - job.pages
        job.pages = pages

    def release(self, job):
        self.free += job.pages
        job.pages = 0

    def add(self, load, job, tokens):
        load.append((job, tokens, job.computed + job.flying))
        job.flying += tokens

    def most(self):
        """Requests of a step: several steps under way share them equally."""
        batch, steps = self.system.rules["batch"], self.system.rules["pp"]
        all_ = min(batch, len(self.running) + len(self.queue))
        return batch if steps == 1 else max(1, math.ceil(all_ / steps))

    def serve_running(self, budget):
        load, at, most = [], 0, self.most()
        while at < len(self.running) and budget > 0 and len(load) < most:
            job = self.running[at]
            tokens = min(job.target - job.computed - job.flying, budget)
            if tokens == 0:
                at += 1
                continue
            wanted = self.pages(job.target)
            while wanted > job.pages + self.free:  # the request that was admitted last gives up
                victim = next((one for one in reversed(self.running) if one.flying == 0), None)
                if victim is None:
                    return load, budget
                self.running.remove(victim)
                self.release(victim)
                victim.computed, victim.request.preempted = 0, victim.request.preempted + 1
                self.queue.appendleft(victim)
                if victim is job:
                    return load, budget
            self.take(job, max(wanted, job.pages))
            self.add(load, job, tokens)
            budget -= tokens
            at += 1
        return load, budget

    def serve_queue(self, load, budget):
        rules, short, most = self.system.rules, False, self.most()
        for job in list(self.queue):
            if budget <= 0 or len(self.running) >= rules["batch"] or len(load) >= most:
                break
            wanted, tokens = self.pages(job.target), job.target - job.computed
            # One that lacks memory holds up those behind it, but for those that have theirs already.
            short = short or wanted > job.pages + self.free
            if short and wanted > job.pages:
                continue
            if tokens > budget and not rules["chunked"] and load:
                break
            tokens = min(tokens, budget) if rules["chunked"] else tokens
            self.queue.remove(job)
            self.take(job, max(wanted, job.pages))
            self.running.append(job)
            self.add(load, job, tokens)
            budget -= min(tokens, budget)

    def step(self):
        system, load = self.system, []
        if self.stages[0] > system.now or self.flying == len(self.stages):
            return
        if not system.rules["chunked"]:
            self.serve_queue(load, system.rules["token_budget"])
        if not load:
            load, budget = self.serve_running(system.rules["token_budget"])
            self.serve_queue(load, budget)
        if not load:
            return
        for job, _, _ in load:
            if job.prefills and job.request.began is None:
                job.request.began = system.now
                job.request.decode_node.asking.append(job)
                job.request.decode_node.grant()
        time = system.model.step(
            sum(part for _, part, _ in load), len(load),
            sum(part * before + part * (part + 1) / 2 for _, part, before in load),
            sum(before + part for _, part, before in load))
        self.flying += 1
        self.stage(load, 0, time)

    def stage(self, load, number, time):
        """The activations of a step are at a stage, which has `time` of all stages for it."""
        system, layers = self.system, self.system.model.layers
        own = layers // len(self.stages) + (number < layers % len(self.stages))
        begin = max(system.now, self.stages[number])
        end = self.stages[number] = begin + time * own / layers

        def layer_done(layer):
            for job, part, before in load:
                if job.prefills:
                    self.send(job, number, before * own + part * layer, own)

        def stage_done():
            layer_done(own)
            if number + 1 == len(self.stages):
                self.stepped(load)
                return
            sent = sum(part for _, part, _ in load) * system.model.width * 2 * FRAME / system.rules["nic"]
            system.at(system.now + sent + system.rules["path"], lambda: self.stage(load, number + 1, time))
            if number == 0:
                self.step()

        if system.rules["kv"] == "layer":
            for layer in range(1, own):
                system.at(begin + (end - begin) * layer / own, lambda layer=layer: layer_done(layer))
        system.at(end, stage_done)

    def stepped(self, load):
        self.flying -= 1
        for job, part, _ in load:
            job.computed, job.flying = job.computed + part, job.flying - part
            if job.computed == job.target:
                self.progressed(job)
        self.grant()
        self.step()

    def progressed(self, job):
        """The KV data of all tokens so far is there: the next token comes out."""
        request, system = job.request, self.system
        if job.target == request.prompt:
            self.cache.update(request.blocks)
        if job.prefills:
            self.running.remove(job)
            return
        request.generated += 1
        if request.first is None:
            request.first = system.now
        job.target = request.prompt + request.generated
        if request.generated == request.output:
            request.end = system.now
            self.running.remove(job)
            self.release(job)

    def send(self, job, stage, units, layers):
        """Sends the KV data of so many tokens x layers of a stage."""
        request, system = job.request, self.system
        whole = units == request.prompt * layers
        job.produced[stage] = units, layers
        if not request.granted or (system.rules["kv"] == "whole" and not whole):
            return
        count = (units - job.sent.get(stage, 0)) / system.model.layers
        job.sent[stage] = units
        free = max(self.nics[stage], system.now) + count * system.model.kv * FRAME / system.rules["nic"]
        self.nics[stage] = free
        if whole:
            system.at(free + system.rules["path"], lambda: self.landed(job))

    def landed(self, job):
        job.landed += 1
        if job.landed == len(self.stages):
            self.arrived(job)

    def arrived(self, job):
        request, system = job.request, self.system
        self.release(job)
        self.step()
        node, there = request.decode_node, request.seat
        there.computed = request.prompt
        request.first, request.generated = system.now, 1
        there.target = request.prompt + 1
        if request.output == 1:
            request.end = system.now
            node.release(there)
            node.grant()
        else:
            node.queue.append(there)
        node.step()

    def grant(self):
        if self.queue and self.queue[0].pages == 0:
            return  # a request that gave up its memory comes first
        while self.asking and self.pages(self.asking[0].request.prompt + 1) <= self.free:
            job = self.asking.popleft()
            job.request.granted, job.request.seat = True, Job(job.request, False)
            self.take(job.request.seat, self.pages(job.request.prompt + 1))
            sender = job.request.prefill_node
            for stage, (units, layers) in job.produced.items():
                sender.send(job, stage, units, layers)


class System:
    """`rules` has model, tp, pp, prefill, decode, batch, token_budget, chunked, kv, kv_memory (None: what the weights
    leave), nic (bytes per second of a node) and path (seconds of a packet and its acknowledgement)."""

    def __init__(self, rules):
        self.rules, self.now, self.events, self.count = rules, 0.0, [], 0
        self.model = Model(rules["model"], rules["tp"])
        memory = rules["kv_memory"] or self.model.memory()
        self.prefill = [Node(self, rules["decode"] == 0, memory) for _ in range(rules["prefill"])]
        self.decode = [Node(self, True, memory) for _ in range(rules["decode"])]

    def at(self, time, action):
        self.count += 1
        heapq.heappush(self.events, (time, self.count, action))

    def arrive(self, request):
        """Nodes take turns (route: round-robin)."""
        request.prefill_node = self.prefill[request.number % len(self.prefill)]
        apart = len(self.decode) > 0
        request.decode_node = self.decode[request.number % len(self.decode)] if apart else request.prefill_node
        hits = 0  # cache: local
        while hits < len(request.blocks) and request.blocks[hits] in request.prefill_node.cache:
            hits += 1
        job = Job(request, apart)
        request.cached = job.computed = min(hits * BLOCK, request.prompt - 1)
        request.prefill_node.queue.append(job)
        request.prefill_node.step()

    def run(self, requests):
        for request in requests:
            self.at(request.arrival, lambda request=request: self.arrive(request))
        while self.events:
            self.now, _, action = heapq.heappop(self.events)
            action()
        return requests
