// `adapter.cjs [run] [PROVIDER]`: the adapter of a provider, loaded and made as a process of harn does it: from the packs of
// the build with their code caches, and whatever packs those need. With `run`, what every run loads comes before it.
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const dist = join(__dirname, '../../../dist');
const folder = join(dist, readFileSync(join(dist, 'current'), 'latin1'));
const packs = new Map();

function load(id) {
  if (!id.startsWith('./')) return require(id);
  const [pack, name] = id.slice(2).split('#');
  return (packs.get(pack) ?? evaluate(pack))[name];
}

function evaluate(pack) {
  const file = join(folder, pack);
  const cache = `${file}.${process.version}-${process.arch}.cache`;
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
  const exports = {};
  packs.set(pack, exports);
  new Script(readFileSync(file, 'latin1'), { filename: pack, cachedData }).runInThisContext()(exports, load, file, folder);
  return exports;
}

const words = process.argv.slice(2);
if (words[0] === 'run') evaluate('main.cjs');
const provider = words.find((word) => word !== 'run');
if (provider !== undefined) {
  const adapters = Object.values(evaluate('models.cjs')).find((exports) => 'createRemoteProvider' in exports);
  const service = { protocol: provider, baseUrl: 'http://127.0.0.1', keyVariables: [], key: 'none' };
  const settings = { services: { [provider]: service }, aliases: {}, capabilities: {} };
  adapters.createRemoteProvider({ env: (name) => process.env[name], http: {}, clock: {}, settings }, provider);
}
