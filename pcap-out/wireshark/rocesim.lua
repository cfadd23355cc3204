-- SPDX-License-Identifier: Apache-2.0
-- pcap-out/wireshark/rocesim.lua - what Wireshark does not say of RoCEv2: congestion notification packets
-- by their name, FECN and BECN, whether the ICRC is right, PSNs that are missing or come again, and the
-- in-band telemetry behind a frame.
--
-- A post-dissector: it looks at frames that Wireshark's own dissectors have taken apart, and adds a tree
-- "rocesim" and words in the Info column. Sources: IBA vol. 1, 9.2 and 9.7; annex A17 (RoCEv2), A17.3.3
-- for the ICRC, A17.9.3 for CNPs. The trailer of telemetry is rocesim's: net/wire/trailer.h.
--
-- PSNs are followed by direction, queue pair and UDP source port, on what the capture holds: a packet
-- that another port carried, or that came before the capture began, is no gap. What a READ request
-- stands for in PSNs depends on the path MTU, so any step behind one is taken as right.

local band = (bit32 or bit).band
local bxor = (bit32 or bit).bxor
local rshift = (bit32 or bit).rshift

local ROCE_PORT = 4791
local CNP = 0x81
local ETHERNET_MIN = 60

local proto = Proto("rocesim", "rocesim: more of RoCEv2")
local fields = {
    note = ProtoField.string("rocesim.note", "Note"),
    cnp = ProtoField.bool("rocesim.cnp", "Congestion notification packet"),
    fecn = ProtoField.bool("rocesim.fecn", "FECN"),
    becn = ProtoField.bool("rocesim.becn", "BECN"),
    icrc_good = ProtoField.bool("rocesim.icrc.good", "ICRC good"),
    icrc = ProtoField.uint32("rocesim.icrc.expected", "ICRC expected", base.HEX),
    gap = ProtoField.uint32("rocesim.psn.gap", "PSNs missing before this one"),
    again = ProtoField.bool("rocesim.psn.again", "PSN seen before: retransmission or duplicate"),
    hops = ProtoField.uint32("rocesim.int.hops", "INT hops"),
    path = ProtoField.uint32("rocesim.int.path", "INT path", base.HEX),
    rate = ProtoField.uint32("rocesim.int.rate", "Rate code"),
    time = ProtoField.uint32("rocesim.int.time", "Time (ns, 24 bits)"),
    sent = ProtoField.uint32("rocesim.int.sent", "Sent (units of 128 bytes, 20 bits)"),
    queue = ProtoField.uint32("rocesim.int.queue", "Queue (units of 80 bytes)"),
    pint = ProtoField.uint32("rocesim.pint", "PINT digest"),
    address = ProtoField.uint64("rocesim.selective.address", "Address of this packet", base.HEX),
    rkey = ProtoField.uint32("rocesim.selective.rkey", "R_Key", base.HEX),
    length = ProtoField.uint32("rocesim.selective.length", "Bytes from here on"),
    round = ProtoField.uint32("rocesim.selective.round", "Round: sent again so often"),
    index = ProtoField.uint32("rocesim.selective.index", "Index in the receiver's table"),
    first = ProtoField.uint32("rocesim.selective.first", "First PSN of the map"),
    count = ProtoField.uint32("rocesim.selective.count", "PSNs of the map"),
    bits = ProtoField.bytes("rocesim.selective.bits", "Bitmap: which of them came, lowest bit first"),
}
for _, field in pairs(fields) do
    table.insert(proto.fields, field)
end
proto.prefs.icrc = Pref.bool("Check the ICRC", true, "Every byte of every RoCEv2 frame is looked at")

local get_opcode = Field.new("infiniband.bth.opcode")
local get_psn = Field.new("infiniband.bth.psn")
local get_qp = Field.new("infiniband.bth.destqp")
-- The dissector of InfiniBand puts queue pairs where pinfo has ports.
local get_source = Field.new("udp.srcport")
local get_destination = Field.new("udp.dstport")
-- A file of many ports has a packet once at each of them.
local get_interface = Field.new("frame.interface_id")

-- CRC-32 of Ethernet, reflected.
local crc_table = {}
for i = 0, 255 do
    local c = i
    for _ = 1, 8 do
        c = band(c, 1) == 1 and bxor(rshift(c, 1), 0xedb88320) or rshift(c, 1)
    end
    crc_table[i] = c
end

local function crc_add(crc, text)
    local size = #text
    for first = 1, size, 64 do
        local chunk = { text:byte(first, math.min(first + 63, size)) }
        for i = 1, #chunk do
            crc = bxor(crc_table[band(bxor(crc, chunk[i]), 0xff)], rshift(crc, 8))
        end
    end
    return crc
end

-- Where IP begins, its version's header length and where it ends; nil if the frame has none.
local function find_ip(tvb)
    local at = 12
    local kind = tvb(at, 2):uint()
    while kind == 0x8100 and tvb:len() > at + 6 do
        at = at + 4
        kind = tvb(at, 2):uint()
    end
    at = at + 2
    if kind == 0x0800 and tvb:len() >= at + 20 then
        return at, band(tvb(at, 1):uint(), 0x0f) * 4, at + tvb(at + 2, 2):uint()
    elseif kind == 0x86dd and tvb:len() >= at + 40 then
        return at, 40, at + 40 + tvb(at + 4, 2):uint()
    end
end

-- The ICRC that the frame should have: fields that routers change count as ones.
local function expected_icrc(tvb, ip, header, ip_end)
    local bytes = tvb:raw(ip, ip_end - 4 - ip)
    local ones = "\255"
    local masked
    if header == 40 then
        local first = string.char(band(bytes:byte(1), 0xf0) + 0x0f)
        masked = first .. ones:rep(3) .. bytes:sub(5, 7) .. ones .. bytes:sub(9, 40)
    else
        masked = bytes:sub(1, 1) .. ones .. bytes:sub(3, 8) .. ones .. bytes:sub(10, 10) .. ones:rep(2)
            .. bytes:sub(13, header)
    end
    -- UDP's checksum, and the byte of FECN and BECN in the BTH.
    masked = masked .. bytes:sub(header + 1, header + 6) .. ones:rep(2) .. bytes:sub(header + 9, header + 12)
        .. ones .. bytes:sub(header + 14)
    local crc = crc_add(crc_add(0xffffffff, ones:rep(8)), masked)
    crc = bxor(crc, 0xffffffff)
    return crc < 0 and crc + 4294967296 or crc
end

-- What the PSNs of a direction have come to, and what was found of each frame in the first pass.
local streams = {}
local findings = {}
function proto.init()
    streams = {}
    findings = {}
end

-- Requests and READ responses of RC and UC are numbered one by one, apart from each other.
local function series_of(opcode)
    local operation = opcode % 32
    local transport = opcode - operation
    if transport ~= 0x00 and transport ~= 0x20 then
        return nil
    elseif operation >= 0x0d and operation <= 0x10 then
        return "response"
    elseif operation == 0x11 or operation == 0x12 then
        return nil
    end
    return "request"
end

local function follow(pinfo, opcode, psn, qp)
    local series = series_of(opcode)
    if series == nil then
        return {}
    end
    local interface = get_interface()
    local key = tostring(pinfo.src) .. tostring(pinfo.dst) .. ":" .. get_source().value .. ":" .. qp .. series
        .. ":" .. (interface and interface.value or 0)
    local stream = streams[key]
    local finding = {}
    local is_read = opcode % 32 == 0x0c
    if stream == nil then
        stream = {}
        streams[key] = stream
    else
        local ahead = (psn - stream.next) % 16777216
        if ahead >= 8388608 then
            finding.again = true
        elseif ahead > 0 and not stream.after_read then
            finding.gap = ahead
        end
    end
    if not finding.again then
        stream.next = (psn + 1) % 16777216
        stream.after_read = is_read or series == "response" and opcode % 32 ~= 0x0e
    end
    return finding
end

local function add_telemetry(tree, tvb, at)
    local left = tvb:len() - at
    if left == 1 then
        tree:add(fields.pint, tvb(at, 1))
    elseif left == 2 and band(tvb(at, 1):uint(), 0xf0) == 0xf0 then
        tree:add(fields.pint, tvb(at, 2), band(tvb(at, 2):uint(), 0x0fff))
    elseif left >= 2 and (left - 2) % 8 == 0 then
        local head = tvb(at, 2):uint()
        local hops = rshift(head, 12)
        tree:add(fields.hops, tvb(at, 2), hops)
        tree:add(fields.path, tvb(at, 2), band(head, 0x0fff))
        for hop = 0, math.min(hops, (left - 2) / 8) - 1 do
            local record = tvb(at + 2 + hop * 8, 8)
            local branch = tree:add(proto, record, "Hop " .. hop)
            branch:add(fields.rate, record(0, 1), record:bitfield(0, 4))
            branch:add(fields.time, record(0, 4), record:bitfield(4, 24))
            branch:add(fields.sent, record(3, 3), record:bitfield(28, 20))
            branch:add(fields.queue, record(6, 2), record:bitfield(48, 16))
        end
    end
end

-- Bytes of the standard's headers between BTH and payload; RC only, the others have no such packets.
local function extension_bytes(operation)
    if operation == 0x06 or operation == 0x0a or operation == 0x0c then
        return 16
    elseif operation == 0x0b then
        return 20
    elseif operation == 0x03 or operation == 0x05 or operation == 0x09 or operation == 0x11 then
        return 4
    elseif operation == 0x13 or operation == 0x14 then
        return 28
    end
    return 0
end

-- What selective transports put behind the standard's headers: docs/formats/frames.md
local function add_selective(tree, tvb, bth, icrc_at, opcode)
    local bits = tvb(bth + 8, 1):uint()
    local addressed, selective = band(bits, 0x40) ~= 0, band(bits, 0x20) ~= 0
    local at = bth + 12 + extension_bytes(opcode % 32)
    if opcode == 0x11 and selective and icrc_at >= at + 12 then
        tree:add(fields.first, tvb(at, 4))
        tree:add(fields.count, tvb(at + 4, 4))
        tree:add(fields.round, tvb(at + 8, 1))
        tree:add(fields.index, tvb(at + 9, 3))
        if icrc_at > at + 12 then
            tree:add(fields.bits, tvb(at + 12, icrc_at - at - 12))
        end
        return "map " .. tvb(at, 4):uint() .. "+" .. tvb(at + 4, 4):uint() .. " round " .. tvb(at + 8, 1):uint()
    end
    if addressed and icrc_at >= at + 16 then
        tree:add(fields.address, tvb(at, 8))
        tree:add(fields.rkey, tvb(at + 8, 4))
        tree:add(fields.length, tvb(at + 12, 4))
        at = at + 16
    end
    if selective and icrc_at >= at + 4 then
        tree:add(fields.round, tvb(at, 1))
        tree:add(fields.index, tvb(at + 1, 3))
        return "round " .. tvb(at, 1):uint()
    end
end

-- MRC: RC with headers of its own behind the BTH. Layouts: net/wire/mrc.h and docs/formats/frames.md.

local mrc = Proto("rocesim_mrc", "Multipath Reliable Connection")
local mrc_opcodes = {
    [0xc0] = "SEND First", [0xc1] = "SEND Middle", [0xc2] = "SEND Last", [0xc3] = "SEND Last Immediate",
    [0xc4] = "SEND Only", [0xc5] = "SEND Only Immediate", [0xc6] = "WRITE First", [0xc7] = "WRITE Middle",
    [0xc8] = "WRITE Last", [0xc9] = "WRITE Last Immediate", [0xca] = "WRITE Only",
    [0xcb] = "WRITE Only Immediate", [0xcc] = "READ Request", [0xcd] = "READ Response First",
    [0xce] = "READ Response Middle", [0xcf] = "READ Response Last", [0xd0] = "READ Response Only",
    [0xd1] = "Acknowledge", [0xd8] = "Endpoint Request", [0xd9] = "Endpoint Response", [0xdc] = "SACK",
    [0xdd] = "NACK", [0xde] = "Probe",
}
local mrc_marks = { [0] = "none", [1] = "skip once", [2] = "always skip" }
local mrc_reasons = {
    [1] = "trimmed", [2] = "trimmed at the last hop", [6] = "no bitmap", [7] = "no packet buffer",
    [11] = "PSN out of the window", [25] = "unexpected event",
}
local m = {
    opcode = ProtoField.uint8("rocesim_mrc.opcode", "Opcode", base.HEX, mrc_opcodes),
    again = ProtoField.bool("rocesim_mrc.again", "Retransmission", 8, nil, 0x20),
    stamped = ProtoField.bool("rocesim_mrc.stamped", "Time stamp follows", 8, nil, 0x10),
    receive = ProtoField.uint16("rocesim_mrc.rqmsn", "Number among WRITEs with immediate"),
    message = ProtoField.uint16("rocesim_mrc.msn", "Message"),
    stamp = ProtoField.uint16("rocesim_mrc.timestamp", "Time stamp (units of 128 ns)"),
    address = ProtoField.uint64("rocesim_mrc.address", "Address", base.HEX),
    rkey = ProtoField.uint32("rocesim_mrc.rkey", "R_Key", base.HEX),
    length = ProtoField.uint32("rocesim_mrc.length", "Length"),
    immediate = ProtoField.uint32("rocesim_mrc.immediate", "Immediate", base.HEX),
    mark = ProtoField.uint8("rocesim_mrc.mark", "Mark of the path", base.DEC, mrc_marks, 0x60),
    probed = ProtoField.bool("rocesim_mrc.probe_answer", "Answers a probe", 8, nil, 0x02),
    offset = ProtoField.int16("rocesim_mrc.ack_offset", "PSN that caused it, from the PSN on; or the probe"),
    entropy = ProtoField.uint32("rocesim_mrc.entropy", "Entropy value", base.HEX),
    psn = ProtoField.uint24("rocesim_mrc.psn", "PSN"),
    range = ProtoField.uint8("rocesim_mrc.range", "Largest range (units of 128 PSNs)"),
    first = ProtoField.int16("rocesim_mrc.sack_offset", "First PSN of the bitmap, from the PSN on"),
    bits = ProtoField.uint64("rocesim_mrc.sack", "Bitmap, lowest bit first", base.HEX),
    ahead = ProtoField.uint16("rocesim_mrc.ahead", "Packets ahead of a missing one"),
    penalty = ProtoField.uint8("rocesim_mrc.penalty", "Window penalty", base.DEC, nil, 0x7f),
    received = ProtoField.uint24("rocesim_mrc.received", "Received (units of 256 bytes)"),
    reason = ProtoField.uint8("rocesim_mrc.nack", "Reason", base.DEC, mrc_reasons),
    probe = ProtoField.uint16("rocesim_mrc.probe", "Number of the probe"),
    ports = ProtoField.uint32("rocesim_mrc.ports", "Ports that are down", base.HEX),
}
for _, field in pairs(m) do
    table.insert(mrc.fields, field)
end

local function is_mrc_opcode(opcode)
    return mrc_opcodes[opcode] ~= nil
end

local function add_mrc_sack(tree, tvb, at)
    tree:add(m.mark, tvb(at + 1, 1))
    tree:add(m.probed, tvb(at + 1, 1))
    tree:add(m.offset, tvb(at + 2, 2))
    tree:add(m.entropy, tvb(at + 4, 4))
    tree:add(m.psn, tvb(at + 13, 3))
    tree:add(m.range, tvb(at + 17, 1))
    tree:add(m.first, tvb(at + 18, 2))
    tree:add(m.bits, tvb(at + 20, 8))
    tree:add(m.stamp, tvb(at + 28, 2))
    tree:add(m.ahead, tvb(at + 30, 2))
    tree:add(m.penalty, tvb(at + 32, 1))
    tree:add(m.received, tvb(at + 33, 3))
    return " PSN " .. tvb(at + 13, 3):uint()
end

local function add_mrc_data(tree, tvb, at, opcode, stamped)
    tree:add(m.receive, tvb(at, 2))
    tree:add(m.message, tvb(at + 2, 2))
    at = at + 4
    if stamped then
        tree:add(m.stamp, tvb(at, 2))
        at = at + 4
    end
    if opcode >= 0xc6 then
        tree:add(m.address, tvb(at, 8))
        tree:add(m.rkey, tvb(at + 8, 4))
        tree:add(m.length, tvb(at + 12, 4))
        at = at + 16
    end
    if opcode == 0xc3 or opcode == 0xc5 or opcode == 0xc9 or opcode == 0xcb then
        tree:add(m.immediate, tvb(at, 4))
    end
end

-- Bytes of headers behind the BTH, where they do not follow from the operation alone.
local mrc_sizes = { [0xd8] = 16, [0xd9] = 36, [0xdc] = 36, [0xdd] = 20, [0xde] = 16 }

local function add_mrc(root, tvb, pinfo, bth, ip_end, opcode)
    local bits = tvb(bth + 8, 1)
    local stamped = band(bits:uint(), 0x10) ~= 0
    local at = bth + 12
    local size = mrc_sizes[opcode] or (opcode <= 0xcc and (stamped and 28 or 24) or 0)
    local whole = math.min(ip_end, tvb:len()) >= at + size
    local tree = root:add(mrc, tvb(bth, whole and 12 + size or 12))
    local words = "MRC " .. mrc_opcodes[opcode] .. " QP=" .. string.format("0x%06x", get_qp().value)
    tree:add(m.opcode, tvb(bth, 1))
    tree:add(m.again, bits)
    tree:add(m.stamped, bits)
    if whole and opcode == 0xdc then
        words = words .. add_mrc_sack(tree, tvb, at)
    elseif whole and opcode == 0xdd then
        tree:add(m.reason, tvb(at + 2, 1))
        tree:add(m.entropy, tvb(at + 4, 4))
        tree:add(m.psn, tvb(at + 13, 3))
        words = words .. " PSN " .. tvb(at + 13, 3):uint() .. ", " .. (mrc_reasons[tvb(at + 2, 1):uint()] or "?")
    elseif whole and opcode == 0xde then
        tree:add(m.probe, tvb(at + 4, 2))
        tree:add(m.stamp, tvb(at + 12, 2))
    elseif whole and opcode == 0xd8 then
        tree:add(m.ports, tvb(at + 4, 4))
    elseif opcode <= 0xcc then
        words = words .. " PSN " .. get_psn().value
        if whole then
            add_mrc_data(tree, tvb, at, opcode, stamped)
        end
    end
    pinfo.cols.info = words
end

function proto.dissector(tvb, pinfo, root)
    local opcode_field = get_opcode()
    local port = get_destination()
    if opcode_field == nil or port == nil or port.value ~= ROCE_PORT then
        return
    end
    local ip, header, ip_end = find_ip(tvb)
    if ip == nil or ip + header + 20 > tvb:len() then
        return
    end
    local opcode = opcode_field.value
    local bth = ip + header + 8
    local is_mrc = is_mrc_opcode(opcode)
    local congestion = tvb(bth + 4, 1)
    local notes = {}
    local tree = root:add(proto, tvb(bth))
    local fecn = band(congestion:uint(), 0x80) ~= 0
    local becn = band(congestion:uint(), 0x40) ~= 0
    tree:add(fields.fecn, congestion, fecn)
    tree:add(fields.becn, congestion, becn)
    if opcode == CNP then
        tree:add(fields.cnp, tvb(bth, 1), true)
        pinfo.cols.info:set("CNP QP=" .. string.format("0x%06x", get_qp().value))
    end

    if not pinfo.visited then
        findings[pinfo.number] = follow(pinfo, opcode, get_psn().value, get_qp().value)
    end
    local finding = findings[pinfo.number] or {}
    if finding.gap ~= nil then
        tree:add(fields.gap, tvb(bth + 9, 3), finding.gap)
        table.insert(notes, "PSN gap of " .. finding.gap)
    elseif finding.again then
        tree:add(fields.again, tvb(bth + 9, 3), true)
        table.insert(notes, "PSN again")
    end

    if is_mrc then
        add_mrc(root, tvb, pinfo, bth, ip_end, opcode)
    elseif ip_end <= tvb:len() then
        local note = add_selective(tree, tvb, bth, ip_end - 4, opcode)
        if note ~= nil then
            table.insert(notes, note)
        end
    end

    -- A packet of MRC that was cut to its headers has no ICRC.
    local cut = is_mrc and (ip_end - bth) % 4 ~= 0
    if proto.prefs.icrc and not cut and ip_end <= tvb:len() and ip_end - 4 >= bth + 12 then
        local there = tvb(ip_end - 4, 4)
        local expected = expected_icrc(tvb, ip, header, ip_end)
        local good = there:le_uint() == expected
        tree:add(fields.icrc_good, there, good)
        if not good then
            tree:add_le(fields.icrc, there, expected)
            table.insert(notes, "ICRC bad")
        end
    end
    if tvb:len() == tvb:reported_length_remaining() then
        local trailer = math.max(ip_end, ETHERNET_MIN)
        if trailer < tvb:len() then
            add_telemetry(tree, tvb, trailer)
        end
    end
    if #notes > 0 then
        local text = table.concat(notes, ", ")
        tree:add(fields.note, text)
        pinfo.cols.info:append(" [" .. text .. "]")
    end
end

register_postdissector(proto)

-- Ultra Ethernet over UDP: the headers of the packet delivery sublayer (PDS) and of the semantic sublayer
-- (SES), which Wireshark does not know yet. Layouts: net/wire/uet.h and docs/formats/frames.md.

local UET_PORT = 4793
local uet = Proto("rocesim_uet", "Ultra Ethernet")
local uet_types = {
    [1] = "TSS", [2] = "RUD request", [3] = "ROD request", [4] = "RUDI request", [5] = "RUDI response",
    [6] = "UUD request", [7] = "ACK", [8] = "ACK_CC", [9] = "ACK_CCX", [10] = "NACK", [11] = "control",
    [12] = "NACK_CCX", [13] = "RUD request with CC state", [14] = "ROD request with CC state",
}
local uet_controls = {
    [0] = "no operation", [1] = "ACK request", [2] = "clear", [3] = "clear request", [4] = "close",
    [5] = "close request", [6] = "probe", [7] = "credit", [8] = "credit request", [9] = "negotiation",
}
local uet_nacks = {
    [1] = "trimmed", [2] = "trimmed at the last hop", [10] = "no resource", [13] = "out of order (ROD)",
}
local uet_opcodes = {
    [0] = "no operation", [1] = "write", [2] = "read", [3] = "atomic", [4] = "fetching atomic", [5] = "send",
    [7] = "datagram send", [8] = "deferrable send", [9] = "tagged send",
}
local u = {
    type = ProtoField.uint16("rocesim_uet.type", "Type", base.DEC, uet_types, 0xf800),
    next = ProtoField.uint16("rocesim_uet.next", "Next header", base.DEC, nil, 0x0780),
    control = ProtoField.uint16("rocesim_uet.control", "Control", base.DEC, uet_controls, 0x0780),
    again = ProtoField.bool("rocesim_uet.again", "Retransmission", 16, nil, 0x0010),
    ask = ProtoField.bool("rocesim_uet.ack_request", "Asks for an ACK", 16, nil, 0x0008),
    marked = ProtoField.bool("rocesim_uet.marked", "Packet was marked CE", 16, nil, 0x0020),
    psn = ProtoField.uint32("rocesim_uet.psn", "PSN"),
    source = ProtoField.uint16("rocesim_uet.source_pdc", "PDC of the source"),
    destination = ProtoField.uint16("rocesim_uet.destination_pdc", "PDC of the destination"),
    nack = ProtoField.uint8("rocesim_uet.nack", "NACK code", base.DEC, uet_nacks),
    target = ProtoField.uint32("rocesim_uet.credit", "Credit (units of 256 bytes)", base.DEC, nil, 0x00ffffff),
    offset = ProtoField.int16("rocesim_uet.ack_offset", "PSN that caused it, from the PSN on"),
    first = ProtoField.int16("rocesim_uet.sack_offset", "First PSN of the bitmap, from the PSN on"),
    bits = ProtoField.uint64("rocesim_uet.sack", "Bitmap, lowest bit first", base.HEX),
    bytes = ProtoField.uint24("rocesim_uet.received", "Received (units of 256 bytes)"),
    ahead = ProtoField.uint16("rocesim_uet.ahead", "Packets ahead of a missing one"),
    opcode = ProtoField.uint8("rocesim_uet.opcode", "SES opcode", base.DEC, uet_opcodes, 0x3f),
    message = ProtoField.uint16("rocesim_uet.message", "Message"),
    address = ProtoField.uint64("rocesim_uet.buffer_offset", "Buffer offset", base.HEX),
    key = ProtoField.uint64("rocesim_uet.key", "Memory key", base.HEX),
    length = ProtoField.uint32("rocesim_uet.length", "Request length"),
}
for _, field in pairs(u) do
    table.insert(uet.fields, field)
end

-- Bytes of PDS headers by type.
local uet_sizes = {
    [2] = 12, [3] = 12, [6] = 4, [7] = 12, [8] = 32, [9] = 32, [10] = 16, [11] = 16, [13] = 16, [14] = 16,
}

local function add_request(tree, tvb, at)
    tree:add(u.opcode, tvb(at, 1))
    tree:add(u.message, tvb(at + 2, 2))
    tree:add(u.address, tvb(at + 12, 8))
    tree:add(u.key, tvb(at + 24, 8))
    tree:add(u.length, tvb(at + 40, 4))
    return uet_opcodes[band(tvb(at, 1):uint(), 0x3f)] or "SES request"
end

local function add_ack(tree, tvb)
    tree:add(u.offset, tvb(2, 2))
    tree:add(u.first, tvb(14, 2))
    tree:add(u.bits, tvb(16, 8))
    if rshift(tvb(12, 1):uint(), 4) == 0 then
        tree:add(u.bytes, tvb(27, 3))
    else
        tree:add(u.target, tvb(23, 4))
    end
    tree:add(u.ahead, tvb(30, 2))
end

function uet.dissector(tvb, pinfo, root)
    local prologue = tvb:len() >= 4 and tvb(0, 2):uint() or 0
    local kind = rshift(prologue, 11)
    local size = uet_sizes[kind]
    -- Public sources give ACK_CCX 32 or 40 bytes. A response of 12 bytes follows it here.
    if kind == 9 and tvb:len() == 40 + 12 then
        size = 40
    end
    if size == nil or tvb:len() < size then
        return 0
    end
    pinfo.cols.protocol = "UET"
    local tree = root:add(uet, tvb(0, size))
    tree:add(u.type, tvb(0, 2))
    tree:add(kind == 11 and u.control or u.next, tvb(0, 2))
    local words = uet_types[kind]
    local next = band(rshift(prologue, 7), 15)
    if kind == 11 then
        words = uet_controls[next] or words
    end
    if size >= 12 then
        tree:add(u.psn, tvb(4, 4))
        tree:add(u.source, tvb(8, 2))
        tree:add(u.destination, tvb(10, 2))
        words = words .. " PSN " .. tvb(4, 4):uint()
    end
    if kind == 10 then
        tree:add(u.nack, tvb(2, 1))
        words = words .. ", " .. (uet_nacks[tvb(2, 1):uint()] or "code " .. tvb(2, 1):uint())
    elseif kind == 8 or kind == 9 then
        tree:add(u.marked, tvb(0, 2))
        add_ack(tree, tvb)
    elseif kind ~= 7 then
        tree:add(u.again, tvb(0, 2))
        tree:add(u.ask, tvb(0, 2))
        if size == 16 then
            tree:add(u.target, tvb(12, 4))
        end
    end
    if next == 3 and kind ~= 11 and tvb:len() >= size + 44 then
        words = words .. ", " .. add_request(tree, tvb, size)
    end
    pinfo.cols.info = words
    return tvb:len()
end

DissectorTable.get("udp.port"):add(UET_PORT, uet)

-- CC_Updates of Ultra Ethernet's credits: MAC control frames of the UEC's company id. Wireshark names only
-- pauses among MAC control frames, so this looks at all frames after it. Control ordered sets (CF_Update
-- and those of link layer retry) are no frames and are in no capture.
local cbfc = Proto("rocesim_cbfc", "Ultra Ethernet CC_Update")
local consumed = ProtoField.uint32("rocesim_cbfc.consumed", "Credits consumed")
cbfc.fields = { consumed }

function cbfc.dissector(tvb, pinfo, root)
    if tvb:len() < 60 or tvb(12, 4):uint() ~= 0x8808fffe or tvb(16, 4):uint() ~= 0xfa7acb01 then
        return
    end
    local tree = root:add(cbfc, tvb(14, 46))
    local words = "CC_Update"
    for vc = 0, 15 do
        local at = 20 + math.floor(vc / 2) * 5
        local first = band(vc, 1) == 0
        local bytes = first and tvb(at, 3) or tvb(at + 2, 3)
        local count = first and rshift(bytes:uint(), 4) or band(bytes:uint(), 0xfffff)
        if count ~= 0 then
            tree:add(consumed, bytes, count):prepend_text("VC " .. vc .. ": ")
            words = words .. ", VC " .. vc .. " " .. count
        end
    end
    pinfo.cols.info = words
end

register_postdissector(cbfc)
