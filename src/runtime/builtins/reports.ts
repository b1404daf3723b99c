import { scanSecrets } from '../../agent/tools/secret-scan.ts';
import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { dictOf } from '../dict.ts';
import { elementsNamed, parseXml, type XmlElement } from '../formats/xml.ts';
import type { Value } from '../value.ts';

function child(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((candidate) => candidate.name === name);
}

/** The attribute and the text of a failure, on lines of their own. */
function messageOf(fault: XmlElement | undefined): string | undefined {
  const parts = [fault?.attributes.message, fault?.text.trim()].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join('\n');
}

function testCase(element: XmlElement): Value {
  const { classname, name = '', time = '0' } = element.attributes;
  const [failure, error, skipped] = ['failure', 'error', 'skipped'].map((kind) => child(element, kind));
  const status = error !== undefined ? 'errored' : failure !== undefined ? 'failed' : skipped !== undefined ? 'skipped' : 'passed';
  const seconds = Number(time.replaceAll(',', ''));
  return dictOf([
    ['name', classname === undefined || classname === '' ? name : `${classname}::${name}`],
    ['status', status],
    ['duration_ms', Number.isFinite(seconds) ? Math.round(seconds * 1000) : 0],
    ['message', messageOf(error ?? failure)],
    ['stdout', child(element, 'system-out')?.text],
    ['stderr', child(element, 'system-err')?.text],
  ]);
}

/** Reports of other tools (spec/language.md 12.15). */
export const REPORTS: BuiltinGroup = {
  name: 'reports',
  title: 'Test reports and secrets',
  builtins: {
    parse_junit_xml: {
      signature: '(report: any) -> list<dict>',
      doc: '`{name, status, duration_ms, message, stdout, stderr}` of each test in a JUnit report; nothing when it is malformed.',
      call: (_c, _d, report) => {
        const root = parseXml(report instanceof Uint8Array ? new TextDecoder().decode(report) : textArgument(report));
        return root === undefined ? [] : elementsNamed(root, 'testcase').map(testCase);
      },
    },
    secret_scan: {
      signature: '(text: any) -> list<dict>',
      doc: '`{detector, title, line, column, redacted}` of each credential in a text or diff.',
      call: (_c, _d, text) => scanSecrets(textArgument(text)).map((finding) => dictOf(Object.entries(finding))),
    },
  },
};
