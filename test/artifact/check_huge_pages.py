# SPDX-License-Identifier: Apache-2.0
"""check_huge_pages.py PRODUCT: the segment of the model can be mapped by huge pages, and is where the file system has such."""
import mmap
import os
import re
import struct
import sys

HUGE = 2 << 20


def huge_bytes(path):
    """Bytes of a file that huge pages map when all of it is mapped and read."""
    with open(path, 'rb') as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE) as mapped:
        for place in range(0, len(mapped), 4096):
            mapped[place]
        maps = open('/proc/self/smaps', encoding='utf-8').read()
        entry = maps.split(os.path.realpath(path))[1]
        found = re.search(r'FilePmdMapped: +(\d+) kB', entry)
        return int(found[1]) << 10 if found else 0


def model_segment(data):
    """(offset in the file, address, bytes, alignment) of the largest loaded segment"""
    start, size, count = struct.unpack_from('<Q', data, 32)[0], *struct.unpack_from('<HH', data, 54)
    loaded = []
    for place in range(start, start + size * count, size):
        kind, _, offset, address, _, stored, _, alignment = struct.unpack_from('<IIQQQQQQ', data, place)
        if kind == 1:
            loaded.append((stored, offset, address, alignment))
    stored, offset, address, alignment = max(loaded)
    return offset, address, stored, alignment


path = sys.argv[1]
with open(path, 'rb') as product:
    offset, address, stored, alignment = model_segment(product.read(4096))
assert stored > 12 << 20 and alignment == HUGE and offset % HUGE == address % HUGE, (offset, address, stored, alignment)

# The file system should treat the product like a file that is written at once.
sample = path + '.sample'
with open(sample, 'wb', buffering=0) as file:
    file.write(b'x' * 4 * HUGE)
if huge_bytes(sample) == 4 * HUGE:
    assert huge_bytes(path) > 0, 'not even one huge page is mapped'  # all, unless memory is fragmented by now
os.remove(sample)
