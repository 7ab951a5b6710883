// SPDX-License-Identifier: Apache-2.0
// Facts of several versions of Unicode that utf8proc does not have; written by UnicodeData.mjs.
#include "frontends/tokenizer/unicode/UnicodeData.h"

namespace talc::frontend {

// clang-format off
const std::vector<CategoryChange> categoryChanges = {
  {9, "Cn", "Cf", "8e2"},
  {9, "Cn", "Ll", "1c80-1c88 104d8-104fb 1e922-1e943"},
  {9, "Cn", "Lm", "16fe0"},
  {9, "Cn", "Lo", "8b6-8bd c80 d54-d56 11400-11434 11447-1144a 11c00-11c08 11c0a-11c2e 11c40 11c72-11c8f"
   " 17000-187ec 18800-18af2"},
  {9, "Cn", "Lu", "a7ae 104b0-104d3 1e900-1e921"},
  {9, "Cn", "Mc", "11435-11437 11440-11441 11445 11c2f 11c3e 11ca9 11cb1 11cb4"},
  {9, "Cn", "Mn", "8d4-8e1 1dfb a8c5 1123e 11438-1143f 11442-11444 11446 11c30-11c36 11c38-11c3d 11c3f"
   " 11c92-11ca7 11caa-11cb0 11cb2-11cb3 11cb5-11cb6 1e000-1e006 1e008-1e018 1e01b-1e021"
   " 1e023-1e024 1e026-1e02a 1e944-1e94a"},
  {9, "Cn", "Nd", "11450-11459 11c50-11c59 1e950-1e959"},
  {9, "Cn", "No", "d58-d5e d76-d78 11c5a-11c6c"},
  {9, "Cn", "Po", "2e43-2e44 1144b-1144f 1145b 1145d 11660-1166c 11c41-11c45 11c70-11c71 1e95e-1e95f"},
  {9, "Cn", "So", "d4f 23fb-23fe 1018d-1018e 1f19b-1f1ac 1f23b 1f57a 1f5a4 1f6d1-1f6d2 1f6f4-1f6f6 1f919-1f91e"
   " 1f920-1f927 1f930 1f933-1f93e 1f940-1f94b 1f950-1f95e 1f985-1f991"},
  {9, "Lo", "Mn", "1885-1886"},
  {15, "Cn", "Cf", "890-891 110cd 13430-1343f"},
  {15, "Cn", "Ll", "560 588 2c5f a7af a7b9 a7bb a7bd a7bf a7c1 a7c3 a7c8 a7ca a7d1 a7d3 a7d5 a7d7 a7d9 a7f6"
   " ab66-ab68 10597-105a1 105a3-105b1 105b3-105b9 105bb-105bc 16e60-16e7f 1df00-1df09"
   " 1df0b-1df1e 1df25-1df2a"},
  {15, "Cn", "Lm", "8c9 a7f2-a7f4 ab69 10780-10785 10787-107b0 107b2-107ba 16fe1 16fe3 1aff0-1aff3 1aff5-1affb"
   " 1affd-1affe 1e030-1e06d 1e137-1e13d 1e4eb 1e94b"},
  {15, "Cn", "Lo", "5ef 860-86a 870-887 889-88e 8b5 8be-8c8 9fc c5d cdd d04 e86 e89 e8c e8e-e93 e98 ea0 ea8-ea9"
   " eac 170d 171f 1878 1b4c 1cfa 312e-312f 31bb-31bf 4db6-4dbf 9fd6-9fff a8fe 1032d-1032f"
   " 10a34-10a35 10d00-10d23 10e80-10ea9 10eb0-10eb1 10f00-10f1c 10f27 10f30-10f45 10f70-10f81"
   " 10fb0-10fc4 10fe0-10ff6 11071-11072 11075 11144 11147 1123f-11240 1145f-11461 116b8 1171a"
   " 11740-11746 11800-1182b 11900-11906 11909 1190c-11913 11915-11916 11918-1192f 1193f 11941"
   " 119a0-119a7 119aa-119d0 119e1 119e3 11a00 11a0b-11a32 11a3a 11a50 11a5c-11a89 11a9d"
   " 11ab0-11abf 11d00-11d06 11d08-11d09 11d0b-11d30 11d46 11d60-11d65 11d67-11d68 11d6a-11d89"
   " 11d98 11ee0-11ef2 11f02 11f04-11f10 11f12-11f33 11fb0 12f90-12ff0 1342f 13441-13446"
   " 16a70-16abe 16f45-16f4a 187ed-187f7 18af3-18cd5 18d00-18d08 1b002-1b122 1b132 1b150-1b152"
   " 1b155 1b164-1b167 1b170-1b2fb 1df0a 1e100-1e12c 1e14e 1e290-1e2ad 1e2c0-1e2eb 1e4d0-1e4ea"
   " 1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee 1e7f0-1e7fe 2a6d7-2a6df 2b735-2b739 2ceb0-2ebe0"
   " 30000-3134a 31350-323af"},
  {15, "Cn", "Lu", "1c90-1cba 1cbd-1cbf 2c2f a7b8 a7ba a7bc a7be a7c0 a7c2 a7c4-a7c7 a7c9 a7d0 a7d6 a7d8 a7f5"
   " 10570-1057a 1057c-1058a 1058c-10592 10594-10595 16e40-16e5f"},
  {15, "Cn", "Mc", "cf3 1715 1cf7 11145-11146 111ce 1182c-1182e 11838 11930-11935 11937-11938 1193d 11940 11942"
   " 119d1-119d3 119dc-119df 119e4 11a39 11a57-11a58 11a97 11d8a-11d8e 11d93-11d94 11d96"
   " 11ef5-11ef6 11f03 11f34-11f35 11f3e-11f3f 11f41 16f7f-16f87 16ff0-16ff1"},
  {15, "Cn", "Mn", "7fd 898-89f 8ca-8d3 9fe afa-aff b55 c04 c3c d00 d3b-d3c d81 eba ece 180f 1abf-1ace"
   " 1df6-1dfa a82c a8ff 10d24-10d27 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11070"
   " 11073-11074 110c2 111cf 11241 1133b 1145e 1182f-11837 11839-1183a 1193b-1193c 1193e 11943"
   " 119d4-119d7 119da-119db 119e0 11a01-11a0a 11a33-11a38 11a3b-11a3e 11a47 11a51-11a56"
   " 11a59-11a5b 11a8a-11a96 11a98-11a99 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47"
   " 11d90-11d91 11d95 11d97 11ef3-11ef4 11f00-11f01 11f36-11f3a 11f40 11f42 13440 13447-13455"
   " 16f4f 16fe4 1cf00-1cf2d 1cf30-1cf46 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef"},
  {15, "Cn", "Nd", "10d30-10d39 11950-11959 11d50-11d59 11da0-11da9 11f50-11f59 16ac0-16ac9 1e140-1e149"
   " 1e2f0-1e2f9 1e4f0-1e4f9 1fbf0-1fbf9"},
  {15, "Cn", "No", "10a48 10f1d-10f26 10f51-10f54 10fc5-10fcb 11fc0-11fd4 16e80-16e96 1d2c0-1d2d3 1d2e0-1d2f3"
   " 1d372-1d378 1ec71-1ecab 1ecad-1ecaf 1ecb1-1ecb4 1ed01-1ed2d 1ed2f-1ed3d"},
  {15, "Cn", "Pd", "2e5d 10ead"},
  {15, "Cn", "Pe", "2e56 2e58 2e5a 2e5c"},
  {15, "Cn", "Po", "61d 9fd a76 c77 c84 1b7d-1b7e 2e45-2e4f 2e52-2e54 10f55-10f59 10f86-10f89 1145a 116b9 1183b"
   " 11944-11946 119e2 11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11b00-11b09 11ef7-11ef8 11f43-11f4f"
   " 11fff 12ff1-12ff2 16e97-16e9a 16fe2"},
  {15, "Cn", "Ps", "2e55 2e57 2e59 2e5b"},
  {15, "Cn", "Sc", "7fe-7ff 20bf-20c0 11fdd-11fe0 1e2ff 1ecb0"},
  {15, "Cn", "Sk", "888 ab6a-ab6b fbc2"},
  {15, "Cn", "So", "23ff 2b97 2bba-2bbc 2bc9 2bd2-2beb 2bf0-2bff 2e50-2e51 32ff fd40-fd4f fdcf fdfe-fdff 1019c"
   " 11fd5-11fdc 11fe1-11ff1 1cf50-1cfc3 1d1e9-1d1ea 1e14f 1ecac 1ed2e 1f10d-1f10f 1f12f"
   " 1f16c-1f16f 1f1ad 1f260-1f265 1f6d3-1f6d7 1f6dc-1f6df 1f6f7-1f6fc 1f774-1f776 1f77b-1f77f"
   " 1f7d5-1f7d9 1f7e0-1f7eb 1f7f0 1f8b0-1f8b1 1f900-1f90f 1f91f 1f928-1f92f 1f931-1f932 1f93f"
   " 1f94c-1f94f 1f95f-1f97f 1f992-1f9bf 1f9c1-1fa53 1fa60-1fa6d 1fa70-1fa7c 1fa80-1fa88"
   " 1fa90-1fabd 1fabf-1fac5 1face-1fadb 1fae0-1fae8 1faf0-1faf8 1fb00-1fb92 1fb94-1fbca"},
  {15, "Lo", "Ll", "10d0-10fa 10fd-10ff"},
  {15, "Mc", "Lo", "1cf2-1cf3"},
  {15, "Mc", "Mn", "a9bd"},
  {15, "Mn", "Mc", "1734"},
  {15, "Po", "Mn", "111c9"},
  {15, "Po", "So", "166d"},
  {16, "Cn", "Ll", "1c8a a7cd a7db 10d70-10d85"},
  {16, "Cn", "Lm", "10d4e 10d6f 16d40-16d42 16d6b-16d6c"},
  {16, "Cn", "Lo", "105c0-105f3 10d4a-10d4d 10d4f 10ec2-10ec4 11380-11389 1138b 1138e 11390-113b5 113b7 113d1"
   " 113d3 11bc0-11be0 13460-143fa 16100-1611d 16d43-16d6a 18cff 1e5d0-1e5ed 1e5f0 2ebf0-2ee5d"},
  {16, "Cn", "Lu", "1c89 a7cb-a7cc a7da a7dc 10d50-10d65"},
  {16, "Cn", "Mc", "113b8-113ba 113c2 113c5 113c7-113ca 113cc-113cd 113cf 1612a-1612c"},
  {16, "Cn", "Mn", "897 10d69-10d6d 10efc 113bb-113c0 113ce 113d0 113d2 113e1-113e2 11f5a 1611e-16129"
   " 1612d-1612f 1e5ee-1e5ef"},
  {16, "Cn", "Nd", "10d40-10d49 116d0-116e3 11bf0-11bf9 16130-16139 16d70-16d79 1ccf0-1ccf9 1e5f1-1e5fa"},
  {16, "Cn", "Pd", "10d6e"},
  {16, "Cn", "Po", "1b4e-1b4f 1b7f 113d4-113d5 113d7-113d8 11be1 16d6d-16d6f 1e5ff"},
  {16, "Cn", "Sm", "10d8e-10d8f"},
  {16, "Cn", "So", "2427-2429 2ffc-2fff 31e4-31e5 31ef 1cc00-1ccef 1cd00-1ceb3 1f8b2-1f8bb 1f8c0-1f8c1 1fa89"
   " 1fa8f 1fabe 1fac6 1fadc 1fadf 1fae9 1fbcb-1fbef"},
  {16, "Mn", "Mc", "1171e"},
  {17, "Cn", "Ll", "a7cf 16ebb-16ed3"},
  {17, "Cn", "Lm", "a7f1 10ec5 11dd9 16ff2-16ff3 1e6ff"},
  {17, "Cn", "Lo", "88f c5c cdc 10940-10959 10ec6-10ec7 11db0-11dd8 11dda-11ddb 187f8-187ff 18d09-18d1e"
   " 18d80-18df2 1e6c0-1e6de 1e6e0-1e6e2 1e6e4-1e6e5 1e6e7-1e6ed 1e6f0-1e6f4 1e6fe 2b73a-2b73f"
   " 2cea2-2cead 323b0-33479"},
  {17, "Cn", "Lu", "a7ce a7d2 a7d4 16ea0-16eb8"},
  {17, "Cn", "Mc", "11b61 11b65 11b67"},
  {17, "Cn", "Mn", "1acf-1add 1ae0-1aeb 10efa-10efb 11b60 11b62-11b64 11b66 1e6e3 1e6e6 1e6ee-1e6ef 1e6f5"},
  {17, "Cn", "Nd", "11de0-11de9"},
  {17, "Cn", "Nl", "16ff4-16ff6"},
  {17, "Cn", "Po", "10ed0"},
  {17, "Cn", "Sc", "20c1"},
  {17, "Cn", "Sm", "1cef0 1f8d0-1f8d8"},
  {17, "Cn", "So", "2b96 fbc3-fbd2 fd90-fd91 fdc8-fdce 10ed1-10ed8 1ccfa-1ccfc 1ceba-1ced0 1cee0-1ceef 1f6d8"
   " 1f777-1f77a 1fa54-1fa57 1fa8a 1fa8e 1fac8 1facd 1faea 1faef 1fbfa"},
  {17, "Ll", "Lo", "295"},
};

const std::vector<LowercaseChange> lowercaseChanges = {
  {16, 0x1c89, 0x1c89, 0x1c8a},
  {16, 0xa7cb, 0xa7cb, 0x264},
  {16, 0xa7cc, 0xa7cc, 0xa7cd},
  {16, 0xa7da, 0xa7da, 0xa7db},
  {16, 0xa7dc, 0xa7dc, 0x19b},
  {16, 0x10d50, 0x10d65, 0x10d70},
  {17, 0xa7ce, 0xa7ce, 0xa7cf},
  {17, 0xa7d2, 0xa7d2, 0xa7d3},
  {17, 0xa7d4, 0xa7d4, 0xa7d5},
  {17, 0x16ea0, 0x16eb8, 0x16ebb},
};

const std::vector<Script> scripts = {
  {"adlam", "1e900-1e94b 1e950-1e959 1e95e-1e95f"},
  {"ahom", "11700-1171a 1171d-1172b 11730-11746"},
  {"anatolianhieroglyphs", "14400-14646"},
  {"arabic", "600-604 606-60b 60d-61a 61c-61e 620-63f 641-64a 656-66f 671-6dc 6de-6ff 750-77f 870-88e"
   " 890-891 897-8e1 8e3-8ff fb50-fbc2 fbd3-fd3d fd40-fd8f fd92-fdc7 fdcf fdf0-fdff fe70-fe74"
   " fe76-fefc 10e60-10e7e 10ec2-10ec4 10efc-10eff 1ee00-1ee03 1ee05-1ee1f 1ee21-1ee22 1ee24"
   " 1ee27 1ee29-1ee32 1ee34-1ee37 1ee39 1ee3b 1ee42 1ee47 1ee49 1ee4b 1ee4d-1ee4f 1ee51-1ee52"
   " 1ee54 1ee57 1ee59 1ee5b 1ee5d 1ee5f 1ee61-1ee62 1ee64 1ee67-1ee6a 1ee6c-1ee72 1ee74-1ee77"
   " 1ee79-1ee7c 1ee7e 1ee80-1ee89 1ee8b-1ee9b 1eea1-1eea3 1eea5-1eea9 1eeab-1eebb 1eef0-1eef1"},
  {"armenian", "531-556 559-58a 58d-58f fb13-fb17"},
  {"avestan", "10b00-10b35 10b39-10b3f"},
  {"balinese", "1b00-1b4c 1b4e-1b7f"},
  {"bamum", "a6a0-a6f7 16800-16a38"},
  {"bassavah", "16ad0-16aed 16af0-16af5"},
  {"batak", "1bc0-1bf3 1bfc-1bff"},
  {"bengali", "980-983 985-98c 98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9bc-9c4 9c7-9c8 9cb-9ce 9d7 9dc-9dd"
   " 9df-9e3 9e6-9fe"},
  {"bhaiksuki", "11c00-11c08 11c0a-11c36 11c38-11c45 11c50-11c6c"},
  {"bopomofo", "2ea-2eb 3105-312f 31a0-31bf"},
  {"brahmi", "11000-1104d 11052-11075 1107f"},
  {"braille", "2800-28ff"},
  {"buginese", "1a00-1a1b 1a1e-1a1f"},
  {"buhid", "1740-1753"},
  {"canadianaboriginal", "1400-167f 18b0-18f5 11ab0-11abf"},
  {"carian", "102a0-102d0"},
  {"caucasianalbanian", "10530-10563 1056f"},
  {"chakma", "11100-11134 11136-11147"},
  {"cham", "aa00-aa36 aa40-aa4d aa50-aa59 aa5c-aa5f"},
  {"cherokee", "13a0-13f5 13f8-13fd ab70-abbf"},
  {"chorasmian", "10fb0-10fcb"},
  {"common", "0-40 5b-60 7b-a9 ab-b9 bb-bf d7 f7 2b9-2df 2e5-2e9 2ec-2ff 374 37e 385 387 605 60c 61b 61f"
   " 640 6dd 8e2 964-965 e3f fd5-fd8 10fb 16eb-16ed 1735-1736 1802-1803 1805 1cd3 1ce1"
   " 1ce9-1cec 1cee-1cf3 1cf5-1cf7 1cfa 2000-200b 200e-2064 2066-2070 2074-207e 2080-208e"
   " 20a0-20c0 2100-2125 2127-2129 212c-2131 2133-214d 214f-215f 2189-218b 2190-2429 2440-244a"
   " 2460-27ff 2900-2b73 2b76-2b95 2b97-2bff 2e00-2e5d 2ff0-3004 3006 3008-3020 3030-3037"
   " 303c-303f 309b-309c 30a0 30fb-30fc 3190-319f 31c0-31e5 31ef 3220-325f 327f-32cf 32ff"
   " 3358-33ff 4dc0-4dff a700-a721 a788-a78a a830-a839 a92e a9cf ab5b ab6a-ab6b fd3e-fd3f"
   " fe10-fe19 fe30-fe52 fe54-fe66 fe68-fe6b feff ff01-ff20 ff3b-ff40 ff5b-ff65 ff70 ff9e-ff9f"
   " ffe0-ffe6 ffe8-ffee fff9-fffd 10100-10102 10107-10133 10137-1013f 10190-1019c 101d0-101fc"
   " 102e1-102fb 1bca0-1bca3 1cc00-1ccf9 1cd00-1ceb3 1cf50-1cfc3 1d000-1d0f5 1d100-1d126"
   " 1d129-1d166 1d16a-1d17a 1d183-1d184 1d18c-1d1a9 1d1ae-1d1ea 1d2c0-1d2d3 1d2e0-1d2f3"
   " 1d300-1d356 1d360-1d378 1d400-1d454 1d456-1d49c 1d49e-1d49f 1d4a2 1d4a5-1d4a6 1d4a9-1d4ac"
   " 1d4ae-1d4b9 1d4bb 1d4bd-1d4c3 1d4c5-1d505 1d507-1d50a 1d50d-1d514 1d516-1d51c 1d51e-1d539"
   " 1d53b-1d53e 1d540-1d544 1d546 1d54a-1d550 1d552-1d6a5 1d6a8-1d7cb 1d7ce-1d7ff 1ec71-1ecb4"
   " 1ed01-1ed3d 1f000-1f02b 1f030-1f093 1f0a0-1f0ae 1f0b1-1f0bf 1f0c1-1f0cf 1f0d1-1f0f5"
   " 1f100-1f1ad 1f1e6-1f1ff 1f201-1f202 1f210-1f23b 1f240-1f248 1f250-1f251 1f260-1f265"
   " 1f300-1f6d7 1f6dc-1f6ec 1f6f0-1f6fc 1f700-1f776 1f77b-1f7d9 1f7e0-1f7eb 1f7f0 1f800-1f80b"
   " 1f810-1f847 1f850-1f859 1f860-1f887 1f890-1f8ad 1f8b0-1f8bb 1f8c0-1f8c1 1f900-1fa53"
   " 1fa60-1fa6d 1fa70-1fa7c 1fa80-1fa89 1fa8f-1fac6 1face-1fadc 1fadf-1fae9 1faf0-1faf8"
   " 1fb00-1fb92 1fb94-1fbf9 e0001 e0020-e007f"},
  {"coptic", "3e2-3ef 2c80-2cf3 2cf9-2cff"},
  {"cuneiform", "12000-12399 12400-1246e 12470-12474 12480-12543"},
  {"cypriot", "10800-10805 10808 1080a-10835 10837-10838 1083c 1083f"},
  {"cyprominoan", "12f90-12ff2"},
  {"cyrillic", "400-484 487-52f 1c80-1c8a 1d2b 1d78 2de0-2dff a640-a69f fe2e-fe2f 1e030-1e06d 1e08f"},
  {"deseret", "10400-1044f"},
  {"devanagari", "900-950 955-963 966-97f a8e0-a8ff 11b00-11b09"},
  {"divesakuru", "11900-11906 11909 1190c-11913 11915-11916 11918-11935 11937-11938 1193b-11946 11950-11959"},
  {"dogra", "11800-1183b"},
  {"duployan", "1bc00-1bc6a 1bc70-1bc7c 1bc80-1bc88 1bc90-1bc99 1bc9c-1bc9f"},
  {"egyptianhieroglyphs", "13000-13455 13460-143fa"},
  {"elbasan", "10500-10527"},
  {"elymaic", "10fe0-10ff6"},
  {"ethiopic", "1200-1248 124a-124d 1250-1256 1258 125a-125d 1260-1288 128a-128d 1290-12b0 12b2-12b5"
   " 12b8-12be 12c0 12c2-12c5 12c8-12d6 12d8-1310 1312-1315 1318-135a 135d-137c 1380-1399"
   " 2d80-2d96 2da0-2da6 2da8-2dae 2db0-2db6 2db8-2dbe 2dc0-2dc6 2dc8-2dce 2dd0-2dd6 2dd8-2dde"
   " ab01-ab06 ab09-ab0e ab11-ab16 ab20-ab26 ab28-ab2e 1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee"
   " 1e7f0-1e7fe"},
  {"garay", "10d40-10d65 10d69-10d85 10d8e-10d8f"},
  {"georgian", "10a0-10c5 10c7 10cd 10d0-10fa 10fc-10ff 1c90-1cba 1cbd-1cbf 2d00-2d25 2d27 2d2d"},
  {"glagolitic", "2c00-2c5f 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a"},
  {"gothic", "10330-1034a"},
  {"grantha", "11300-11303 11305-1130c 1130f-11310 11313-11328 1132a-11330 11332-11333 11335-11339"
   " 1133c-11344 11347-11348 1134b-1134d 11350 11357 1135d-11363 11366-1136c 11370-11374"},
  {"greek", "370-373 375-377 37a-37d 37f 384 386 388-38a 38c 38e-3a1 3a3-3e1 3f0-3ff 1d26-1d2a 1d5d-1d61"
   " 1d66-1d6a 1dbf 1f00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d"
   " 1f80-1fb4 1fb6-1fc4 1fc6-1fd3 1fd6-1fdb 1fdd-1fef 1ff2-1ff4 1ff6-1ffe 2126 ab65"
   " 10140-1018e 101a0 1d200-1d245"},
  {"gujarati", "a81-a83 a85-a8d a8f-a91 a93-aa8 aaa-ab0 ab2-ab3 ab5-ab9 abc-ac5 ac7-ac9 acb-acd ad0 ae0-ae3"
   " ae6-af1 af9-aff"},
  {"gunjalagondi", "11d60-11d65 11d67-11d68 11d6a-11d8e 11d90-11d91 11d93-11d98 11da0-11da9"},
  {"gurmukhi", "a01-a03 a05-a0a a0f-a10 a13-a28 a2a-a30 a32-a33 a35-a36 a38-a39 a3c a3e-a42 a47-a48 a4b-a4d"
   " a51 a59-a5c a5e a66-a76"},
  {"gurungkhema", "16100-16139"},
  {"han", "2e80-2e99 2e9b-2ef3 2f00-2fd5 3005 3007 3021-3029 3038-303b 3400-4dbf 4e00-9fff f900-fa6d"
   " fa70-fad9 16fe2-16fe3 16ff0-16ff1 20000-2a6df 2a700-2b739 2b740-2b81d 2b820-2cea1"
   " 2ceb0-2ebe0 2ebf0-2ee5d 2f800-2fa1d 30000-3134a 31350-323af"},
  {"hangul", "1100-11ff 302e-302f 3131-318e 3200-321e 3260-327e a960-a97c ac00-d7a3 d7b0-d7c6 d7cb-d7fb"
   " ffa0-ffbe ffc2-ffc7 ffca-ffcf ffd2-ffd7 ffda-ffdc"},
  {"hanifirohingya", "10d00-10d27 10d30-10d39"},
  {"hanunoo", "1720-1734"},
  {"hatran", "108e0-108f2 108f4-108f5 108fb-108ff"},
  {"hebrew", "591-5c7 5d0-5ea 5ef-5f4 fb1d-fb36 fb38-fb3c fb3e fb40-fb41 fb43-fb44 fb46-fb4f"},
  {"hiragana", "3041-3096 309d-309f 1b001-1b11f 1b132 1b150-1b152 1f200"},
  {"imperialaramaic", "10840-10855 10857-1085f"},
  {"inherited", "300-36f 485-486 64b-655 670 951-954 1ab0-1ace 1cd0-1cd2 1cd4-1ce0 1ce2-1ce8 1ced 1cf4"
   " 1cf8-1cf9 1dc0-1dff 200c-200d 20d0-20f0 302a-302d 3099-309a fe00-fe0f fe20-fe2d 101fd"
   " 102e0 1133b 1cf00-1cf2d 1cf30-1cf46 1d167-1d169 1d17b-1d182 1d185-1d18b 1d1aa-1d1ad"
   " e0100-e01ef"},
  {"inscriptionalpahlavi", "10b60-10b72 10b78-10b7f"},
  {"inscriptionalparthian", "10b40-10b55 10b58-10b5f"},
  {"javanese", "a980-a9cd a9d0-a9d9 a9de-a9df"},
  {"kaithi", "11080-110c2 110cd"},
  {"kannada", "c80-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9 cbc-cc4 cc6-cc8 cca-ccd cd5-cd6 cdd-cde ce0-ce3"
   " ce6-cef cf1-cf3"},
  {"katakana", "30a1-30fa 30fd-30ff 31f0-31ff 32d0-32fe 3300-3357 ff66-ff6f ff71-ff9d 1aff0-1aff3"
   " 1aff5-1affb 1affd-1affe 1b000 1b120-1b122 1b155 1b164-1b167"},
  {"kawi", "11f00-11f10 11f12-11f3a 11f3e-11f5a"},
  {"kayahli", "a900-a92d a92f"},
  {"kharoshthi", "10a00-10a03 10a05-10a06 10a0c-10a13 10a15-10a17 10a19-10a35 10a38-10a3a 10a3f-10a48"
   " 10a50-10a58"},
  {"khitansmallscript", "16fe4 18b00-18cd5 18cff"},
  {"khmer", "1780-17dd 17e0-17e9 17f0-17f9 19e0-19ff"},
  {"khojki", "11200-11211 11213-11241"},
  {"khudawadi", "112b0-112ea 112f0-112f9"},
  {"kiratrai", "16d40-16d79"},
  {"lao", "e81-e82 e84 e86-e8a e8c-ea3 ea5 ea7-ebd ec0-ec4 ec6 ec8-ece ed0-ed9 edc-edf"},
  {"latin", "41-5a 61-7a aa ba c0-d6 d8-f6 f8-2b8 2e0-2e4 1d00-1d25 1d2c-1d5c 1d62-1d65 1d6b-1d77"
   " 1d79-1dbe 1e00-1eff 2071 207f 2090-209c 212a-212b 2132 214e 2160-2188 2c60-2c7f a722-a787"
   " a78b-a7cd a7d0-a7d1 a7d3 a7d5-a7dc a7f2-a7ff ab30-ab5a ab5c-ab64 ab66-ab69 fb00-fb06"
   " ff21-ff3a ff41-ff5a 10780-10785 10787-107b0 107b2-107ba 1df00-1df1e 1df25-1df2a"},
  {"lepcha", "1c00-1c37 1c3b-1c49 1c4d-1c4f"},
  {"limbu", "1900-191e 1920-192b 1930-193b 1940 1944-194f"},
  {"lineara", "10600-10736 10740-10755 10760-10767"},
  {"linearb", "10000-1000b 1000d-10026 10028-1003a 1003c-1003d 1003f-1004d 10050-1005d 10080-100fa"},
  {"lisu", "a4d0-a4ff 11fb0"},
  {"lycian", "10280-1029c"},
  {"lydian", "10920-10939 1093f"},
  {"mahajani", "11150-11176"},
  {"makasar", "11ee0-11ef8"},
  {"malayalam", "d00-d0c d0e-d10 d12-d44 d46-d48 d4a-d4f d54-d63 d66-d7f"},
  {"mandaic", "840-85b 85e"},
  {"manichaean", "10ac0-10ae6 10aeb-10af6"},
  {"marchen", "11c70-11c8f 11c92-11ca7 11ca9-11cb6"},
  {"masaramgondi", "11d00-11d06 11d08-11d09 11d0b-11d36 11d3a 11d3c-11d3d 11d3f-11d47 11d50-11d59"},
  {"medefaidrin", "16e40-16e9a"},
  {"meeteimayek", "aae0-aaf6 abc0-abed abf0-abf9"},
  {"mendekikakui", "1e800-1e8c4 1e8c7-1e8d6"},
  {"meroiticcursive", "109a0-109b7 109bc-109cf 109d2-109ff"},
  {"meroitichieroglyphs", "10980-1099f"},
  {"miao", "16f00-16f4a 16f4f-16f87 16f8f-16f9f"},
  {"modi", "11600-11644 11650-11659"},
  {"mongolian", "1800-1801 1804 1806-1819 1820-1878 1880-18aa 11660-1166c"},
  {"mro", "16a40-16a5e 16a60-16a69 16a6e-16a6f"},
  {"multani", "11280-11286 11288 1128a-1128d 1128f-1129d 1129f-112a9"},
  {"myanmar", "1000-109f a9e0-a9fe aa60-aa7f 116d0-116e3"},
  {"nabataean", "10880-1089e 108a7-108af"},
  {"nagmundari", "1e4d0-1e4f9"},
  {"nandinagari", "119a0-119a7 119aa-119d7 119da-119e4"},
  {"newtailue", "1980-19ab 19b0-19c9 19d0-19da 19de-19df"},
  {"newa", "11400-1145b 1145d-11461"},
  {"nko", "7c0-7fa 7fd-7ff"},
  {"nushu", "16fe1 1b170-1b2fb"},
  {"nyiakengpuachuehmong", "1e100-1e12c 1e130-1e13d 1e140-1e149 1e14e-1e14f"},
  {"ogham", "1680-169c"},
  {"olchiki", "1c50-1c7f"},
  {"olonal", "1e5d0-1e5fa 1e5ff"},
  {"oldhungarian", "10c80-10cb2 10cc0-10cf2 10cfa-10cff"},
  {"olditalic", "10300-10323 1032d-1032f"},
  {"oldnortharabian", "10a80-10a9f"},
  {"oldpermic", "10350-1037a"},
  {"oldpersian", "103a0-103c3 103c8-103d5"},
  {"oldsogdian", "10f00-10f27"},
  {"oldsoutharabian", "10a60-10a7f"},
  {"oldturkic", "10c00-10c48"},
  {"olduyghur", "10f70-10f89"},
  {"oriya", "b01-b03 b05-b0c b0f-b10 b13-b28 b2a-b30 b32-b33 b35-b39 b3c-b44 b47-b48 b4b-b4d b55-b57"
   " b5c-b5d b5f-b63 b66-b77"},
  {"osage", "104b0-104d3 104d8-104fb"},
  {"osmanya", "10480-1049d 104a0-104a9"},
  {"pahawhhmong", "16b00-16b45 16b50-16b59 16b5b-16b61 16b63-16b77 16b7d-16b8f"},
  {"palmyrene", "10860-1087f"},
  {"paucinhau", "11ac0-11af8"},
  {"phagspa", "a840-a877"},
  {"phoenician", "10900-1091b 1091f"},
  {"psalterpahlavi", "10b80-10b91 10b99-10b9c 10ba9-10baf"},
  {"rejang", "a930-a953 a95f"},
  {"runic", "16a0-16ea 16ee-16f8"},
  {"samaritan", "800-82d 830-83e"},
  {"saurashtra", "a880-a8c5 a8ce-a8d9"},
  {"sharada", "11180-111df"},
  {"shavian", "10450-1047f"},
  {"siddham", "11580-115b5 115b8-115dd"},
  {"signwriting", "1d800-1da8b 1da9b-1da9f 1daa1-1daaf"},
  {"sinhala", "d81-d83 d85-d96 d9a-db1 db3-dbb dbd dc0-dc6 dca dcf-dd4 dd6 dd8-ddf de6-def df2-df4"
   " 111e1-111f4"},
  {"sogdian", "10f30-10f59"},
  {"sorasompeng", "110d0-110e8 110f0-110f9"},
  {"soyombo", "11a50-11aa2"},
  {"sundanese", "1b80-1bbf 1cc0-1cc7"},
  {"sunuwar", "11bc0-11be1 11bf0-11bf9"},
  {"sylotinagri", "a800-a82c"},
  {"syriac", "700-70d 70f-74a 74d-74f 860-86a"},
  {"tagalog", "1700-1715 171f"},
  {"tagbanwa", "1760-176c 176e-1770 1772-1773"},
  {"taile", "1950-196d 1970-1974"},
  {"taitham", "1a20-1a5e 1a60-1a7c 1a7f-1a89 1a90-1a99 1aa0-1aad"},
  {"taiviet", "aa80-aac2 aadb-aadf"},
  {"takri", "11680-116b9 116c0-116c9"},
  {"tamil", "b82-b83 b85-b8a b8e-b90 b92-b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb9 bbe-bc2 bc6-bc8"
   " bca-bcd bd0 bd7 be6-bfa 11fc0-11ff1 11fff"},
  {"tangsa", "16a70-16abe 16ac0-16ac9"},
  {"tangut", "16fe0 17000-187f7 18800-18aff 18d00-18d08"},
  {"telugu", "c00-c0c c0e-c10 c12-c28 c2a-c39 c3c-c44 c46-c48 c4a-c4d c55-c56 c58-c5a c5d c60-c63 c66-c6f"
   " c77-c7f"},
  {"thaana", "780-7b1"},
  {"thai", "e01-e3a e40-e5b"},
  {"tibetan", "f00-f47 f49-f6c f71-f97 f99-fbc fbe-fcc fce-fd4 fd9-fda"},
  {"tifinagh", "2d30-2d67 2d6f-2d70 2d7f"},
  {"tirhuta", "11480-114c7 114d0-114d9"},
  {"todhri", "105c0-105f3"},
  {"toto", "1e290-1e2ae"},
  {"tulutigalari", "11380-11389 1138b 1138e 11390-113b5 113b7-113c0 113c2 113c5 113c7-113ca 113cc-113d5"
   " 113d7-113d8 113e1-113e2"},
  {"ugaritic", "10380-1039d 1039f"},
  {"vai", "a500-a62b"},
  {"vithkuqi", "10570-1057a 1057c-1058a 1058c-10592 10594-10595 10597-105a1 105a3-105b1 105b3-105b9"
   " 105bb-105bc"},
  {"wancho", "1e2c0-1e2f9 1e2ff"},
  {"warangciti", "118a0-118f2 118ff"},
  {"yezidi", "10e80-10ea9 10eab-10ead 10eb0-10eb1"},
  {"yi", "a000-a48c a490-a4c6"},
  {"zanabazarsquare", "11a00-11a47"},
};
// clang-format on

}  // namespace talc::frontend
