# SPDX-License-Identifier: Apache-2.0
# Beam search as Hugging Face's generate() does it, in plain float64 Python, and a comparison with the runtime's.
#
# usage: beam_search.py PROGRAM FOLDER CASES   PROGRAM is runtime-checks; exits with 1 when a result differs
#
# Written from the behaviour of transformers 4.50 and later (generation/utils.py, _beam_search): all sequences have a
# fixed number of beams, those that do not exist have the score -1e9, and finished ones compete in a list of that size.
import math
import os
import random
import subprocess
import sys

MISSING = -1.0e9
NO, YES, NEVER = 0, 1, 2
NO_RULES = {"penalty": 1, "begin": -1, "end": -1, "suppress": [], "beginSuppress": [], "renormalize": False,
            "groups": [], "ngram": 0, "minLength": 0, "minNew": 0}


def logSoftmax(logits):
    highest = max(logits)
    total = math.log(math.fsum(math.exp(x - highest) for x in logits))
    return [x - highest - total for x in logits]


def process(scores, text, rules, ends, promptLength, maxLength):
    """The logits processors, in their order."""
    scores = list(scores)
    if rules["penalty"] != 1:
        for token in set(text):
            s = scores[token]
            scores[token] = s * rules["penalty"] if s < 0 else s / rules["penalty"]
    size = rules["ngram"]
    if size > 0 and len(text) + 1 >= size:
        seen = {}
        for i in range(len(text) - size + 1):
            seen.setdefault(tuple(text[i:i + size - 1]), []).append(text[i + size - 1])
        for token in seen.get(tuple(text[len(text) - size + 1:]), []):
            scores[token] = -math.inf
    for group in rules["groups"]:
        if len(text) >= len(group) and tuple(text[len(text) - len(group) + 1:]) == tuple(group[:-1]):
            scores[group[-1]] = -math.inf
    if len(text) < max(rules["minLength"], promptLength + rules["minNew"]):
        for token in ends:
            scores[token] = -math.inf
    for token, due in ((rules["begin"], len(text) == 1), (rules["end"], len(text) == maxLength - 1)):
        if token >= 0 and due:
            scores = [0.0 if i == token else -math.inf for i in range(len(scores))]
    for token in rules["suppress"]:
        scores[token] = -math.inf
    first = promptLength if promptLength > 1 or rules["begin"] < 0 else promptLength + 1
    if len(text) == first:
        for token in rules["beginSuppress"]:
            scores[token] = -math.inf
    return logSoftmax(scores) if rules["renormalize"] and max(scores) > -math.inf else scores


def search(model, prompt, beams, lengthPenalty, early, ends, limit, rules):
    """model(texts) -> logits of each. Returns [(score, new tokens)], the best first."""
    maxLength = len(prompt) + limit
    running = [(0.0 if b == 0 else MISSING, list(prompt)) for b in range(beams)]
    finished = [(MISSING, [], False)] * beams
    keep = max(2, 1 + len(ends)) * beams
    improvable, length, rows = True, len(prompt), {}
    while True:
        missing = {tuple(text): None for _, text in running if tuple(text) not in rows}
        for text, logits in zip(missing, model([list(text) for text in missing])):
            rows[text] = process(logSoftmax(logits), list(text), rules, ends, len(prompt), maxLength)
        candidates = []
        for score, text in running:
            candidates += [(score + s, text, token) for token, s in enumerate(rows[tuple(text)])]
        candidates = sorted(candidates, key=lambda c: -c[0])[:keep]  # stable: of equal ones the first
        hits = [length + 1 >= maxLength or token in ends for _, _, token in candidates]
        order = sorted(range(len(candidates)), key=lambda i: -(candidates[i][0] + (MISSING if hits[i] else 0)))
        running = [(candidates[i][0] + (MISSING if hits[i] else 0), candidates[i][1] + [candidates[i][2]])
                   for i in order[:beams]]
        divisor = (length + 1 - len(prompt)) ** lengthPenalty
        full = early == YES and all(done for _, _, done in finished)
        merged = list(finished)
        for rank, (score, text, token) in enumerate(candidates):
            done = hits[rank] and rank < beams
            penalties = full + (not improvable) + (not done)
            merged.append((score / divisor + MISSING * penalties, text + [token], done))
        finished = sorted(merged, key=lambda f: -f[0])[:beams]
        length += 1
        best = (maxLength if early == NEVER and lengthPenalty > 0 else length) - len(prompt)
        worst = min(score for score, _, _ in finished)
        improvable = improvable and any(running[0][0] / best ** lengthPenalty > (worst if done else MISSING)
                                        for _, _, done in finished)
        allDone = all(done for _, _, done in finished)
        if not improvable or (early == YES and allDone) or all(hits):
            exists = [done and score > MISSING / 100 for score, _, done in finished]
            return [(score, text[len(prompt):]) for (score, text, _), real in zip(finished, exists) if real]


LEVELS, WIDTH = 16, 4  # a state of each level leads to one of the next: no sum of scores occurs in two orders


def makeTable(generator):
    vocabulary, states = generator.randint(24, 40), LEVELS * WIDTH
    spread = generator.choice([1.0, 3.0, 6.0])
    rows = [[round(generator.gauss(0, spread) * 1024) / 1024 for _ in range(vocabulary)] for _ in range(states)]
    for row in rows:  # ties
        if generator.random() < 0.3:
            row[generator.randrange(vocabulary)] = row[generator.randrange(vocabulary)]
    following = [[(state // WIDTH * WIDTH + WIDTH + generator.randrange(WIDTH)) % states for _ in range(vocabulary)]
                 for state in range(states)]
    return rows, following


def makeCase(seed):
    generator = random.Random(seed)
    rows, following = makeTable(generator)
    vocabulary = len(rows[0])
    pick = lambda count: generator.sample(range(vocabulary), count)
    ends = pick(generator.choice([0, 1, 1, 1, 2, 3]))
    favour = generator.choice([0, 2, 4])
    for row in rows:
        for token in ends:
            row[token] += favour
    begin, end = generator.choice([-1, -1, pick(1)[0]]), generator.choice([-1, -1, (ends + [0])[0]])
    rules = {
        "ngram": generator.choice([0, 0, 1, 2, 3]),
        "penalty": generator.choice([1, 1, 1.25, 0.75]),
        "begin": -1 if begin in ends else begin,
        "end": end,
        "renormalize": generator.random() < 0.3,
        "groups": [pick(generator.choice([2, 2, 3])) for _ in range(generator.choice([0, 0, 20]))],
        "suppress": [token for token in pick(generator.choice([0, 0, 1, 3])) if token not in (begin, end)],
        "beginSuppress": [token for token in pick(generator.choice([0, 0, 1, 8])) if token not in (begin, end)],
        "minLength": generator.choice([0, 0, 3, 7]),
        "minNew": generator.choice([0, 0, 2, 4, 20]),
    }
    return {
        "rows": rows, "following": following, "rules": rules, "ends": ends,
        "beams": generator.randint(1, 6),
        "lengthPenalty": generator.choice([1.0, 1.0, 0.0, 0.6, 2.0, -0.5]),
        "early": generator.choice([NO, YES, NEVER]),
        "limit": generator.choice([1, 2, 3, 6, 10]),
        "prompt": pick(generator.choice([1, 1, 2, 5])),
    }


def flat(values):
    return " ".join(str(value) for row in values for value in row)


def listed(values):
    return " ".join(str(value) for value in [len(values)] + values)


def written(case):
    rules, rows = case["rules"], case["rows"]
    return (f"{case['beams']} {case['lengthPenalty']} {case['early']} {rules['ngram']} {rules['penalty']} "
            f"{rules['begin']} {rules['end']} {int(rules['renormalize'])} {rules['minLength']} {rules['minNew']} "
            f"{case['limit']}\n{listed(case['ends'])}\n{listed(rules['suppress'])}\n{listed(rules['beginSuppress'])}\n"
            f"{listed([number for group in rules['groups'] for number in [len(group)] + group])}\n"
            f"{listed(case['prompt'])}\n{len(rows[0])} {len(rows)}\n{flat(rows)}\n{flat(case['following'])}\n")


def expected(case):
    def follow(text):
        state = 0
        for token in text:
            state = case["following"][state][token]
        return case["rows"][state]

    def model(texts):
        return [follow(text) for text in texts]

    return search(model, case["prompt"], case["beams"], case["lengthPenalty"], case["early"], case["ends"],
                  case["limit"], case["rules"])


def same(got, wanted):
    return len(got) == len(wanted) and all(
        ids == wantedIds and math.isclose(score, wantedScore, rel_tol=1e-10, abs_tol=1e-12)
        for (score, ids), (wantedScore, wantedIds) in zip(got, wanted))


def parse(block):
    lines = [line.split() for line in block.split("\n") if line]
    return [(float(words[0]), [int(word) for word in words[1:]]) for words in lines]


def main(program, folder, count):
    cases = [makeCase(seed) for seed in range(count)]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "cases.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(written(case) for case in cases))
    run = subprocess.run([program, "beams", path], stdout=subprocess.PIPE, text=True)
    blocks = run.stdout.split("\n\n")[:-1]
    wrong = [seed for seed, case in enumerate(cases)
             if seed >= len(blocks) or not same(parse(blocks[seed]), expected(case))]
    for seed in wrong[:5]:
        print(f"case {seed}: {cases[seed]['rules']}\n  expected {expected(cases[seed])}\n  got      {blocks[seed:seed + 1]}")
    print(f"{count - len(wrong)} of {count} beam searches agree")
    return 1 if wrong or run.returncode != 0 or len(blocks) != count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
