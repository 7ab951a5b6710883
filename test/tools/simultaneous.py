# SPDX-License-Identifier: Apache-2.0
# simultaneous.py FOLDER COMMAND... -- COMMAND... [-- ...]: starts all commands at once, several times; each writes to
# FOLDER/output. All must succeed, nothing but the output may be left in the folder, and it must be what one of the
# commands writes when it is alone.
import os
import subprocess
import sys

ROUNDS = 4


def split_commands(arguments):
    commands = [[]]
    for argument in arguments:
        if argument == "--":
            commands.append([])
        else:
            commands[-1].append(argument)
    return commands


def take(path):
    with open(path, "rb") as file:
        data = file.read()
    os.remove(path)
    return data


def main():
    folder, commands = sys.argv[1], split_commands(sys.argv[2:])
    os.makedirs(folder, exist_ok=True)
    output = os.path.join(folder, "output")
    alone = []
    for command in commands:
        subprocess.run(command, check=True)
        alone.append(take(output))
    assert len(set(alone)) == len(alone), "the commands write the same"
    for _ in range(ROUNDS):
        running = [subprocess.Popen(command) for command in commands for _ in range(2)]
        assert [process.wait() for process in running] == [0] * len(running)
        assert os.listdir(folder) == ["output"], os.listdir(folder)
        assert take(output) in alone, "a mixture of several"


main()
