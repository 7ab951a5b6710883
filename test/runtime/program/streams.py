# SPDX-License-Identifier: Apache-2.0
"""streams.py APP ENCODER LINES: results come while lines do, and those of a file's first lines come first, though LINES has
them shortest first. APP continues every text with "abc" again and again.
"""
import os
import signal
import subprocess
import sys


def start(*command):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def ask(process, line):
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return process.stdout.readline()


def check_conversation(app):
    process = start(app, "--input", "-", "-n", "4", "-q")
    assert ask(process, b"xab") == b"cabc\n"
    assert ask(process, b"") == b"\n"
    assert ask(process, b"a" * 50) == b"\n"
    assert ask(process, b"b\xff") == b"\n"
    assert ask(process, b"abca\nb\r") == b"bcab\n" and process.stdout.readline() == b"cabc\n"
    process.stdin.write(b"xab")  # without an end
    rest, said = process.communicate()
    assert (rest, process.returncode) == (b"cabc\n", 1), (rest, process.returncode)
    lines = said.decode().splitlines()
    assert [line[:12] for line in lines] == ["error[T0402]", "error[T0409]", "error[T0402]"], lines
    assert "standard input: line 3: has 50 tokens" in lines[0] and ": line 4: text: byte 1 " in lines[1], lines
    assert lines[2].endswith("standard input: 2 of 7 lines cannot be evaluated and have empty results"), lines


def check_interrupt(app):
    process = start(app, "--input", "-", "-n", "4", "-q")
    assert ask(process, b"a") == b"bcab\n"
    process.send_signal(signal.SIGINT)  # while it waits
    assert process.wait(10) == -signal.SIGINT


def check_interrupt_of_file(app, path):
    process = start(app, "--input", path, "-n", "4", "-q")
    process.stdout.readline()
    process.send_signal(signal.SIGINT)  # while it waits for room in the pipe, which has much less than all results
    rest = process.stdout.read().splitlines()  # with what readline has taken of it
    process.wait(10)
    with open(path) as file:
        assert len(rest) < len(file.readlines()) / 2, len(rest)
    assert set(rest) <= {b"abca", b"bcab", b"cabc"} and process.returncode == -signal.SIGINT


def check_many(app):
    text = b"".join(b"%d abc\n" % i for i in range(5000))
    process = start(app, "--input", "-", "-n", "1", "-q")
    assert process.communicate(text) == (b"a\n" * 5000, b"")


def packets(*command):
    """The content of each write of a command."""
    end, given = os.pipe2(os.O_DIRECT)
    process = subprocess.Popen(command, stdout=given)
    os.close(given)
    result = list(iter(lambda: os.read(end, 4096), b""))
    assert process.wait() == 0
    return result


def main():
    app, encoder, lines = sys.argv[1:]
    check_conversation(app)
    check_interrupt(app)
    check_interrupt_of_file(app, lines)
    check_many(app)
    process = start(encoder, "--input", "-", "-q")
    first, second = ask(process, b"one"), ask(process, b"another")
    assert first.count(b"\n") == second.count(b"\n") == 1 and first != second
    assert packets(app, "--ids", "97", "-n", "3", "-q") == [b"98", b",99", b",97", b"\n"]


main()
