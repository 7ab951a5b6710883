# SPDX-License-Identifier: Apache-2.0
"""manual_pages.py TALC TALC_OPT FOLDER: writes manual pages that follow from what --help prints.

A page for talc, one for each of its subcommands, and one for talc-opt."""
import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def escape(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + text if text.startswith(('.', "'")) else text


def section(title, lines):
    """Options become tagged paragraphs; everything else stays as it was laid out."""
    yield f'.SH {title.upper()}'
    if title not in ('Options', 'Positionals', 'Subcommands'):
        yield from ['.nf', *map(escape, lines), '.fi']
        return
    for line in lines:
        item = re.match(r'  (\S.*?)(?:  +(.*))?$', line)
        if item:
            yield from ['.TP', f'\\fB{escape(item[1])}\\fR']
            line = item[2] or ''
        if line.strip():
            yield escape(line.strip())


def split(text):
    """(title, lines) of the parts of a help; a part begins with a line that ends with a colon."""
    title, lines = 'Description', []
    for line in text.splitlines():
        head = re.fullmatch(r'(\w[\w ]*):', line)
        if head:
            yield title, lines
            title, lines = head[1], []
        elif line or lines:
            lines.append(line)
    yield title, lines


def page(name, text):
    """The page of a command whose help begins with a sentence and `Usage: ...`."""
    summary, _, rest = text.partition('\n')
    usage = re.search(r'^Usage: (.*)$', rest, re.MULTILINE)
    lines = [f'.TH {name.upper()} 1 "" "" "talc"', '.SH NAME', escape(f'{name} - {summary.rstrip(".")}')]
    if usage:
        lines += ['.SH SYNOPSIS', escape(usage[1])]
        rest = rest.replace(usage[0], '', 1)
    for title, body in split(rest):
        while body and not body[-1]:
            body.pop()
        if body:
            lines += section(title, body)
    return '\n'.join(lines) + '\n'


def main(talc, opt, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = output(talc, '--help')
    commands = re.findall(r'^  (\w+) ', text.partition('\nSubcommands:\n')[2].partition('\n\n')[0], re.MULTILINE)
    for command in commands:
        (folder / f'talc-{command}.1').write_text(page(f'talc-{command}', output(talc, command, '--help')))
    opt = output(opt, '--help').removeprefix('OVERVIEW: ').partition('\nAvailable Dialects')[0]
    (folder / 'talc-opt.1').write_text(page('talc-opt', opt))
    (folder / 'talc.1').write_text(page('talc', text))  # the last one, which the build waits for


if __name__ == '__main__':
    main(*sys.argv[1:])
