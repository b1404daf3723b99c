import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanSecrets } from '../../../src/agent/tools/secret-scan.ts';
import { parseXml } from '../../../src/runtime/formats/xml.ts';
import { parseMultipart, writeMultipart } from '../../../src/runtime/http/multipart.ts';
import { expressionTable } from '../expression-table.ts';

describe('XML', () => {
  test.each([
    ['<a/>', { name: 'a', attributes: {}, children: [], text: '' }],
    [
      '<?xml version="1.0"?><!-- c --><a x="1 &amp; 2" y=\'q\'>t&#65;&#x42;<![CDATA[<raw>]]></a>',
      { name: 'a', attributes: { x: '1 & 2', y: 'q' }, children: [], text: 'tAB<raw>' },
    ],
    [
      '<a><b/>x<b>y</b></a>',
      {
        name: 'a',
        attributes: {},
        text: 'x',
        children: [
          { name: 'b', attributes: {}, children: [], text: '' },
          { name: 'b', attributes: {}, children: [], text: 'y' },
        ],
      },
    ],
  ])('%s is read', (source, root) => {
    expect(parseXml(source)).toEqual(root);
  });

  test.each(['', 'text', '<a>', '<a></b>', '</a>', '<a/><b/>', '<a x=1/>', '<a', '<a/>trailing <'])('%j is not well formed', (source) => {
    expect(parseXml(source)).toBe(undefined);
  });
});

describe('multipart bodies', () => {
  test('what was written reads back', () => {
    const name = fc.string({ minLength: 1 }).map((text) => text.replaceAll(/[%\\]/g, '_'));
    const field = fc.record({
      name,
      filename: fc.option(name, { nil: undefined }),
      content: fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
    });
    fc.assert(
      fc.property(fc.array(field), (fields) => {
        const body = writeMultipart(
          fields.map((item) => ({ ...item, contentType: undefined, headers: {} })),
          'the-boundary-9f',
        );
        const limits = { maxFields: 99, maxFieldBytes: 1e6, maxTotalBytes: 1e6 };
        if (fields.length === 0) return;
        const parsed = parseMultipart(body, 'the-boundary-9f', limits);
        expect(parsed.map(({ name: label, filename, content }) => ({ name: label, filename, content }))).toEqual(fields);
      }),
    );
  });
});

describe('secrets', () => {
  // Put together here, so that no scanner takes this file for a leak.
  const github = `ghp_${'a1'.repeat(18)}`;

  test('are found with their place and never shown', () => {
    expect(scanSecrets(`ok\n+ token = "${github}"`)).toEqual([
      { detector: 'github_token', title: 'GitHub token', line: 2, column: 12, redacted: 'ghp_…[redacted]' },
    ]);
  });

  test.each(['sk-short', 'AKIA', 'a normal line', `xghp_${'a1'.repeat(18)}`])('%s is none', (text) => {
    expect(scanSecrets(text)).toEqual([]);
  });
});

expressionTable('JUnit reports', [
  [
    String.raw`parse_junit_xml("<testsuite><testcase classname=\"a.B\" name=\"c\" time=\"0.25\"><failure message=\"boom\"> at 1 </failure></testcase></testsuite>")`,
    '[{duration_ms: 250, message: boom\n at 1, name: a.B::c, status: failed, stderr: nil, stdout: nil}]'.replace('\n at 1', '\nat 1'),
  ],
  [String.raw`parse_junit_xml("<testcase name=\"x\"><skipped/></testcase>")[0].status`, 'skipped'],
  [String.raw`parse_junit_xml("<testcase name=\"x\"><error/></testcase>")[0].message`, 'nil'],
  ['parse_junit_xml("no xml")', '[]'],
]);
