-- SPDX-License-Identifier: Apache-2.0
-- scenarios/herd/herd.lua - dissects HERD's requests and answers in Wireshark and tshark.
--   Add --disable-protocol infiniband.eoib: otherwise an answer without payload may be shown as malformed EoIB.
--   tshark -X lua_script:scenarios/herd/herd.lua -r requests.pcap -Y herd -T fields -e herd.opcode -e herd.key
local herd = Proto("herd", "HERD key-value cache")
local key = ProtoField.bytes("herd.key", "Key")
local opcode = ProtoField.uint8("herd.opcode", "Opcode", base.DEC, {[121] = "GET", [122] = "PUT"})
local value = ProtoField.bytes("herd.value", "Value")
local worker = ProtoField.uint16("herd.worker", "Worker")
local slot = ProtoField.uint16("herd.slot", "Window slot")
herd.fields = {key, opcode, value, worker, slot}

-- The BTH follows the 8 bytes of UDP. The opcodes are UC WRITE ONLY and UD SEND ONLY with immediate.
local UC_WRITE, UD_SEND_IMM = 0x2a, 0x65
local BTH, RETH, DETH, IMM, ICRC = 12, 16, 8, 4, 4
local udp_port = Field.new("udp.dstport")
local udp_length = Field.new("udp.length")

function herd.dissector(buffer, info, tree)
    local port, length = udp_port(), udp_length()
    if not port or port.value ~= 4791 or not length then return end
    local at = length.offset + 4
    if buffer:len() < at + BTH then return end
    local kind = buffer(at, 1):uint()
    local pad = bit.band(bit.rshift(buffer(at + 1, 1):uint(), 4), 3)
    local stop = length.offset - 4 + length.value - ICRC - pad
    if kind == UC_WRITE then
        local first = at + BTH + RETH
        if stop - first < 17 then return end
        local code = buffer(first + 16, 1):uint()
        if code ~= 121 and code ~= 122 then return end
        local branch = tree:add(herd, buffer(first, stop - first), "HERD request")
        branch:add(key, buffer(first, 16))
        branch:add(opcode, buffer(first + 16, 1))
        if code == 122 and stop > first + 18 then
            branch:add(value, buffer(first + 18, stop - first - 18))
        end
    elseif kind == UD_SEND_IMM then
        local imm = at + BTH + DETH
        local branch = tree:add(herd, buffer(imm, stop - imm), "HERD answer")
        branch:add(worker, buffer(imm, 2))
        branch:add(slot, buffer(imm + 2, 2))
        if stop > imm + IMM then
            branch:add(value, buffer(imm + IMM, stop - imm - IMM))
        end
    end
end
register_postdissector(herd)
