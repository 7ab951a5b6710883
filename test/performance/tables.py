# SPDX-License-Identifier: Apache-2.0
"""tables.py [--check | --html FILE]: writes the tables of measurements in the documents from the files in results/; or says
which differ; or renders all results to one page.

A file of results begins with lines `# key: value` (what, cpu, date, commit, command, remark), then comes CSV. A document
says between which lines a table stands, and what of a file it shows:

  <!-- results: models-zen4 -->                                           all of it
  <!-- results: experiments where kept=no show topic,change -->           some rows, some columns
  <!-- results: engines where threads=2 by work over engine show ms -->   a row for each work, a column for each engine;
  ...                                                                     behind talc's value how many times it the others' is
  <!-- end -->
"""
import csv
import html
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENTS = ['README.md', 'docs/performance.md']
BLOCK = re.compile(r'(<!-- results: (.*?) -->\n).*?(<!-- end -->)', re.DOTALL)


def read(name):
    """(dictionary of what is said about the results, list of rows as dictionaries)"""
    lines = (HERE / 'results' / f'{name}.csv').read_text().splitlines()
    facts = dict(line[2:].split(': ', 1) for line in lines if line.startswith('# '))
    return facts, list(csv.DictReader(line for line in lines if not line.startswith('# ')))


def parse(words):
    """The clauses of a line: {'where': text, 'show': text, ...}"""
    return dict(re.findall(r'(where|show|by|over) (.*?)(?= (?:where|show|by|over) |$)', words))


def wanted(row, conditions):
    return all(re.fullmatch(value, row[key]) for key, value in (part.split('=', 1) for part in conditions.split(' and ')))


def pivot(rows, keys, column, value):
    """A row for each combination of keys; the first of the columns is what the others are compared with."""
    heads = list(dict.fromkeys(row[column] for row in rows))
    cells = {}
    for row in rows:
        cells.setdefault(tuple(row[key] for key in keys), {})[row[column]] = row[value]
    yield keys + [f'{heads[0]}, {value}'] + heads[1:]
    for key, found in cells.items():
        base = float(found[heads[0]])
        others = [f'{found[head]} ({float(found[head]) / base:.2f} x)' if head in found else '' for head in heads[1:]]
        yield [*key, f'**{found[heads[0]]}**', *others]


def table(words):
    name, _, rest = words.partition(' ')
    clauses = parse(rest)
    facts, rows = read(name)
    rows = [row for row in rows if 'where' not in clauses or wanted(row, clauses['where'])]
    if 'over' in clauses:
        lines = list(pivot(rows, clauses['by'].split(','), clauses['over'], clauses['show']))
    else:
        heads = clauses['show'].split(',') if 'show' in clauses else list(rows[0])
        lines = [heads] + [[row[head] for head in heads] for row in rows]
    lines.insert(1, ['---'] * len(lines[0]))
    text = ''.join('| ' + ' | '.join(line) + ' |\n' for line in lines)
    patterns = {'cpu': '{}', 'date': '{}', 'commit': 'commit {}', 'command': '`{}`', 'remark': '{}'}
    said = '; '.join(pattern.format(facts[key]) for key, pattern in patterns.items() if key in facts)
    return text + (f'\n({said})\n' if said else '')


def page():
    """All results, a table each, with an index."""
    names = sorted(path.stem for path in (HERE / 'results').glob('*.csv'))
    index, tables = [], []
    for name in names:
        facts, rows = read(name)
        index.append(f'<li><a href="#{name}">{name}</a>: {html.escape(facts.get("what", ""))}')
        notes = ''.join(f'<br>{key}: {html.escape(value)}' for key, value in facts.items() if key != 'what')
        lines = [list(rows[0])] + [list(row.values()) for row in rows] if rows else []
        cells = ''.join('<tr>' + ''.join(f'<td>{html.escape(cell or "")}' for cell in line) for line in lines)
        tables.append(f'<h2 id="{name}">{name}</h2><p>{html.escape(facts.get("what", ""))}{notes}<table>{cells}</table>')
    style = 'body{font:14px sans-serif;margin:2em}td{border:1px solid #ccc;padding:2px 6px}tr:first-child{font-weight:bold}'
    return (f'<!doctype html><meta charset="utf-8"><title>talc: results</title><style>{style}table{{border-collapse:collapse}}'
            f'</style><h1>Measurements</h1><ul>{"".join(index)}</ul>{"".join(tables)}\n')


def main(check):
    different = []
    for name in DOCUMENTS:
        path = ROOT / name
        old = path.read_text()
        new = BLOCK.sub(lambda block: block[1] + table(block[2]) + block[3], old)
        if new != old:
            different.append(name)
            if not check:
                path.write_text(new)
    for name in different:
        print(f'{name}: {"does not follow from test/performance/results; run ./dev docs" if check else "written"}')
    return 1 if check and different else 0


if __name__ == '__main__':
    if sys.argv[1:2] == ['--html']:
        pathlib.Path(sys.argv[2]).write_text(page())
    else:
        sys.exit(main(sys.argv[1:] == ['--check']))
