# SPDX-License-Identifier: Apache-2.0
"""Damages, crowds and shares the cache of object code: check_cache.py TALC CODE.mlir EXPECTED DIRECTORY.

EXPECTED is the object that TALC makes of CODE.mlir without a cache.
"""
import os
import pathlib
import shutil
import subprocess
import sys

talc, code, expected, directory = sys.argv[1:]
home = pathlib.Path(directory)
cache = home / 'cache'
product = pathlib.Path(expected).read_bytes()


def command(output):
    return [talc, 'compile', code, '--start-from=package', '--emit=code', '-o', str(home / output), '--time', f'--cache={cache}']


def compile():
    """Compiles, compares the product, and tells whether the code came from the cache."""
    run = subprocess.run(command('app'), stderr=subprocess.PIPE, text=True, check=True)
    assert (home / 'app').read_bytes() == product, 'the product is another one'
    hit, miss = 'found-1-of-1' in run.stderr, 'found-0-of-1' in run.stderr
    assert hit != miss, run.stderr
    return hit


def entries():
    """All but folders."""
    return sorted(path for path in cache.rglob('*') if path.is_file())


def check_damage():
    """Whatever is wrong with an entry, it is made anew."""
    assert not compile() and compile()
    [entry] = entries()
    good = entry.read_bytes()
    flipped = good[:len(good) // 2] + bytes([good[len(good) // 2] ^ 1]) + good[len(good) // 2 + 1:]
    for what, bad in [('flipped bit', flipped), ('flipped end', good[:-1] + bytes([good[-1] ^ 1])), ('cut', good[:-1]),
                      ('longer', good + b'\0'), ('empty', b''), ('head only', good[:60]), ('other', b'\x7fELF' * 9999)]:
        entry.write_bytes(bad)
        assert not compile(), f'a damaged entry was used: {what}'
        assert entry.read_bytes() == good, what
        assert compile(), what
    entry.unlink()
    os.mkfifo(entry)
    assert not compile(), 'a pipe in the place of an entry'
    assert entry.read_bytes() == good
    renamed = entry.with_name('0' * 64 + '.code')
    entry.rename(renamed)
    shutil.copy(renamed, entry)
    assert compile()
    entry.write_bytes(good.replace(entry.stem.encode(), b'0' * 64))
    assert not compile(), 'the entry of another key was used'


def check_bound():
    """The entries that were not used for longest go when a folder has more than its 4 MiB; other files stay."""
    [entry] = [path for path in entries() if path.stem != '0' * 64]
    for name, days in [('old.code', 3), ('older.partial', 4), ('recent.code', 1), ('note.txt', 5)]:
        with open(entry.with_name(name), 'wb') as file:
            file.truncate(2400 << 10)
        time = entry.stat().st_mtime - days * 86400
        os.utime(entry.with_name(name), (time, time))
    assert compile() and len(entries()) == 6, 'a hit removes nothing'
    entry.unlink()
    assert not compile()
    left = [path.name for path in entries()]
    assert left == sorted([entry.name, '0' * 64 + '.code', 'note.txt', 'recent.code']), left


def check_sharing():
    """Processes that make the same entry at the same time leave one, and all get the same product."""
    shutil.rmtree(cache)
    processes = [subprocess.Popen(command(f'app{i}'), stderr=subprocess.DEVNULL) for i in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    for i in range(3):
        assert (home / f'app{i}').read_bytes() == product
    assert len(entries()) == 1, entries()


def check_owner():
    """Entries are code: what others may write, or have put there, is not used."""
    [entry] = entries()
    folder, moved = entry.parent, cache / 'moved'
    assert compile() and entry.stat().st_mode & 0o077 == 0 and folder.stat().st_mode & 0o077 == 0
    for path, mode in (folder, 0o777), (folder, 0o770), (entry, 0o666), (entry, 0o660):
        before = path.stat().st_mode
        path.chmod(mode)
        assert not compile(), f'{path} has the mode {mode:o}'
        path.chmod(before)
        assert compile()
    if os.geteuid() == 0:
        for path in folder, entry:
            os.chown(path, 12345, 12345)
            assert not compile(), f'{path} belongs to another user'
            os.chown(path, 0, 0)
    folder.rename(moved)
    folder.symlink_to(moved)
    assert not compile(), 'a link was followed to a folder'
    folder.unlink()
    moved.rename(folder)
    entry.rename(home / 'elsewhere')
    entry.symlink_to(home / 'elsewhere')
    assert not compile() and not entry.is_symlink(), 'a link was followed to an entry'


home.mkdir(parents=True)
check_damage()
check_bound()
check_sharing()
check_owner()
