# SPDX-License-Identifier: Apache-2.0
"""cli_reference.py TALC LAUNCHER FILE: writes docs/cli.md from what --help prints.

A section for talc, one for each of its subcommands, and one for the programs that it makes: LAUNCHER, which is one without
a model, lists what all of them can do."""
import pathlib
import re
import sys

from manual_pages import output, split

HEAD = """# Command line

`./dev docs` makes this page from `--help`.
"""


def escape(text):
    return re.sub(r'([|<>*_\\])', r'\\\1', text)


def parseItems(lines):
    """(name, values, meaning) of options, arguments or commands; a line that is further in continues the one above it."""
    items = []
    for line in lines:
        item = re.match(r'  (-\S+|\S+)(?: (?:TEXT|U?INT|FLOAT|LIST|FILE)\b(?::(?P<values>\{[^}]*\}|\w+ in \[[^]]*\]))?(?: REQUIRED| \.\.\.)*)?'
                        r'(?: +(?P<meaning>.*))?$', line)
        if item and not line.startswith('   '):
            values = re.sub(r'^\w+ in \[(\S+) - (\S+)\]$', r'\1 to \2', item['values'] or '').strip('{}').replace(',', ', ')
            items.append([item[1], values, item['meaning'] or ''])
        elif line.strip() and items:
            items[-1][2] = (items[-1][2] + ' ' + line.strip()).strip()
    return items


def section(title, lines):
    """Options and arguments become tables; everything else stays as it was laid out."""
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        return
    if title in ('Options', 'Positionals', 'Subcommands'):
        end = next((i for i, line in enumerate(lines) if line and not line.startswith(' ')), len(lines))
        items = parseItems(lines[:end])
        hasValues = any(values for _, values, _ in items)
        yield '| ' + {'Options': 'option', 'Positionals': 'argument', 'Subcommands': 'command'}[title] + ' |' + ' values |' * hasValues + ' |'
        yield '|---|---|' + '---|' * hasValues
        for name, values, meaning in items:
            yield f'| `{name}` |' + f' {escape(values)} |' * hasValues + f' {escape(meaning)} |'
        yield from ['', *section('', lines[end:])]
        return
    elif any(line.startswith(' ') for line in lines):
        yield from [*([f'{title}:', ''] if title else []), '```text', *lines, '```']
    else:
        yield from lines
    yield ''


def page(name, text):
    """The section of a command whose help begins with a sentence and `Usage: ...`."""
    summary, _, rest = text.partition('\n')
    yield from [f'## {name}', '', summary[:1].upper() + summary[1:].rstrip('.') + '.', '']
    usage = re.search(r'^Usage: (.*)$', rest, re.MULTILINE)
    if usage:
        yield from [f'    {usage[1]}', '']
        rest = rest.replace(usage[0], '', 1)
    for title, lines in split(rest):
        yield from section(title, lines)


def program(launcher):
    return output(launcher, '--help').replace(launcher, './app')


def main(talc, launcher, file):
    text = output(talc, '--help')
    commands = re.findall(r'^  (\w+) ', text.partition('\nSubcommands:\n')[2].partition('\n\n')[0], re.MULTILINE)
    lines = [HEAD, *page('talc', text)]
    for command in commands:
        lines += page(f'talc {command}', output(talc, command, '--help'))
    lines += ['## Compiled models', '', '```text', program(launcher).rstrip(), '```']
    pathlib.Path(file).write_text('\n'.join(lines).rstrip() + '\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
