import { bytesArgument, optionsArgument, textOption } from '../arguments.ts';
import { callValue } from '../call.ts';
import type { Context, Run } from '../context.ts';
import { dictEntries, dictGet, dictHas, dictOf, dictSet, mergeDicts } from '../dict.ts';
import { isTruthy } from '../equality.ts';
import { stringify } from '../json.ts';
import { Dict, type HarnFunction, type Value } from '../value.ts';
import { httpResponse } from './http-response.ts';

/**
 * A request router of a script (spec/language.md 12.15). It binds no socket: a host hands requests in, and tests use the
 * same door. Order: readiness, route, size of the body, `before` functions, handler, `after` functions.
 */
export interface RouteOptions {
  readonly maxBodyBytes: number | undefined;
  readonly retainsRawBody: boolean;
}

interface Route {
  readonly method: string;
  readonly segments: readonly string[];
  readonly handler: HarnFunction;
  readonly options: RouteOptions;
}

const SERVERS = Symbol('http servers');

export class HttpServer {
  readonly options: RouteOptions;
  isReady: boolean;
  readiness: HarnFunction | undefined;
  readonly before: HarnFunction[] = [];
  readonly after: HarnFunction[] = [];
  readonly onShutdown: HarnFunction[] = [];
  #routes: Route[] = [];
  #isShutDown = false;

  /** All servers of a run by id. */
  static registry(run: Run): Map<string, HttpServer> {
    return run.service(SERVERS, () => new Map());
  }

  constructor(options: RouteOptions, isReady: boolean) {
    this.options = options;
    this.isReady = isReady;
  }

  /** The same method and template again replaces the route. */
  addRoute(method: string, template: string, handler: HarnFunction, options: RouteOptions): void {
    const route = { method: method.toUpperCase(), segments: segmentsOf(template), handler, options };
    this.#routes = this.#routes.filter((known) => known.method !== route.method || known.segments.join('/') !== route.segments.join('/'));
    this.#routes.push(route);
  }

  async ready(context: Context, depth: number, handle: Value): Promise<boolean> {
    if (!this.isReady || this.#isShutDown) return false;
    return this.readiness === undefined || isTruthy(await callValue(context, depth, this.readiness, handle));
  }

  async dispatch(context: Context, depth: number, handle: Value, given: Dict): Promise<Value> {
    if (!(await this.ready(context, depth, handle))) return plain(503, 'service unavailable');
    const [path = '/', search = ''] = (textOption(given, 'path') ?? '/').split('?', 2);
    const method = (textOption(given, 'method') ?? 'GET').toUpperCase();
    const matches = this.#routes.flatMap((route) => {
      const params = matchPath(route.segments, segmentsOf(path));
      return params === undefined ? [] : [{ route, params }];
    });
    const found = matches.find(({ route }) => route.method === method || route.method === '*');
    if (found === undefined) return matches.length === 0 ? plain(404, 'not found') : notAllowed(matches.map(({ route }) => route.method));
    const body = bytesArgument(dictGet(given, 'body'));
    const { maxBodyBytes } = found.route.options;
    if (maxBodyBytes !== undefined && body.length > maxBodyBytes) return tooLarge(maxBodyBytes);
    const request = requestValue(given, method, path, search, found.params, body, found.route.options.retainsRawBody);
    return this.#handle(context, depth, found.route.handler, request);
  }

  async #handle(context: Context, depth: number, handler: HarnFunction, first: Dict): Promise<Value> {
    let request = first;
    let response: Dict | undefined;
    for (const middleware of this.before) {
      const answer = await callValue(context, depth, middleware, request);
      if (!(answer instanceof Dict)) continue;
      if (isResponse(answer)) {
        response = responseOf(answer);
        break;
      }
      request = answer;
    }
    response ??= responseOf(await callValue(context, depth, handler, request));
    for (const middleware of this.after) {
      const answer = await callValue(context, depth, middleware, response, request);
      if (answer instanceof Dict) response = responseOf(answer);
    }
    return response;
  }

  /** Runs what was registered for it, once. */
  async shutDown(context: Context, depth: number, handle: Value): Promise<boolean> {
    if (this.#isShutDown) return false;
    this.#isShutDown = true;
    for (const callback of this.onShutdown) await callValue(context, depth, callback, handle);
    return true;
  }
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Values of `{name}` and `:name`; undefined when the path does not fit. */
function matchPath(template: readonly string[], path: readonly string[]): Dict | undefined {
  if (template.length !== path.length) return undefined;
  const params: [string, Value][] = [];
  for (const [index, segment] of template.entries()) {
    const name = /^\{(.+)\}$/.exec(segment)?.[1] ?? /^:(.+)$/.exec(segment)?.[1];
    const value = decode(path[index] ?? '');
    if (name === undefined && segment !== value) return undefined;
    if (name !== undefined) params.push([name, value]);
  }
  return dictOf(params);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function requestValue(given: Dict, method: string, path: string, search: string, params: Dict, body: Uint8Array, keepsRaw: boolean): Dict {
  const headers = dictEntries(optionsArgument(dictGet(given, 'headers'))).map(([name, value]): [string, Value] => [
    name.toLowerCase(),
    value,
  ]);
  const query = mergeDicts(dictOf([...new URLSearchParams(search)]), optionsArgument(dictGet(given, 'query')));
  return mergeDicts(
    given,
    dictOf([
      ['method', method],
      ['path', path],
      ['path_params', params],
      ['params', params],
      ['query', query],
      ['headers', dictOf(headers)],
      ['body', new TextDecoder().decode(body)],
      ['raw_body', keepsRaw ? body : undefined],
      ['body_bytes', body.length],
      ['remote_addr', dictGet(given, 'remote_addr')],
      ['client_ip', dictGet(given, 'client_ip') ?? dictGet(given, 'remote_addr')],
    ]),
  );
}

function isResponse(value: Dict): boolean {
  return dictHas(value, 'status');
}

/** A response as it is, text as text, nothing as 204, any other value as JSON. */
function responseOf(value: Value): Dict {
  if (value instanceof Dict && isResponse(value)) {
    const response = httpResponse(dictGet(value, 'status'), dictGet(value, 'body'), dictGet(value, 'headers'));
    return mergeDicts(value, response);
  }
  if (value === undefined) return httpResponse(204, '', undefined);
  if (typeof value === 'string') return httpResponse(200, value, undefined, 'text/plain; charset=utf-8');
  return httpResponse(200, stringify(value), undefined, 'application/json');
}

function plain(status: number, text: string): Dict {
  return httpResponse(status, text, undefined, 'text/plain; charset=utf-8');
}

function withHeader(response: Dict, name: string, value: string): Dict {
  return dictSet(response, 'headers', dictSet(optionsArgument(dictGet(response, 'headers')), name, value));
}

function notAllowed(methods: readonly string[]): Dict {
  return withHeader(plain(405, 'method not allowed'), 'allow', methods.join(', '));
}

function tooLarge(limit: number): Dict {
  return withHeader(plain(413, 'request body is too large'), 'x-harn-body-limit', String(limit));
}

/** Options of a server, or of a route on top of those of its server. */
export function routeOptions(options: Dict, defaults: RouteOptions = { maxBodyBytes: undefined, retainsRawBody: true }): RouteOptions {
  const limit = dictGet(options, 'max_body_bytes');
  const retains = dictGet(options, 'retain_raw_body');
  return {
    maxBodyBytes: typeof limit === 'number' ? limit : defaults.maxBodyBytes,
    retainsRawBody: retains === undefined ? defaults.retainsRawBody : isTruthy(retains),
  };
}
