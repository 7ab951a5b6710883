# SPDX-License-Identifier: Apache-2.0
"""check_notes.py APP FOLDER: checksums of weights and stub are compared once, and damage is found all the same."""
import os
import pathlib
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "artifact"))
import artifact  # noqa: E402

app, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
notes = folder / "checked"
time.sleep(max(0, app.stat().st_ctime + 1.1 - time.time()))  # of a file that was changed a moment ago nothing is noted


def opens(*options, damaged="'weights'", **variables):
    done = subprocess.run([app, "--ids", "5", "-n", "1", "-q", *options], capture_output=True, text=True,
                          env={**os.environ, "TALC_CACHE": str(folder), **variables})
    assert done.returncode == 0 or "error[T0403]: " in done.stderr and damaged in done.stderr, done.stderr
    return done.returncode == 0


def damage(place):
    facts, data = app.stat(), bytearray(app.read_bytes())
    data[place] ^= 1
    app.write_bytes(data)
    os.utime(app, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def forge(note, text):
    """A note that says that the file is good as it is."""
    words = text.split(" ")
    words[2] = str(app.stat().st_ctime_ns)
    note.unlink(missing_ok=True)
    note.write_text(" ".join(words))
    note.chmod(0o600)


assert opens("--no-check") and opens(TALC_CACHE="off") and not folder.exists()
assert opens() and opens()
note, = notes.iterdir()
assert notes.stat().st_mode & 0o777 == 0o700 and note.stat().st_mode & 0o777 == 0o600
good = note.read_text()

content, weights = app.read_bytes(), artifact.read_sections(app)["weights"]
damage(content.find(weights) + len(weights) // 2)
assert not opens() and note.read_text() == good
forge(note, good)
assert opens(), "a note changes nothing"
note.chmod(0o666)
assert not opens(), "others may have written the note"
forge(note, good)
notes.chmod(0o777)
assert not opens(), "others may have put the note there"
notes.chmod(0o700)
if os.geteuid() == 0:
    os.chown(note, 65534, 65534)
    assert not opens(), "the note is another user's"
forge(folder / "elsewhere", good)
note.unlink()
note.symlink_to(folder / "elsewhere")
assert not opens(), "a link was followed"
note.unlink()
os.mkfifo(note, 0o600)
assert not opens()
note.unlink()
note.mkdir()
assert not opens() and opens("--no-check")

app.write_bytes(content)
damage(content.find(b"a text per line"))  # in the constants of the program
assert not opens(damaged="the runtime") and opens("--no-check")
