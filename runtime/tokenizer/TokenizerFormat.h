// SPDX-License-Identifier: Apache-2.0
// CONTRACT between compiler and runtime: the tokenizer section, a tokenizer.json translated to tables and small
// programs.
//
// The section needs nothing but itself: character properties are embedded as ranges, regular expressions as
// instructions, normal forms as tables. Encoding a text runs these stages:
//
//   text --added tokens--> pieces --normalizers--> pieces --normalized added tokens--> pieces
//        --preTokenizers--> words --model--> ids --single | pair template--> ids
//
// and decoding maps ids to token texts and runs `decoders` over that list. Stages are lists of Op; nested sequences of
// tokenizer.json are flattened, and components that differ in name only (Digits, Punctuation, Whitespace, ...) become
// the same Op with another pattern.
//
// All integers are little-endian. A Slice counts elements from a byte offset of the section that is a multiple of the
// element's alignment; the section itself begins at a multiple of 8. A reader must treat every field as untrusted.
#pragma once

#include <cstdint>

namespace talc::tokenizer {

constexpr char sectionMagic[8] = {'T', 'A', 'L', 'C', 'T', 'O', 'K', '1'};
constexpr uint32_t formatVersion = 3;
constexpr uint32_t languageVersion = 4;     // the same, and a LanguageSlice follows the header
constexpr uint32_t none = 0xFFFFFFFF;       // no such index, id or root
constexpr uint32_t unlimited = 0xFFFFFFFF;  // a repetition without upper bound
constexpr uint32_t maxTokenBytes = 65536;   // of the longest token, and of the longest key of a trie: bounds its depth
constexpr uint32_t maxPatternDepth = 64;    // nesting of looks and atomic groups

struct Slice {
  uint32_t offset;  // bytes from the start of the section
  uint32_t count;   // elements
};

// UTF-8 bytes (or, where said, raw bytes) of Header::pool.
struct Text {
  uint32_t offset;  // from the start of the pool
  uint32_t size;    // bytes
};

enum TokenFlag : uint32_t {
  tokenPresent = 1,      // the id exists; ids of a padded vocabulary may not, nor those of pieces that become unknown
  tokenSpecial = 2,      // left out by decode(skipSpecial), matched by encode(parseSpecial) only
  tokenSingleWord = 4,   // added tokens: match only between non-word characters
  tokenStripLeft = 8,    // added tokens: also take the whitespace before the match ...
  tokenStripRight = 16,  // ... and after it
  tokenAdded = 32,       // matched in the text before pre-tokenization
  tokenNormalized = 64,  // added tokens: the normalized spelling is matched in the normalized text
};

// One vocabulary entry; its index is its id.
struct Token {
  Text text;  // as tokenizer.json spells it
  uint32_t flags;
};

// Byte tries over pool strings: several roots share one node array. A node's children are contiguous, sorted by label,
// and stand behind it in the array, which makes a trie finite by construction.
struct TrieNode {
  uint32_t firstChild;
  uint16_t childCount;
  uint8_t label;  // byte on the edge that leads here
  uint8_t zero;
  uint32_t value;  // token id or replacement index of the key that ends here, or none
};

// Merges of one left token, sorted by `right`; mergeFirst[left] .. mergeFirst[left + 1] delimits them.
struct Merge {
  uint32_t right;
  uint32_t rank;    // smaller merges first
  uint32_t result;  // token id
};

// Code points first..last, both included.
struct Range {
  uint32_t first, last;
};

struct CharSet {
  uint32_t ascii[4];                // bit c of the 128: whether c belongs to the set
  uint32_t firstRange, rangeCount;  // sorted, disjoint, complete (ASCII included)
};

// Instructions of the backtracking matcher: leftmost match, alternatives in order. x, y, z by kind:
enum class Match : uint32_t {
  Accept,           // the program, or the body of a look or atomic group, has matched
  Set,              // one character of set x
  Span,             // greedy run of set x, y to z characters, given back one by one
  LazySpan,         // the same, shortest first
  PossessiveSpan,   // the same, nothing given back
  Split,            // try x, then y (instruction indices relative to the program)
  Jump,             // to x
  Ahead,            // body pc+1 up to its Accept must match here; go on at x where the look began
  NotAhead,         // must not match
  Behind,           // z characters back the body must match; go on at x
  NotBehind,        // must not
  Atomic,           // run the body, forget its alternatives, go on at x behind it
  LineBegin,        // ^
  LineEnd,          // $
  TextBegin,        // \A
  TextEnd,          // \z
  TextEndNewline,   // \Z
  WordBoundary,     // \b with word set x
  NotWordBoundary,  // \B with word set x
};

struct Instruction {
  uint32_t match;  // Match
  uint32_t x, y, z;
};

// Programs are slices of Header::instructions.
struct Pattern {
  uint32_t firstInstruction, instructionCount;
};

// Character mapping over first..last; characters of no range stay. Ranges are sorted and disjoint.
enum class MapKind : uint32_t {
  Delete,
  Constant,  // becomes code point `value`
  Shift,     // becomes c + (int32_t)value
  Surround,  // becomes ' ' c ' '
  Expand,    // becomes expansion `value`
};
struct CharMapping {
  uint32_t first, last;
  uint32_t kind;  // MapKind
  uint32_t value;
};
struct CharMap {
  uint32_t firstMapping, mappingCount;
};

// Unicode normal forms: full decompositions and primary composites, sorted by `character` / (first, second). Hangul is
// computed. A table that no normalizer needs is empty.
struct Decomposition {
  uint32_t character;
  uint32_t firstCodePoint, codePointCount;  // of Header::codePoints
};
struct Composition {
  uint32_t first, second, composite;
};
// Sorted, disjoint; `value` is a combining class, a script, or a GraphemeClass.
struct ValueRange {
  uint32_t first, last, value;
};

// Values of Header::graphemes (UAX #29); characters of no range are Other.
enum class GraphemeClass : uint32_t {
  Other,
  Cr,
  Lf,
  Control,
  Extend,
  L,
  V,
  T,
  Lv,
  Lvt,
  RegionalIndicator,
  SpacingMark,
  Prepend,
  Zwj,
  Pictographic
};

enum class Behavior : uint32_t { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

enum class NormalForm : uint32_t { Nfd, Nfc, Nfkd, Nfkc };

// Operations on pieces of text (normalizers and pre-tokenizers); fields by kind:
enum class TextOp : uint32_t {
  Prepend,        // `text` before a non-empty piece
  PrependUnless,  // `text` unless the piece begins with it; a = 1: only the piece at the very beginning
  Replace,        // matches of pattern a become `text`
  MapChars,       // CharMap a
  Normalize,      // NormalForm a
  Strip,          // set b at both ends: a & 1 left, a & 2 right
  MapBytes,       // each byte becomes a character of the byte-level alphabet
  Charsmap,       // SentencePiece rules: trie root a, values are expansions; b = 0: graphemes decide what is replaced,
                  // b = 1: at every place the longest rule counts
  Split,          // at matches of pattern a; b = Behavior + 16 if matches and gaps swap roles
  SplitLength,    // pieces of a characters
  SplitScripts,   // where Header::scripts changes; 0 (also: no range) joins either side
};

// Operations on the list of token texts.
enum class DecodeOp : uint32_t {
  Replace,       // in each token, matches of pattern a become `text`
  ByteLevel,     // inverse of MapBytes, joins all tokens; invalid UTF-8 becomes U+FFFD
  ByteFallback,  // runs of <0xHH> become bytes, or one U+FFFD per byte if the run is not UTF-8
  Fuse,          // joins all tokens
  Strip,         // up to a times `text` from the beginning, b times from the end of each token
  Metaspace,     // `text` becomes ' '; a = 1: dropped in the first token
  WordPiece,     // continuation prefix `text` removed, other tokens get ' ' before; a = 1: cleanup of punctuation
  Suffix,        // `text` becomes ' ', in the last token nothing
  Ctc,           // repeated tokens once, `text` (pad) removed; a = 1: cleanup, `other` (delimiter) becomes ' '
  Join,          // joins all tokens with `text`
};

struct Op {
  uint32_t kind;  // TextOp or DecodeOp
  uint32_t a, b;
  Text text, other;
};

enum class ModelKind : uint32_t { Bpe = 1, WordPiece = 2, Unigram = 3, WordLevel = 4 };

enum ModelFlag : uint32_t {
  modelByteFallback = 1,  // characters outside the vocabulary become byteTokens if all their bytes have one
  modelFuseUnknown = 2,   // BPE: adjacent unknown characters become one token
  modelIgnoreMerges = 4,  // BPE: a word of the vocabulary is one token
  modelDropUnknown = 8,   // BPE without unknown token: unknown characters vanish
  modelFloatScores = 16,  // Unigram: sums of scores are floats, as in SentencePiece; decides between equals
};

struct Model {
  uint32_t kind;  // ModelKind
  uint32_t flags;
  uint32_t unknown;          // token id or none
  uint32_t maxWordLength;    // WordPiece: characters; longer words are unknown
  uint32_t pieces;           // trie root: token text -> id; Unigram: also pieces without a token, which are unknown
  uint32_t continuations;    // WordPiece: trie root of what follows the continuation prefix, or none
  Text prefix;               // BPE: before every character of a word but the first
  Text suffix;               // BPE: after the last character of a word
  uint32_t byteTokens[256];  // ids of <0xHH>, or none
};

// Post-processing: token id `value`, one of the two sequences, or the token of the text's language, which is `value`
// unless the caller names another language.
enum class ItemKind : uint32_t { Token, SequenceA, SequenceB, Language };
struct TemplateItem {
  uint32_t kind;  // ItemKind
  uint32_t value;
  uint32_t type;  // token type id
};

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sectionSize;
  Slice pool;               // uint8_t
  Slice tokens;             // Token
  Slice targets;            // Token, what ids mean in decoding; empty: the same as in texts that are encoded
  Slice scores;             // double per token, Unigram only; behind the tokens those of pieces without a token
  Slice trie;               // TrieNode
  Slice mergeFirst;         // uint32_t, tokens.count + 1 of them, BPE only
  Slice merges;             // Merge
  Slice ranges;             // Range
  Slice sets;               // CharSet
  Slice instructions;       // Instruction
  Slice patterns;           // Pattern
  Slice mappings;           // CharMapping
  Slice maps;               // CharMap
  Slice expansions;         // Text
  Slice codePoints;         // uint32_t
  Slice canonical;          // Decomposition
  Slice compatible;         // Decomposition, those that differ from canonical
  Slice compositions;       // Composition
  Slice combining;          // ValueRange, combining classes above 0
  Slice graphemes;          // ValueRange, GraphemeClass
  Slice scripts;            // ValueRange
  Slice normalizers;        // Op of TextOp
  Slice preTokenizers;      // Op of TextOp
  Slice decoders;           // Op of DecodeOp
  Slice single;             // TemplateItem
  Slice pair;               // TemplateItem
  uint32_t whitespace;      // CharSet index: White_Space
  uint32_t wordCharacters;  // CharSet index: \w, or none if no token asks for it
  double unknownScore;      // Unigram: of one unknown character
  Model model;
};

// A language of a model that translates.
struct Language {
  Text name;
  uint32_t token;  // says in a text what language it is in
};
using LanguageSlice = Slice;

static_assert(sizeof(TrieNode) == 12 && sizeof(Op) == 28 && sizeof(Header) % 8 == 0, "the layout is a contract");

}  // namespace talc::tokenizer
