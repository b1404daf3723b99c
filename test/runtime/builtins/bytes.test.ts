import { expressionTable } from '../expression-table.ts';

expressionTable(
  'bytes and encodings',
  [
    ['bytes_to_string(bytes_from_string("ä😀"))', 'ä😀'],
    ['bytes_to_string(bytes_from_hex("ff"))', 'error: bytes_to_string: invalid UTF-8'],
    ['bytes_to_string(u("x"))', 'error: Type error: bytes_to_string: expected bytes, got string'],
    ['bytes_to_string_lossy(bytes_from_hex("61ff"))', 'a\ufffd'],
    ['bytes_to_hex(bytes_from_hex("00FF"))', '00ff'],
    ['[bytes_from_hex("0")] ?? 1', 'error: bytes_from_hex: invalid hex'],
    ['bytes_to_base64(bytes_from_base64("aGk="))', 'aGk='],
    ['bytes_from_base64("aGk")', 'error: bytes_from_base64: invalid base64'],
    ['bytes_concat(bytes_from_hex("01"), bytes_from_hex("02"))', 'b"0102"'],
    ['bytes_concat([bytes_from_hex("01"), bytes_from_hex("02")])', 'b"0102"'],
    ['bytes_concat()', 'b""'],
    ['[bytes_slice(b, 1), bytes_slice(b, 1, 2), bytes_slice(b, -2), bytes_slice(b, 2, 1)]', '[b"0203", b"02", b"0203", b""]'],
    ['[bytes_eq(b, b), bytes_eq(b, bytes_from_hex("01")), bytes_eq("a", "a")]', '[true, false, true]'],
    ['[base64_encode("hi"), base64_decode("aGk=")]', '[aGk=, hi]'],
    ['base64_decode("aGk")', 'error: base64_decode: invalid base64'],
    ['[base64url_encode(">>>?"), base64url_decode("Pj4-Pw"), base64url_decode("Pj4-Pw==")]', '[Pj4-Pw, >>>?, >>>?]'],
    ['base64url_decode("a+b")', 'error: base64url_decode: invalid base64url'],
    [
      '["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(base32_encode)',
      '[, MY======, MZXQ====, MZXW6===, MZXW6YQ=, MZXW6YTB, MZXW6YTBOI======]',
    ],
    ['[base32_decode("MZXW6YTBOI======"), base32_decode("mzxw6")]', '[foobar, foo]'],
    ['base32_decode("1")', 'error: base32_decode: invalid base32'],
    ['[hex_encode("hi"), hex_decode("6869")]', '[6869, hi]'],
    ['hex_decode("ff")', 'error: hex_decode: invalid UTF-8'],
  ],
  { setup: 'fn u(x) { return x }\nlet b = bytes_from_hex("010203")' },
);

expressionTable('hashes and identity', [
  ['md5("hello")', '5d41402abc4b2a76b9719d911017c592'],
  ['sha256("hello")', '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'],
  ['sha256(bytes_from_string("hello")) == sha256("hello")', 'true'],
  ['sha224("")', 'd14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f'],
  ['sha512_256("")', 'c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a'],
  ['[len(sha384("")), len(sha512(""))]', '[96, 128]'],
  ['sha3_256("")', 'a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a'],
  ['blake3("")', 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
  ['hmac_sha256("Jefe", "what do ya want for nothing?")', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
  ['hmac_sha256_base64("k", "m") == bytes_to_base64(bytes_from_hex(hmac_sha256("k", "m")))', 'true'],
  ['[constant_time_eq("a", "a"), constant_time_eq("a", "b"), constant_time_eq("a", "aa")]', '[true, false, false]'],
  [
    '[hash_value([1, {a: 2}]) == hash_value([1, {a: 2}]), hash_value(1) == hash_value("1"), hash_value(1) == hash_value(1.0)]',
    '[true, false, false]',
  ],
  ['[type_of(hash_value(nil)), hash_value("a")]', '[int, 7692299998510702488]'],
  ['[is_same([1], [1]), is_same(42, 42), is_same(1, 1.0), is_same("a", "a")]', '[false, true, false, true]'],
  ['[addr_of(42), addr_of("a"), starts_with(addr_of([1]), "list@0x")]', '[int@42, string@a, true]'],
]);

expressionTable(
  'compression',
  [
    ['["gzip", "zstd", "brotli"].map({ name -> trip(name, "") })', '[true, true, true]'],
    ['["gzip", "zstd", "brotli"].map({ name -> trip(name, "abc" * 100000) })', '[true, true, true]'],
    ['bytes_len(gzip_encode("a" * 10000, 9)) < 100', 'true'],
    ['starts_with(caught({ -> gzip_decode("no") }), "gzip_decode: ")', 'true'],
    ['starts_with(caught({ -> zstd_decode("no") }), "zstd_decode: ")', 'true'],
    ['starts_with(caught({ -> brotli_decode("no") }), "brotli_decode: ")', 'true'],
    [
      'tar_extract(tar_create([{path: "a/b.txt", content: "hi", mode: 493}])).map({ e -> "${e.path} ${bytes_to_string(e.content)} ${e.mode} ${e.size}" })',
      '[a/b.txt hi 493 2]',
    ],
    [
      'zip_extract(zip_create([{path: "a.txt", content: "hi"}, {path: "b/c", content: ""}])).map({ e -> "${e.path} ${e.size}" })',
      '[a.txt 2, b/c 0]',
    ],
    ['zip_create([{path: "a", content: "x"}]) == zip_create([{path: "a", content: "x"}])', 'true'],
    ['tar_extract(tar_create([]))', '[]'],
    ['tar_extract(bytes_from_string("no archive"))', 'error: tar_extract: invalid tar data'],
    [
      'tar_extract(bytes_slice(bytes_concat(bytes_from_hex("010203"), tar_create([{path: "a", content: "x"}])), 3)).map({ e -> e.path })',
      '[a]',
    ],
    ['tar_create([{content: "x"}])', 'error: tar_create: an entry needs a path'],
    ['tar_extract(tar_create([{path: "../up", content: "x"}]))[0].path', 'up'],
    ['zip_extract(zip_create([{path: "../up", content: "x"}]))', 'error: zip_extract: unsafe path ../up'],
    ['starts_with(caught({ -> zip_extract("no") }), "zip_extract: ")', 'true'],
  ],
  {
    setup: `fn caught(f) { try { f() } catch (e) { return e } }
fn trip(name, text) {
  if name == "gzip" { return bytes_to_string(gzip_decode(gzip_encode(text))) == text }
  if name == "zstd" { return bytes_to_string(zstd_decode(zstd_encode(text))) == text }
  return bytes_to_string(brotli_decode(brotli_encode(text))) == text
}`,
  },
);
