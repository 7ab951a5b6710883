# SPDX-License-Identifier: Apache-2.0
# Draws texts from a model of encoder-decoder.test's kind with many seeds and counts what must or may not occur in them.
#
# usage: drawn.py APP OPTION...   prints how many texts end within 20 tokens, and how many begin with 98 or 99
import subprocess
import sys

ends = begins = 0
for seed in range(40):
    run = subprocess.run([*sys.argv[1:], "--ids", "5", "-n", "20", "--temp", "0.5", "-s", str(seed), "-q"],
                         stdout=subprocess.PIPE, text=True, check=True)
    text = [int(word) for word in run.stdout.split(",")]
    ends += 256 in text
    begins += text[0] in (98, 99)
print(f"ends {ends} begins {begins}")
