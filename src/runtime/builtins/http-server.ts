import { optionsArgument, textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictGet, dictOf } from '../dict.ts';
import { isTruthy } from '../equality.ts';
import { thrownText, typeError } from '../errors.ts';
import { errorDetail } from '../file-errors.ts';
import { HttpServer, routeOptions } from '../http/http-server.ts';
import { makeSelfSigned } from '../http/self-signed.ts';
import { Dict, type HarnFunction, isCallable, type Value } from '../value.ts';
import { absolutePath } from './files.ts';

// ---- servers ----

function handleOf(id: string): Dict {
  return dictOf([
    ['_type', 'http_server'],
    ['id', id],
  ]);
}

function idOf(server: Value): string {
  return textArgument(server instanceof Dict ? dictGet(server, 'id') : server);
}

function serverOf(name: string, context: Context, server: Value): HttpServer {
  const found = HttpServer.registry(context.run).get(idOf(server));
  if (found === undefined) throw thrownText(`${name}: unknown server ${idOf(server)}`);
  return found;
}

function requireCallable(name: string, handler: Value): HarnFunction {
  if (isCallable(handler)) return handler;
  throw typeError(`${name}: handler must be callable`);
}

function open(context: Context, options: Dict): Dict {
  const registry = HttpServer.registry(context.run);
  const id = `http_server_${registry.size + 1}`;
  registry.set(id, new HttpServer(routeOptions(options), dictGet(options, 'ready') !== false));
  return handleOf(id);
}

/** A builtin that gives a server a function of the script, and gives the server back. */
function taking(name: string, doc: string, give: (server: HttpServer, handler: HarnFunction) => void): Builtin {
  return {
    signature: '(server: any, handler: any) -> dict',
    doc,
    call: (c, _d, server, handler) => {
      give(serverOf(name, c, server), requireCallable(name, handler));
      return handleOf(idOf(server));
    },
  };
}

function dispatch(name: string, context: Context, depth: number, server: Value, request: Value): Promise<Value> {
  return serverOf(name, context, server).dispatch(context, depth, handleOf(idOf(server)), optionsArgument(request));
}

// ---- TLS ----

const HSTS_SECONDS = 31_536_000;

/** Only modes whose HTTPS the public sees tell browsers to insist on it. */
function tls(mode: string, isHttps: boolean, terminates: boolean, hsts: Value, more: readonly [string, Value][] = []): Dict {
  return dictOf([['mode', mode], ['scheme', isHttps ? 'https' : 'http'], ['terminate_tls', terminates], ['hsts', hsts], ...more]);
}

function hstsOf(options: Dict): Value {
  if (dictGet(options, 'hsts') === false) return undefined;
  const seconds = dictGet(options, 'hsts_max_age_seconds');
  const directives = [`max-age=${typeof seconds === 'number' ? seconds : HSTS_SECONDS}`];
  if (isTruthy(dictGet(options, 'hsts_include_subdomains'))) directives.push('includeSubDomains');
  if (isTruthy(dictGet(options, 'hsts_preload'))) directives.push('preload');
  return directives.join('; ');
}

function pemFiles(context: Context, certificate: Value, key: Value): Dict {
  for (const file of [certificate, key]) {
    try {
      context.run.platform.files.readText(absolutePath(context, file));
    } catch (error) {
      throw thrownText(`http_server_tls_pem: cannot read ${textArgument(file)}: ${errorDetail(error)}`);
    }
  }
  return tls('pem', true, true, hstsOf(new Dict()), [
    ['cert_path', textArgument(certificate)],
    ['key_path', textArgument(key)],
  ]);
}

function selfSigned(context: Context, hosts: Value): Dict {
  const names = Array.isArray(hosts) ? hosts.map((host: Value) => textArgument(host)) : [textArgument(hosts, 'localhost')];
  const { clock, random } = context.run.platform;
  const { certificatePem, privateKeyPem } = makeSelfSigned(names.length === 0 ? ['localhost'] : names, clock.now(), random.bytes(8));
  return tls('self_signed_dev', true, true, undefined, [
    ['hosts', names],
    ['cert_pem', certificatePem],
    ['key_pem', privateKeyPem],
  ]);
}

/** The in-process HTTP server (spec/language.md 12.15). */
export const HTTP_SERVER: BuiltinGroup = {
  name: 'http-server',
  title: 'HTTP server',
  errors: [
    { text: 'NAME: unknown server ID', when: 'a server that was not made here' },
    { text: 'Type error: NAME: handler must be callable', when: 'a handler that is something else' },
    { text: 'http_server_tls_pem: cannot read P: DETAIL', when: '`http_server_tls_pem`' },
  ],
  builtins: {
    http_server: {
      signature: '(options: any = nil) -> dict',
      doc: 'A router for requests that a host or a test hands in. Options: `max_body_bytes`, `retain_raw_body`, `ready`.',
      call: (c, _d, options) => open(c, optionsArgument(options)),
    },
    http_server_route: {
      signature: '(server: any, method: any, path: any, handler: any, options: any = nil) -> dict',
      doc: 'Registers a handler for a method and a path with `{name}` or `:name` parts.',
      call: (c, _d, server, method, path, handler, options) => {
        const target = serverOf('http_server_route', c, server);
        const callback = requireCallable('http_server_route', handler);
        target.addRoute(textArgument(method, 'GET'), textArgument(path), callback, routeOptions(optionsArgument(options), target.options));
        return handleOf(idOf(server));
      },
    },
    http_server_before: taking(
      'http_server_before',
      'Adds a function that sees each request first; it gives a request to go on with, or a response.',
      (server, handler) => {
        server.before.push(handler);
      },
    ),
    http_server_after: taking(
      'http_server_after',
      'Adds a function of response and request that may give another response.',
      (server, handler) => {
        server.after.push(handler);
      },
    ),
    http_server_request: {
      signature: '(server: any, request: dict) -> dict',
      doc: 'The response to `{method, path, headers, query, body, client_ip}`.',
      colour: 'async',
      call: (c, d, server, request) => dispatch('http_server_request', c, d, server, request),
    },
    http_server_test: {
      signature: '(server: any, request: dict) -> dict',
      doc: 'As http_server_request, for tests.',
      colour: 'async',
      call: (c, d, server, request) => dispatch('http_server_test', c, d, server, request),
    },
    http_server_set_ready: {
      signature: '(server: any, ready: any) -> bool',
      doc: 'Opens or closes the server; a closed one answers 503.',
      call: (c, _d, server, ready) => {
        serverOf('http_server_set_ready', c, server).isReady = isTruthy(ready);
        return isTruthy(ready);
      },
    },
    http_server_readiness: taking('http_server_readiness', 'Lets a function decide whether the server is ready.', (server, handler) => {
      server.readiness = handler;
    }),
    http_server_ready: {
      signature: '(server: any) -> bool',
      doc: 'Whether the server would answer now.',
      colour: 'async',
      call: (c, d, server) => serverOf('http_server_ready', c, server).ready(c, d, handleOf(idOf(server))),
    },
    http_server_on_shutdown: taking(
      'http_server_on_shutdown',
      'Adds a function that runs when the server shuts down.',
      (server, handler) => {
        server.onShutdown.push(handler);
      },
    ),
    http_server_shutdown: {
      signature: '(server: any) -> bool',
      doc: 'Shuts the server down; false when it was down already.',
      colour: 'async',
      call: (c, d, server) => serverOf('http_server_shutdown', c, server).shutDown(c, d, handleOf(idOf(server))),
    },
    http_server_security_headers: {
      signature: '(tls: dict) -> dict',
      doc: 'Response headers that fit a TLS configuration, such as `strict-transport-security`.',
      call: (_c, _d, config) => {
        const hsts = dictGet(optionsArgument(config), 'hsts');
        return dictOf(hsts === undefined ? [] : [['strict-transport-security', hsts]]);
      },
    },
    http_server_tls_plain: { signature: '() -> dict', doc: 'No TLS.', call: () => tls('plain', false, false, undefined) },
    http_server_tls_edge: {
      signature: '(options: any = nil) -> dict',
      doc: 'TLS that a proxy ends. Options: `hsts`, `hsts_max_age_seconds`, `hsts_include_subdomains`, `hsts_preload`.',
      call: (_c, _d, options) => tls('edge', true, false, hstsOf(optionsArgument(options))),
    },
    http_server_tls_pem: {
      signature: '(cert_path: any, key_path: any) -> dict',
      doc: 'TLS with a certificate and a key from files; throws when one cannot be read.',
      call: (c, _d, certificate, key) => pemFiles(c, certificate, key),
    },
    http_server_tls_self_signed_dev: {
      signature: '(hosts: any = "localhost") -> dict',
      doc: 'TLS with a fresh certificate signed by itself, for tests.',
      call: (c, _d, hosts) => selfSigned(c, hosts),
    },
  },
};
