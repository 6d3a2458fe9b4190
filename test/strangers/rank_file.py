"""Reads a rank file and prints it as lines of JSON; written from schemas/rank-file.md alone, to show that it suffices.

usage: python3 rank_file.py FILE...

The first line is {"header": ...}, then follows one line for each record of each ring, in the order of (ring, position),
and the last line is {"rings": [...]}. Of a file that may not be used there is one line, {"unusable": why}. Several
files are printed one after the other. Numbers of 64 bits are printed as text, positions and counts as numbers. What lies
in fold entries is not read. Compressed chunks need the program zstd.

Changed since, by one who knew the project's own reader, where that text became more precise, and there only.
"""

import json
import struct
import subprocess
import sys
import zlib
from collections import Counter, namedtuple

MAGIC = bytes.fromhex('8E4E54520D0A1A0A')
OWN_VERSION = 1
HEADER_BYTES, HEADER_FIXED_BYTES, ENTRY_BYTES, LIVE_BYTES, SLOT_BYTES = 4096, 2048, 64, 128, 32
M32, M64 = 2**32 - 1, 2**64 - 1
MAX_AREAS, MAX_CAPACITY, MAX_FOLDS, MAX_RINGS = 4096, 2**23, 2**20, 63
POSITION_LIMIT, OFFSET_LIMIT, SEQUENCE_LIMIT = 2**48, 2**53, 2**53
MAX_RANKS, CLOCK_LIMIT, COUNT_LIMIT, MAX_DAYS = 2**20, 2**62, 2**48, 90
CHUNK_MAGIC, CHUNK_ALIGNMENT, CHUNK_HEADER_BYTES, MAX_CHUNK_RAW_BYTES = 0x4B4E4843, 4096, 64, 1048576
OVERWRITTEN_SLACK = 30
LIVES = {1: 'Recording', 2: 'Closed'}
MODES = (0, 1)
IN_FILE = 1
PLACEMENTS = (IN_FILE, 2, 3)

RINGS = {1: 'RingSteps', 2: 'RingOps', 3: 'RingHost', 4: 'RingOverflow'}
COMMUNICATORS, STRINGS, LEASES, HEARTBEAT, CLOCK, CONTROL = 16, 17, 18, 19, 20, 22
TABLES = (COMMUNICATORS, STRINGS, LEASES, HEARTBEAT, CLOCK, CONTROL)

# The fewest slots of each kind with which it means something.
RING_KINDS = {
    0x10: 1, 0x11: 4, 0x12: 3, 0x13: 2, 0x14: 1, 0x15: 1, 0x16: 2, 0x17: 3, 0x18: 1,
    0x19: 2, 0x1A: 2, 0x1B: 2, 0x1C: 4, 0x1D: 2, 0x1E: 2, 0x1F: 2, 0x20: 2, 0x30: 1, 0x31: 1, 0x32: 2,
}  # fmt: skip
CLOCK_SAMPLE, COMMUNICATOR, COMMUNICATOR_END, STRING, LEASE, LEASE_END = 0x02, 0x04, 0x05, 0x06, 0x07, 0x08
FOLD, CONTROL_CHANGE = 0x32, 0x40
# Of each kind of a table: the classes in which it stands, slots of an entry, its place in the entry, its fewest slots.
TABLE_KINDS = {
    CLOCK_SAMPLE: ((HEARTBEAT, CLOCK), 2, 0, 2),
    COMMUNICATOR: ((COMMUNICATORS,), 8, 0, 7),
    COMMUNICATOR_END: ((COMMUNICATORS,), 8, 7, 1),
    STRING: ((STRINGS,), 4, 0, 4),
    LEASE: ((LEASES,), 4, 0, 2),
    LEASE_END: ((LEASES,), 4, 2, 1),
    CONTROL_CHANGE: ((CONTROL,), 1, 0, 1),
}

# name, offset, type; Q is u64, I u32, i i32, H u16, a number the bytes of a text
HEADER_FIELDS = (
    ('reader_version', 12, 'H'), ('writer_version', 14, 'H'), ('area_count', 28, 'I'), ('tag', 48, 'Q'),
    ('pid_namespace', 72, 'Q'), ('process_start', 80, 'Q'), ('pid', 88, 'I'), ('tick_source', 92, 'I'),
    ('tick_hz', 96, 'Q'), ('start_tick', 104, 'Q'), ('start_realtime', 112, 'Q'), ('start_monotonic', 120, 'Q'),
    ('rank', 128, 'i'), ('world_size', 132, 'i'), ('local_rank', 136, 'i'), ('mode', 140, 'I'),
    ('event_mask', 144, 'Q'), ('sample_every', 152, 'Q'), ('ring_bytes', 160, 'Q'), ('max_bytes', 168, 'Q'),
    ('placement', 176, 'I'), ('copy_interval_ms', 180, 'I'), ('nccl_version', 192, 'I'), ('host_name', 232, 64), ('run_id', 296, 128),
    ('nccl_hostid', 424, 64), ('program', 488, 64), ('gpu', 552, 64), ('recorder_version', 616, 32),
    ('ring_path', 648, 256), ('options', 904, 512), ('mask_now', 2072, 'Q'), ('chunks_begin', 2080, 'Q'),
    ('chunks_end', 2088, 'Q'), ('copied_tick', 2096, 'Q'), ('communicators_lost', 2104, 'Q'),
    ('strings_lost', 2112, 'Q'), ('leases_lost', 2120, 'Q'), ('threads_overflowed', 2128, 'Q'),
    ('io_errors', 2136, 'Q'),
)  # fmt: skip

RANKS = ('rank', 'world_size', 'local_rank')
CLOCK_LIMITS = (
    ('tick_hz', 96, 10**5, 10**11), ('start_realtime', 112, 1, CLOCK_LIMIT - 1), ('start_monotonic', 120, 0, CLOCK_LIMIT - 1),
)  # fmt: skip
# Read as 0 outside of these, both included.
HEADER_LIMITS = {
    'event_mask': (0, M32), 'mask_now': (0, M32), 'sample_every': (1, 2**31 - 1), 'ring_bytes': (0, COUNT_LIMIT - 1),
    'max_bytes': (0, 2**53 - 1), 'communicators_lost': (0, COUNT_LIMIT - 1), 'strings_lost': (0, COUNT_LIMIT - 1),
    'leases_lost': (0, COUNT_LIMIT - 1), 'threads_overflowed': (0, COUNT_LIMIT - 1), 'io_errors': (0, COUNT_LIMIT - 1),
}  # fmt: skip
# Not compared, but counted as replaced.
UNSHOWN_LIMITS = ((184, 0, CLOCK_LIMIT - 1), (2144, 0, M32), (2152, 0, COUNT_LIMIT - 1), (2160, 0, 2**31 - 1))
RANK_LIMITS = {'rank': MAX_RANKS - 1, 'world_size': MAX_RANKS, 'local_rank': MAX_RANKS - 1}

Area = namedtuple('Area', 'index area_class capacity live folds slots fold_capacity')
Slot = namedtuple('Slot', 'kind part parts words')
Record = namedtuple('Record', 'position kind words parts')
Slots = namedtuple('Slots', 'head newest valid index_valid torn')
Chunk = namedtuple('Chunk', 'area codec first end sequence raw_bytes stored_bytes crc at')
# The positions that a chunk of a ring has: [begin, end).
Range = namedtuple('Range', 'begin end chunk')
# Of one ring with its chunks: what counts, by position.
Union = namedtuple('Union', 'valid newest ranges not_given unusable missing')


class Unusable(Exception):
    """A check failed after which nothing in the file may be used."""


# The header


def field(data, offset, kind):
    return struct.unpack_from('<' + kind, data, offset)[0]


def text(raw):
    return raw.split(b'\0', 1)[0].decode('utf-8', 'replace')


def header_field(data, offset, kind):
    if isinstance(kind, int):
        return text(data[offset : offset + kind])
    value = field(data, offset, kind)
    return str(value) if kind == 'Q' else value


def demand(holds, what):
    if not holds:
        raise Unusable(what)


def check_header(data):
    demand(data[:8] == MAGIC, 'magic')
    demand(len(data) >= HEADER_BYTES, 'shorter than a header')
    demand(field(data, 8, 'I') == 0x01020304, 'endian_mark')
    demand(1 <= field(data, 12, 'H') <= OWN_VERSION, 'reader_version')
    demand(field(data, 2048, 'I') != 0, 'still being created')
    fixed = data[:20] + bytes(4) + data[24:HEADER_FIXED_BYTES]
    demand(zlib.crc32(fixed) == field(data, 20, 'I'), 'header_crc')
    demand(field(data, 16, 'I') == HEADER_BYTES, 'header_bytes')
    demand(field(data, 24, 'I') == SLOT_BYTES, 'slot_bytes')
    for name, at, low, high in CLOCK_LIMITS:
        demand(low <= field(data, at, 'Q') <= high, name)
    directory = field(data, 32, 'Q')
    demand(field(data, 28, 'I') <= MAX_AREAS, 'area_count')
    demand(directory >= HEADER_BYTES and directory % 8 == 0, 'directory_offset')
    demand(directory + field(data, 28, 'I') * ENTRY_BYTES <= len(data), 'the directory ends outside the file')


def replacements(data, header):
    """What of the header is read as another value: unknown numbers, and what cannot be true."""
    if field(data, 2048, 'I') not in LIVES:
        yield 'life', LIVES[1]
    if header['mode'] not in MODES:
        yield 'mode', MODES[0]
    if header['placement'] not in PLACEMENTS:
        yield 'placement', IN_FILE
    for name, (low, high) in HEADER_LIMITS.items():
        if not low <= int(header[name]) <= high:
            yield name, '0'
    for name, most in RANK_LIMITS.items():
        if header[name] > most:
            yield name, -1
    for at, low, high in UNSHOWN_LIMITS:
        if not low <= field(data, at, 'Q') <= high:
            yield f'at {at}', None
    copied, start = int(header['copied_tick']), int(header['start_tick'])
    if header['placement'] in PLACEMENTS[1:] and copied != 0 and not start <= copied <= start + farthest(data):
        yield 'copied_tick', '0'
    changed = field(data, 2168, 'Q')
    if changed != 0 and not start <= changed <= start + farthest(data):
        yield 'changed_tick', None


def farthest(data):
    """Ticks of the longest run."""
    return MAX_DAYS * 86400 * field(data, 96, 'Q')


def timely(data, *ticks):
    return all(abs(tick - field(data, 104, 'Q')) <= farthest(data) for tick in ticks)


def read_header(data):
    header = {name: header_field(data, offset, kind) for name, offset, kind in HEADER_FIELDS}
    header['boot_id'] = data[56:72].hex()
    header['life'] = LIVES.get(field(data, 2048, 'I'))
    replaced = dict(replacements(data, header))
    unknown = {name: -1 for name in RANKS if header[name] < 0}
    shown = {name: value for name, value in replaced.items() if name in header}
    read = {**header, **shown, **unknown, 'replaced': len(replaced)}
    return {**read, 'copied_tick': '0'} if read['placement'] == IN_FILE else read


# The directory


def read_entry(data, index):
    at = field(data, 32, 'Q') + index * ENTRY_BYTES
    area_class, capacity, live, folds, slots, fold_capacity = struct.unpack_from('<IIQQQI', data, at)
    return Area(index, area_class, capacity, live, folds, slots, fold_capacity)


def extents(area):
    """(begin, end) of each part of an area."""
    found = [(area.live, LIVE_BYTES), (area.slots, area.capacity * SLOT_BYTES)]
    if area.fold_capacity > 0:
        found.append((area.folds, area.fold_capacity * 32))
    return [(begin, begin + size) for begin, size in found]


def power_of_two(number, limit):
    return 0 < number <= limit and number & (number - 1) == 0


def entry_holds(data, area):
    directory_end = field(data, 32, 'Q') + field(data, 28, 'I') * ENTRY_BYTES
    areas_end = min(field(data, 40, 'Q') or OFFSET_LIMIT, OFFSET_LIMIT)
    return (
        power_of_two(area.capacity, MAX_CAPACITY)
        and (area.fold_capacity == 0 or power_of_two(area.fold_capacity, MAX_FOLDS))
        and (area.area_class not in RINGS or area.index < MAX_RINGS)
        and all(begin % 32 == 0 and directory_end <= begin and end <= areas_end for begin, end in extents(area))
    )


def overlapping(areas):
    """Indexes of the areas of which an extent overlaps another."""
    found = set()
    widest_end, widest_index = 0, None
    for begin, end, index in sorted((*extent, area.index) for area in areas for extent in extents(area)):
        if begin < widest_end:
            found.update((index, widest_index))
        if end > widest_end:
            widest_end, widest_index = end, index
    return found


def read_directory(data):
    """The areas to be used, and how many were left out for which reason."""
    entries = [read_entry(data, index) for index in range(field(data, 28, 'I'))]
    damaged = [area for area in entries if area.area_class == 0]
    known = [area for area in entries if area.area_class in RINGS or area.area_class in TABLES]
    holding = [area for area in known if entry_holds(data, area)]
    crossed = overlapping(holding)
    sound = [area for area in holding if area.index not in crossed]
    bad = len(known) - len(sound) + len(damaged)
    return sound, {'bad_areas': bad, 'unknown_areas': len(entries) - len(known) - len(damaged)}


# Slots and records


def rotl(x, n):
    return (x << n | x >> (64 - n)) & M64


def check_of(word0, word1, word2, meta):
    mixed = word0 ^ rotl(word1, 21) ^ rotl(word2, 42) ^ meta
    h = ((mixed & M32) * 0x9E3779B1 + (mixed >> 32) * 0x85EBCA77) & M32
    h = ((h ^ h >> 15) * 0xC2B2AE3D) & M32
    return h >> 8


def position_of(stored, head):
    d = (stored - head) % 2**24
    return head + (d - 2**24 if d >= 2**23 else d)


def prove(words, index, capacity, head):
    """(position, slot) of four words that check out, else None."""
    *payload, word3 = words
    kind, part, parts, check = word3 & 0xFF, word3 >> 8 & 15, word3 >> 12 & 15, word3 >> 40
    position = position_of(word3 >> 16 & 0xFFFFFF, head)
    if kind == 0 or part >= parts or not 0 <= position < POSITION_LIMIT or position % capacity != index:
        return None
    if check_of(*payload, (word3 & 0xFFFF) + (position << 16)) != check:
        return None
    return position, Slot(kind, part, parts, payload)


def read_slots(data, area):
    """The slots that are there; one beyond the end of a file cut short is neither valid nor torn."""
    head = field(data, area.live, 'Q') if area.live + 8 <= len(data) else 0
    head = head if head < POSITION_LIMIT else 0
    raw = data[area.slots : area.slots + area.capacity * SLOT_BYTES]
    valid, index_valid, torn = {}, bytearray(area.capacity), 0
    for index, words in enumerate(struct.iter_unpack('<4Q', raw[: len(raw) // SLOT_BYTES * SLOT_BYTES])):
        if not any(words):
            continue
        proved = prove(words, index, area.capacity, head)
        if proved is None:
            torn += 1
        else:
            valid[proved[0]] = proved[1]
            index_valid[index] = 1
    return Slots(head, max(head, max(valid, default=-1) + 1), valid, index_valid, torn)


def whole_records(valid):
    """The records of which every part is there, by position."""
    for position in sorted(valid):
        first = valid[position]
        if first.part != 0:
            continue
        run = [valid.get(position + part) for part in range(first.parts)]
        if all(s and (s.kind, s.part, s.parts) == (first.kind, n, first.parts) for n, s in enumerate(run)):
            yield Record(position, first.kind, [word for slot in run for word in slot.words], first.parts)


# Gaps


def gap_cause(begin, end, slots, capacity):
    indexes = [position % capacity for position in range(begin, min(end, begin + capacity))]
    if not all(slots.index_valid[index] for index in indexes):
        return 'torn'
    if end - begin <= capacity and all(position in slots.valid for position in range(begin, end)):
        return 'torn'
    return 'copy'


def classify_gap(begin, end, slots, capacity):
    """Yields the one or two parts of a gap: (cause, positions)."""
    window = slots.newest - capacity
    if begin == 0 and window > 0:
        begin = end if end <= window + OVERWRITTEN_SLACK else window
        yield 'overwritten', begin
        if begin == end:
            return
    yield gap_cause(begin, end, slots, capacity), end - begin


def ring_pieces(begin, end, slots, capacity, dropped):
    """The pieces of a gap of a ring without chunks."""
    for cause, positions in classify_gap(begin, end, slots, capacity):
        yield 'dropped' if dropped and cause == 'overwritten' else cause, positions


def between_cause(before, behind, sequences):
    if before is None and min(sequences) > 0:
        return 'dropped'
    first = before.chunk.sequence + 1 if before else 0
    if behind.chunk.sequence < first:
        return 'torn'
    return 'overwritten' if all(n in sequences for n in range(first, behind.chunk.sequence)) else 'torn'


def chunk_pieces(begin, end, union, sequences):
    """The pieces of a gap before chunks end; None for nothing but parts of records."""
    before = None
    for span in union.ranges:
        if begin < min(end, span.begin):
            yield between_cause(before, span, sequences), min(end, span.begin) - begin
            begin = min(end, span.begin)
        if begin < min(end, span.end):
            last = min(end, span.end)
            torn = any(position not in union.valid for position in range(begin, last))
            yield 'torn' if torn else None, last - begin
            begin = last
        before = span


def all_pieces(begin, end, slots, union, capacity, sequences):
    if not union.ranges:
        dropped = bool(sequences) and min(sequences) > 0
        return list(ring_pieces(begin, end, slots, capacity, dropped))
    chunks_end = union.ranges[-1].end
    pieces = list(chunk_pieces(begin, end, union, sequences))
    if end > chunks_end:
        # Told as positions from chunks end on, the rules are those of a ring without chunks.
        rest = max(begin, chunks_end)
        window = union.newest - capacity
        if rest == chunks_end and window > rest:
            cut = end if end <= window + OVERWRITTEN_SLACK else window
            pieces.append(('overwritten', cut - rest))
            rest = cut
        if rest < end:
            pieces.append((gap_cause(rest, end, slots, capacity), end - rest))
    return pieces


def with_causes(pieces):
    causes = [cause for cause, _ in pieces]
    for i, (cause, positions) in enumerate(pieces):
        behind = next((c for c in causes[i:] if c), None)
        ahead = next((c for c in reversed(causes[:i]) if c), None)
        yield cause or behind or ahead or 'torn', positions


def missing_positions(slots, union, records, capacity, sequences):
    missing = {'overwritten': 0, 'dropped': 0, 'torn': 0, 'copy': 0}
    at = 0
    for position, parts in [(record.position, record.parts) for record in records] + [(union.newest, 0)]:
        if position > at:
            for cause, positions in with_causes(all_pieces(at, position, slots, union, capacity, sequences)):
                missing[cause] += positions
        at = position + parts
    return missing


# Tables


def possible(data, record):
    """Whether the fields of a record of a table can be true."""
    w = record.words
    if record.kind == COMMUNICATOR:
        ranks = (-1 <= signed(low(w[2])) < MAX_RANKS, 0 <= signed(w[2] >> 32) <= MAX_RANKS, 0 <= signed(low(w[3])) <= MAX_RANKS)
        return all(ranks)
    if record.kind == CLOCK_SAMPLE:
        clocks = 1 <= w[1] < CLOCK_LIMIT and w[2] < CLOCK_LIMIT and w[4] < CLOCK_LIMIT
        return clocks and w[3] < COUNT_LIMIT
    if record.kind in (LEASE, LEASE_END):
        return w[1] < POSITION_LIMIT
    if record.kind == CONTROL_CHANGE:
        return 1 <= w[2] >> 32 < 2**31
    return True


def table_entries(data, areas, area_class, left_out, which=slice(1)):
    """{(kind, number of the entry): words} of the first table of a class, or of another one."""
    found = {}
    for area in [area for area in areas if area.area_class == area_class][which]:
        for record in whole_records(read_slots(data, area).valid):
            classes, entry_slots, place, fewest = TABLE_KINDS.get(record.kind, ((), 1, 0, 1))
            fits = area_class in classes and record.position % entry_slots == place and record.parts >= fewest
            if not can_be(data, record):
                continue
            if not fits:
                left_out['misplaced'] += 1
            elif not possible(data, record):
                left_out['impossible'] += 1
            else:
                found[record.kind, record.position // entry_slots] = from_start(data, record)
    return found


def low(word):
    return word & M32


def signed(number):
    return number - 2**32 if number >= 2**31 else number


def packed(words, length):
    return text(struct.pack(f'<{len(words)}Q', *words)[:length])


def of_kind(entries, kind):
    return sorted((number, words) for (k, number), words in entries.items() if k == kind)


def read_communicators(entries):
    for number, w in of_kind(entries, COMMUNICATOR):
        end = entries.get((COMMUNICATOR_END, number))
        yield {
            'number': number, 'tick': str(w[0]), 'comm_id': str(w[1]), 'rank': signed(low(w[2])),
            'n_ranks': signed(w[2] >> 32), 'n_nodes': signed(low(w[3])), 'abi': w[3] >> 32 & 0xFF,
            'name_length': str(w[4]), 'name': packed(w[6:21], min(w[4], 120)), 'end_tick': end and str(end[0]),
        }  # fmt: skip


def read_strings(entries):
    for index, w in of_kind(entries, STRING):
        if index + 1 <= 65534:
            yield {'id': index + 1, 'tick': str(w[0]), 'text': packed(w[2:12], min(w[1], 80))}


def read_leases(entries, rings):
    """None stands for a lease of what is no ring."""
    for number, w in of_kind(entries, LEASE):
        if low(w[2]) not in rings:
            yield None
            continue
        end = entries.get((LEASE_END, number))
        yield {
            'number': number, 'tick': str(w[0]), 'position': str(w[1]), 'area': low(w[2]), 'tid': w[2] >> 32,
            'name': text(struct.pack('<2Q', *w[3:5])), 'end_tick': end and str(end[0]),
            'end_position': end and str(end[1]),
        }  # fmt: skip


def read_heartbeat(entries):
    names = ('tick', 'realtime', 'monotonic', 'width', 'boottime')
    samples = of_kind(entries, CLOCK_SAMPLE)
    return dict(zip(names, map(str, samples[-1][1]))) if samples else None


def read_changes(data, entries):
    """None stands for one that cannot be true."""
    for number, (tick, done, asked) in ((n, w[:3]) for n, w in of_kind(entries, CONTROL_CHANGE)):
        yield [number, str(tick), str(done), low(asked), asked >> 32] if done >= tick and timely(data, done) else None


def true_rate(data, samples):
    """The header's frequency, or that of the samples (lists of words) if they contradict it."""
    stated = field(data, 96, 'Q')
    tick, monotonic = field(data, 104, 'Q'), field(data, 120, 'Q')
    rates = []
    once = {}
    for w in samples:
        once.setdefault((w[0], w[1]), w)
    for w in sorted(once.values(), key=lambda w: w[0]):
        if w[2] - monotonic >= 50_000_000:
            rates.append((w[0] - tick) / (w[2] - monotonic) * 1e9)
            tick, monotonic = w[0], w[2]
    shown = sorted(rates)[len(rates) // 2] if rates else stated
    if not 10**5 <= round(shown) <= 10**11 or abs(shown / stated - 1) <= 0.01:
        return str(stated)
    return str(int(shown) if shown == int(shown) else shown)


def read_tables(data, areas):
    left_out = Counter()
    tables = {c: table_entries(data, areas, c, left_out) for c in (COMMUNICATORS, STRINGS, LEASES, HEARTBEAT, CONTROL)}
    samples = of_kind(tables[HEARTBEAT], CLOCK_SAMPLE)
    for number in range(sum(area.area_class == CLOCK for area in areas)):
        samples += of_kind(table_entries(data, areas, CLOCK, left_out, slice(number, number + 1)), CLOCK_SAMPLE)
    changes = list(read_changes(data, tables[CONTROL]))
    leases = list(read_leases(tables[LEASES], {area.index for area in areas if area.area_class in RINGS}))
    return {
        'tick_hz': true_rate(data, [words for _, words in samples]),
        'heartbeat': read_heartbeat(tables[HEARTBEAT]),
        'communicators': list(read_communicators(tables[COMMUNICATORS])),
        'strings': list(read_strings(tables[STRINGS])),
        'leases': [lease for lease in leases if lease],
        'leases_of_no_ring': leases.count(None),
        'changes': [change for change in changes if change],
        'impossible_changes': changes.count(None),
        'misplaced': left_out['misplaced'],
        'impossible_entries': left_out['impossible'],
    }


# Chunks


def chunk_at(data, at):
    """The chunk whose header stands at an offset, or None."""
    raw = data[at : at + CHUNK_HEADER_BYTES]
    if len(raw) < CHUNK_HEADER_BYTES or field(raw, 0, 'I') != CHUNK_MAGIC:
        return None
    codec, area, first, end, _, _, sequence, raw_bytes, stored, crc = struct.unpack_from('<HHQQQQQIII', raw, 4)
    fits = (
        first <= end <= POSITION_LIMIT
        and (end - first) * SLOT_BYTES == raw_bytes <= MAX_CHUNK_RAW_BYTES
        and sequence < SEQUENCE_LIMIT
        and at + CHUNK_HEADER_BYTES + stored <= len(data)
        and zlib.crc32(raw[:60] + bytes(4)) == field(raw, 60, 'I')
    )
    payload = at + CHUNK_HEADER_BYTES
    return Chunk(area, codec, first, end, sequence, raw_bytes, stored, crc, payload) if fits else None


def aligned(at):
    """The first multiple not before it."""
    return -(-at // CHUNK_ALIGNMENT) * CHUNK_ALIGNMENT


def find_chunks(data):
    begin, offset = field(data, 2080, 'Q'), field(data, 40, 'Q')
    if offset == 0:
        return
    at = begin if begin == aligned(begin) and offset <= begin < len(data) else aligned(offset)
    while at < len(data):
        chunk = chunk_at(data, at)
        if chunk:
            yield chunk
        at = aligned(chunk.at + chunk.stored_bytes if chunk else at + 1)


def ranges_of(chunks):
    """Which positions each chunk of a ring has, and how many it does not get."""
    ranges, not_given, covered = [], 0, 0
    for chunk in sorted(chunks, key=lambda chunk: (chunk.first, chunk.sequence, chunk.at)):
        begin = max(chunk.first, covered)
        not_given += min(begin, chunk.end) - chunk.first
        if begin < chunk.end:
            ranges.append(Range(begin, chunk.end, chunk))
            covered = chunk.end
    return ranges, not_given


def stated_size(frame):
    """The content size in the header of a Zstandard frame without a dictionary (RFC 8878), or None."""
    if len(frame) < 5 or frame[:4] != bytes.fromhex('28B52FFD') or frame[4] & 3:
        return None
    single = frame[4] >> 5 & 1
    size_bytes = (single, 2, 4, 8)[frame[4] >> 6]
    raw = frame[6 - single :][:size_bytes]
    if size_bytes == 0 or len(raw) < size_bytes:
        return None
    return int.from_bytes(raw, 'little') + (256 if size_bytes == 2 else 0)


def unpacked(data, chunk):
    stored = data[chunk.at : chunk.at + chunk.stored_bytes]
    if zlib.crc32(stored) != chunk.crc:
        return None
    if chunk.codec in (1, 2, 3) and stated_size(stored) == chunk.raw_bytes:
        run = subprocess.run(['zstd', '-dcq'], input=stored, capture_output=True)
        raw = run.stdout if run.returncode == 0 else b''
    else:
        raw = stored if chunk.codec == 0 else b''
    if len(raw) != chunk.raw_bytes:
        return None
    if chunk.codec == 3:
        count = len(raw) // 32
        raw = b''.join(raw[slot::count] for slot in range(count))
    return completed(raw, chunk.first) if chunk.codec in (2, 3) else raw


def completed(raw, first):
    """The slots that were made bare: words 0 and 3 as they were."""
    slots = bytearray(raw)
    last = 0
    for number in range(len(raw) // 32):
        word0, word1, word2, word3 = struct.unpack_from('<4Q', raw, number * 32)
        named = word3 & 0xFFFF
        if named >> 8 & 15 == 0:
            last = word0 = (word0 + last) % 2**64
        meta = named + ((first + number) << 16)
        expected = (meta & 0xFFFFFFFFFF) + (check_of(word0, word1, word2, meta) << 40)
        struct.pack_into('<4Q', slots, number * 32, word0, word1, word2, word3 ^ (expected & ~0xFFFF))
    return bytes(slots)


def chunk_slots(data, span):
    """{position: slot} of what is valid in a chunk; None if its payload cannot be used."""
    raw = unpacked(data, span.chunk)
    if raw is None:
        return None
    valid = {}
    for position, words in enumerate(struct.iter_unpack('<4Q', raw), span.chunk.first):
        # Told as the head, a position is the nearest to itself; and every slot is a ring of one.
        proved = prove(words, 0, 1, position)
        if proved and proved[0] == position and span.begin <= position < span.end:
            valid[position] = proved[1]
    return valid


def join_chunks(data, slots, chunks):
    ranges, not_given = ranges_of(chunks)
    valid, unusable, missing = dict(slots.valid), 0, 0
    for span in ranges:
        found = chunk_slots(data, span)
        if found is None:
            unusable += 1
        else:
            valid.update(found)
            missing += span.end - span.begin - len(found)
    newest = max(slots.newest, ranges[-1].end if ranges else 0)
    return Union(valid, newest, ranges, not_given, unusable, missing)


# The output


def from_start(data, record):
    """Its words; a tick before the start is read as the start."""
    return [max(record.words[0], field(data, 104, 'Q')), *record.words[1:]]


def record_line(data, ring, record):
    words = from_start(data, record)
    shown = [f'{word:#x}' for word in words]
    return {'ring': ring, 'position': record.position, 'kind': record.kind, 'tick': str(words[0]), 'words': shown}


def fewest_parts(kind):
    return TABLE_KINDS[kind][-1] if kind in TABLE_KINDS else RING_KINDS.get(kind, 1)


def can_be(data, record):
    """Whether the ticks and counts of a record can be true."""
    if record.kind == CLOCK_SAMPLE and record.words[0] < field(data, 104, 'Q'):
        return False
    if record.kind == FOLD:
        return timely(data, record.words[0], record.words[3]) and record.words[4] <= M32
    return timely(data, record.words[0])


def read_ring(data, area, chunks):
    """Yields a line for each record; the last of what it yields is the summary of the ring."""
    slots = read_slots(data, area)
    union = join_chunks(data, slots, [chunk for chunk in chunks if chunk.area == area.index])
    whole = list(whole_records(union.valid))
    long_enough = [record for record in whole if record.parts >= fewest_parts(record.kind)]
    covering = [record for record in long_enough if can_be(data, record)]
    records = [record for record in covering if record.kind in RING_KINDS]
    sequences = {chunk.sequence for chunk in chunks}
    yield from (record_line(data, area.index, record) for record in records)
    yield {
        'ring': area.index, 'class': RINGS[area.area_class], 'capacity': area.capacity, 'head': slots.head,
        'newest': union.newest, 'records': len(records), 'torn_slots': slots.torn,
        'incomplete_slots': len(union.valid) - sum(record.parts for record in whole),
        'too_short': len(whole) - len(long_enough), 'unknown_kinds': len(covering) - len(records),
        'missing': missing_positions(slots, union, covering, area.capacity, sequences),
        'chunks': [[len(union.ranges), union.ranges[0].begin, union.ranges[-1].end]] if union.ranges else [],
        'in_two_chunks': union.not_given, 'unusable_chunks': union.unusable, 'missing_in_chunks': union.missing,
    }  # fmt: skip


def count_chunks(chunks, rings):
    sequences = {chunk.sequence for chunk in chunks}
    lowest = min(sequences, default=0)
    return {
        'count': len(chunks), 'compressed': sum(chunk.codec != 0 for chunk in chunks),
        'rawBytes': sum(chunk.raw_bytes for chunk in chunks), 'storedBytes': sum(chunk.stored_bytes for chunk in chunks),
        'dropped': lowest, 'missing': max(sequences, default=-1) + 1 - lowest - len(sequences),
        'ofNoRing': sum(chunk.area not in rings for chunk in chunks),
    }  # fmt: skip


def read_file(data):
    check_header(data)
    areas, left_out = read_directory(data)
    rings = [area for area in areas if area.area_class in RINGS]
    chunks = list(find_chunks(data))
    counts = count_chunks(chunks, {area.index for area in rings})
    yield {'header': {**read_header(data), **read_tables(data, areas), **left_out, 'chunks': counts}}
    summaries = []
    for area in rings:
        *lines, summary = read_ring(data, area, chunks)
        yield from lines
        summaries.append(summary)
    yield {'rings': summaries}


def main():
    for path in sys.argv[1:]:
        with open(path, 'rb') as file:
            data = file.read()
        try:
            for line in read_file(data):
                print(json.dumps(line))
        except Unusable as reason:
            print(json.dumps({'unusable': str(reason)}))


if __name__ == '__main__':
    main()
