// SPDX-License-Identifier: Apache-2.0
// Writes UnicodeData.cpp from npm packages that hold the files of unicode.org:
//   npm install @unicode/unicode-{8,9,15,16,17}.0.0 && node UnicodeData.mjs node_modules/@unicode > UnicodeData.cpp
import fs from 'fs';
import path from 'path';
import { pathToFileURL } from 'url';

const folder = path.resolve(process.argv[2]);
const lastCodePoint = 0x10ffff;
const shortNames = {
  Unassigned: 'Cn', Uppercase_Letter: 'Lu', Lowercase_Letter: 'Ll', Titlecase_Letter: 'Lt', Modifier_Letter: 'Lm',
  Other_Letter: 'Lo', Nonspacing_Mark: 'Mn', Spacing_Mark: 'Mc', Enclosing_Mark: 'Me', Decimal_Number: 'Nd',
  Letter_Number: 'Nl', Other_Number: 'No', Connector_Punctuation: 'Pc', Dash_Punctuation: 'Pd', Open_Punctuation: 'Ps',
  Close_Punctuation: 'Pe', Initial_Punctuation: 'Pi', Final_Punctuation: 'Pf', Other_Punctuation: 'Po',
  Math_Symbol: 'Sm', Currency_Symbol: 'Sc', Modifier_Symbol: 'Sk', Other_Symbol: 'So', Space_Separator: 'Zs',
  Line_Separator: 'Zl', Paragraph_Separator: 'Zp', Control: 'Cc', Format: 'Cf', Surrogate: 'Cs', Private_Use: 'Co',
};

async function load(version, ...names) {
  const file = path.join(folder, `unicode-${version}.0.0`, ...names);
  return (await import(pathToFileURL(file))).default;
}

// "41-5a aa" in lines of string literals.
function writeRanges(codePoints) {
  const ranges = [];
  for (const c of codePoints) {
    const last = ranges[ranges.length - 1];
    if (last && last[1] + 1 === c)
      last[1] = c;
    else
      ranges.push([c, c]);
  }
  const words = ranges.map(([first, last]) => first.toString(16) + (last > first ? '-' + last.toString(16) : ''));
  const lines = [''];
  for (const word of words) {
    if (lines[lines.length - 1].length + word.length > 90)
      lines.push('');
    lines[lines.length - 1] += (lines[lines.length - 1] || lines.length > 1 ? ' ' : '') + word;
  }
  return lines.map(line => `"${line}"`).join('\n   ');
}

async function writeChanges(before, version) {
  const [old, now] = [await load(before, 'General_Category', 'index.mjs'),
                      await load(version, 'General_Category', 'index.mjs')];
  const groups = new Map();
  for (let c = 0; c <= lastCodePoint; ++c) {
    const [from, to] = [shortNames[old.get(c) ?? 'Unassigned'], shortNames[now.get(c) ?? 'Unassigned']];
    if (from === to)
      continue;
    const key = `${from}", "${to}`;
    groups.set(key, [...(groups.get(key) ?? []), c]);
  }
  for (const key of [...groups.keys()].sort())
    console.log(`  {${version}, "${key}", ${writeRanges(groups.get(key))}},`);
}

async function writeLowercase(before, version) {
  const [old, now] = [await load(before, 'Simple_Case_Mapping', 'Lowercase', 'code-points.mjs'),
                      await load(version, 'Simple_Case_Mapping', 'Lowercase', 'code-points.mjs')];
  const rows = [];
  for (const [c, lower] of [...now].sort((l, r) => l[0] - r[0])) {
    if (old.get(c) === lower)
      continue;
    const last = rows[rows.length - 1];
    if (last && last.last + 1 === c && lower - c === last.lower - last.first)
      last.last = c;
    else
      rows.push({ first: c, last: c, lower });
  }
  for (const { first, last, lower } of rows)
    console.log(`  {${version}, ${[first, last, lower].map(c => '0x' + c.toString(16)).join(', ')}},`);
}

async function writeScripts(version) {
  for (const name of fs.readdirSync(path.join(folder, `unicode-${version}.0.0`, 'Script')).sort()) {
    if (name === 'Unknown')
      continue;
    const codePoints = await load(version, 'Script', name, 'code-points.mjs');
    console.log(`  {"${name.toLowerCase().replaceAll('_', '')}", ${writeRanges(codePoints)}},`);
  }
}

console.log(`// SPDX-License-Identifier: Apache-2.0
// Facts of several versions of Unicode that utf8proc does not have; written by UnicodeData.mjs.
#include "frontends/tokenizer/unicode/UnicodeData.h"

namespace talc::frontend {

// clang-format off
const std::vector<CategoryChange> categoryChanges = {`);
for (const [before, version] of [[8, 9], [9, 15], [15, 16], [16, 17]])
  await writeChanges(before, version);
console.log(`};

const std::vector<LowercaseChange> lowercaseChanges = {`);
for (const [before, version] of [[15, 16], [16, 17]])
  await writeLowercase(before, version);
console.log(`};

const std::vector<Script> scripts = {`);
await writeScripts(16);
console.log(`};
// clang-format on

}  // namespace talc::frontend`);
