import { BlockList, isIP } from 'node:net';
import { assertMayAct } from '../agents/autonomy-tier.ts';
import type { Run } from '../context.ts';
import { dictOf } from '../dict.ts';
import { categoryError } from '../errors.ts';
import { redactUrl } from './http-mocks.ts';

/** Which hosts a script may reach. Deny rules win over allow rules. */
export interface EgressRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly byDefault: 'allow' | 'deny';
}

const EGRESS = Symbol('egress policy');
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 };

/** The policy for outgoing connections of a run (`egress_policy`, spec/language.md 12.15). Without rules all may pass. */
export class EgressPolicy {
  #allow: readonly HostRule[] = [];
  #deny: readonly HostRule[] = [];
  #byDefault: 'allow' | 'deny' = 'allow';

  static of(run: Run): EgressPolicy {
    assertMayAct(run, 'reach the network');
    return run.service(EGRESS, () => new EgressPolicy());
  }

  /** @throws an Error that names the rule that cannot be read */
  install(rules: EgressRules): void {
    this.#allow = rules.allow.map(parseRule);
    this.#deny = rules.deny.map(parseRule);
    this.#byDefault = rules.byDefault;
  }

  /** @throws an error of the category `egress_blocked` when the host may not be reached */
  check(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
    const denied = this.#deny.find((rule) => rule.covers(host, port));
    if (denied !== undefined) throw blocked(url, host, port, `denied by rule ${denied.text}`);
    if (this.#byDefault === 'allow' || this.#allow.some((rule) => rule.covers(host, port))) return;
    throw blocked(url, host, port, 'no allow rule matched');
  }
}

interface HostRule {
  readonly text: string;
  covers(host: string, port: number): boolean;
}

/** `host`, `*.suffix`, an address or a CIDR range, each with an optional `:port`. */
function parseRule(text: string): HostRule {
  const match = /^(?<host>\[[0-9a-fA-F:]+\](?:\/\d+)?|[^:]+|[0-9a-fA-F:]+(?:\/\d+)?)(?::(?<port>\d+))?$/.exec(text.trim());
  const host = match?.groups?.host?.replaceAll(/[[\]]/g, '').toLowerCase();
  if (host === undefined || host === '') throw new Error(`egress_policy: cannot read rule \`${text}\``);
  const port = match?.groups?.port === undefined ? undefined : Number(match.groups.port);
  const coversHost = hostMatcher(host, text);
  return { text, covers: (name, at) => (port === undefined || port === at) && coversHost(name.toLowerCase()) };
}

function hostMatcher(host: string, text: string): (name: string) => boolean {
  if (host === '*') return () => true;
  if (host.startsWith('*.')) return (name) => name.endsWith(host.slice(1));
  const [address = '', bits] = host.split('/');
  const family = isIP(address);
  if (family === 0) {
    if (bits !== undefined) throw new Error(`egress_policy: cannot read rule \`${text}\``);
    return (name) => name === host;
  }
  const list = new BlockList();
  if (bits === undefined) list.addAddress(address, family === 6 ? 'ipv6' : 'ipv4');
  else list.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  return (name) => isIP(name) !== 0 && list.check(name, isIP(name) === 6 ? 'ipv6' : 'ipv4');
}

function blocked(url: URL, host: string, port: number, reason: string): Error {
  const message = `egress to ${host}:${port} is blocked: ${reason}`;
  return categoryError(
    'egress_blocked',
    message,
    dictOf([
      ['type', 'EgressBlocked'],
      ['category', 'egress_blocked'],
      ['message', message],
      ['host', host],
      ['port', port],
      ['reason', reason],
      ['url', redactUrl(url.href)],
    ]),
  );
}
